/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Made for speed: what a shape says once is worked out once, when the batch is opened, and the order of the
 * records is read ahead in bulk. The ways of runs and wakeups call nothing, so that they need no stack.
 */
#include "log/read/batch_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

struct batch_decoder *batch_decoder_new(void)
{
	return calloc(1, sizeof(struct batch_decoder));
}

void batch_decoder_free(struct batch_decoder *decoder)
{
	if (!decoder)
		return;
	for (unsigned int i = 0; i < TABLE_COUNT; i++)
		free(decoder->tables[i].entries);
	for (unsigned int i = 0; i <= NUMBER_LOW_MAX; i++)
		free(decoder->number_tables[i]);
	free(decoder);
}

int batch_decoder_open(struct batch_decoder *decoder, const uint8_t *payload, size_t length,
		       uint32_t record_cnt)
{
	int err = batch_directory_read(decoder, payload, payload + length);

	decoder->record_cnt = decoder->ahead_cnt = 0;
	decoder->order_at = decoder->order_end = decoder->order_ahead;
	decoder->is_order_bad = false;
	decoder->order = decoder->sections[LOG_SECTION_ORDER];
	decoder->order_more = decoder->sections[LOG_SECTION_ORDER_MORE];
	err = err ? err : batch_dictionary_read(decoder);
	err = err ? err : batch_shapes_read(decoder);
	if (err)
		return err;
	decoder->record_cnt = record_cnt;
	return 0;
}

/* ---- the records ---- */

/* A number with more raw bits than usual, or none: there is no such code, or there are too few bits. */
static __attribute__((noinline)) bool get_long_number(struct column *column, uint64_t *number)
{
	struct number_class of = number_class_of(*column->code, column->table->low);

	if (column->bit + of.bits > column->bit_cnt)
		return false;
	*number = of.base + bits_get(column->bits, column->bit, of.mask);
	column->code++;
	column->bit += of.bits;
	return true;
}

/* Without a branch on what the code says, which can't be foretold. */
static inline bool get_number(struct column *column, uint64_t *number)
{
	const struct number_class *of;
	uint64_t bit = column->bit;

	if (unlikely(column->code == column->code_end))
		return false;
	of = &column->table->classes[*column->code];
	if (unlikely(bit + of->bits > column->bit_cnt))
		return get_long_number(column, number);
	column->code++;
	column->bit = bit + of->bits;
	*number = of->base + bits_get_word(column->bits, bit, of->mask);
	return true;
}

/* The stay's times; all else is in the shape. noting: the model, if the batch asks for waits. */
static inline void fill_run(struct model *noting, const struct record_shape *shape, uint64_t begin_ns,
			    uint64_t end_ns, uint64_t more_runnable, uint64_t more_blocked,
			    struct txtrace_record *record)
{
	struct model_thread *thread = shape->thread;
	uint64_t runnable_ns = model_runnable(thread, begin_ns) + more_runnable;
	struct txtrace_run *run = &record->run;

	record->kind = TXTRACE_RECORD_RUN;
	memcpy(run, &shape->run, offsetof(struct txtrace_run, begin_ns));
	memcpy(&run->left_as, &shape->run.left_as, sizeof(*run) - offsetof(struct txtrace_run, left_as));
	run->begin_ns = begin_ns;
	run->end_ns = end_ns;
	run->runnable_ns = runnable_ns;
	run->blocked_ns = model_blocked(thread, begin_ns, runnable_ns) + more_blocked;
	run->idle_ns |= runnable_ns & shape->idle_mask;
	if (noting)
		model_note_run(noting, thread, run);
	*shape->cpu_end_ns = thread->last_end_ns = thread->ready_ns = end_ns;
}

static inline uint64_t run_begin(const struct record_shape *shape, uint64_t from, uint64_t end_ns,
				 uint64_t begin)
{
	return from == RUN_BEGIN_FROM_CPU ? *shape->cpu_end_ns + begin :
	       from == RUN_BEGIN_FROM_END ? end_ns - begin :
					    shape->thread->ready_ns + begin;
}

/* A record of a shape of which only the time is told by a column, once that is known. */
static inline void fill_simple(const struct record_shape *shape, uint64_t way, uint64_t time_ns,
			       struct txtrace_record *record)
{
	if (way == WAY_WAKE) {
		record->kind = TXTRACE_RECORD_WAKE;
		record->wake = shape->wake;
		record->wake.time_ns = shape->thread->ready_ns = time_ns;
		return;
	}
	fill_run(NULL, shape, run_begin(shape, way, time_ns, shape->values[RUN_BEGIN]), time_ns,
		 shape->values[RUN_RUNNABLE], shape->values[RUN_BLOCKED], record);
}

static bool make_run(struct batch_decoder *decoder, const struct record_shape *shape, uint64_t time_ns,
		     struct txtrace_record *record)
{
	struct model *model = &decoder->unpacker.model;
	uint64_t times[3], number, begin_ns;

	memcpy(times, &shape->values[RUN_BEGIN], sizeof(times));
	for (uint32_t i = 1; i < shape->step_cnt; i++) {
		if (unlikely(!get_number(shape->steps[i].column, &number)))
			return false;
		times[shape->steps[i].field - RUN_BEGIN] += number;
	}
	model->time_ns = time_ns;
	if (shape->values[RUN_BEGIN_FROM] == RUN_BEGIN_FROM_TOLD)
		begin_ns = model->waits[shape->thread - model->threads].stay_ns + times[0];
	else
		begin_ns = run_begin(shape, shape->values[RUN_BEGIN_FROM], time_ns, times[0]);
	fill_run(model->waits ? model : NULL, shape, begin_ns, time_ns, times[1], times[2], record);
	return true;
}

static bool make_general(struct batch_decoder *decoder, struct record_shape *shape, uint64_t time_ns,
			 struct txtrace_record *record)
{
	const struct step *step = shape->steps + (shape->time ? 1 : 0), *end = shape->steps + shape->step_cnt;
	uint64_t number;

	for (; step < end; step++) {
		if (unlikely(!get_number(step->column, &number)))
			return false;
		shape->values[step->field] = step->base + number;
	}
	decoder->unpacker.model.time_ns = time_ns;
	return record_unpack(&decoder->unpacker, shape->kind, shape->values, record);
}

/* Any record of a known kind, or the time of another. False: it makes no sense. */
static bool make_record(struct batch_decoder *decoder, struct record_shape *shape,
			struct txtrace_record *record)
{
	uint64_t time_ns = decoder->unpacker.model.time_ns + shape->values[FIELD_TIME], number = 0;

	if (shape->time && unlikely(!get_number(shape->time, &number)))
		return false;
	time_ns += number;
	if (shape->way == WAY_GENERAL)
		return make_general(decoder, shape, time_ns, record);
	if (shape->way == WAY_RUN_TIMES)
		return make_run(decoder, shape, time_ns, record);
	if (shape->way != WAY_UNKNOWN)
		fill_simple(shape, shape->way, time_ns, record);
	decoder->unpacker.model.time_ns = time_ns;
	return true;
}

#define BYTES_OF(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * Eight records at once, while their shapes have codes below 128, as in most logs all have. Returns for how
 * many that was so.
 */
static uint32_t look_ahead_easily(struct batch_decoder *decoder, uint32_t cnt)
{
	/* What lifts the first code that there is no shape for over the highest bit of its byte. */
	uint64_t lift = BYTES_OF(decoder->shape_cnt < 128 ? 128 - decoder->shape_cnt : 0), codes;
	struct record_shape *shapes = decoder->shapes;
	const uint8_t *code = decoder->order.at;
	uint32_t i = 0;

	for (; i + 8 <= cnt; i += 8) {
		memcpy(&codes, code + i, sizeof(codes));
		if ((codes | (codes + lift)) & BYTES_OF(128))
			break;
		for (uint32_t j = 0; j < 8; j++)
			decoder->order_ahead[i + j] = &shapes[code[i + j]];
	}
	return i;
}

/* Reads the shapes of the next records ahead, as far as they make sense. False: there are none. */
static bool look_ahead(struct batch_decoder *decoder)
{
	uint32_t left = decoder->record_cnt - decoder->ahead_cnt,
		 cnt = left < BATCH_AHEAD ? left : BATCH_AHEAD, i;
	const uint8_t *more = decoder->order_more.at;

	if ((size_t)(decoder->order.end - decoder->order.at) < cnt)
		cnt = (uint32_t)(decoder->order.end - decoder->order.at);
	for (i = look_ahead_easily(decoder, cnt); i < cnt; i++) {
		uint32_t code = decoder->order.at[i], is_long = code >= LOG_ORDER_SHORT;

		if (is_long)
			code = LOG_ORDER_SHORT + (code - LOG_ORDER_SHORT) * 256 + *more;
		more += is_long;
		if (unlikely(code >= decoder->shape_cnt || more > decoder->order_more.end))
			break;
		decoder->order_ahead[i] = &decoder->shapes[code];
	}
	decoder->order.at += i;
	decoder->order_more.at = more;
	decoder->ahead_cnt += i;
	decoder->is_order_bad = i < (left < BATCH_AHEAD ? left : BATCH_AHEAD);
	decoder->order_at = decoder->order_ahead;
	decoder->order_end = decoder->order_ahead + i;
	return i > 0;
}

/* Any next record. */
static __attribute__((noinline)) int next_with_care(struct batch_decoder *decoder,
						    struct txtrace_record *record)
{
	struct record_shape *shape;

	do {
		if (decoder->order_at == decoder->order_end && !look_ahead(decoder))
			return decoder->is_order_bad ? -EBADMSG : 0;
		shape = *decoder->order_at;
		if (unlikely(!make_record(decoder, shape, record)))
			return -EBADMSG;
		decoder->order_at++;
	} while (shape->way == WAY_UNKNOWN);
	return 1;
}

/* The ways of one time, without a call; whatever is not as usual is left to next_with_care. */
int batch_decoder_next(struct batch_decoder *decoder, struct txtrace_record *record)
{
	const struct number_class *of;
	const struct record_shape *shape;
	struct column *column;
	uint64_t bit, time_ns;

	if (unlikely(decoder->order_at == decoder->order_end))
		return next_with_care(decoder, record);
	shape = *decoder->order_at;
	if (shape->way > WAY_WAKE)
		return next_with_care(decoder, record);
	column = shape->time;
	if (unlikely(column->code == column->code_end))
		return next_with_care(decoder, record);
	of = &column->table->classes[*column->code];
	bit = column->bit;
	if (unlikely(bit + of->bits > column->bit_cnt))
		return next_with_care(decoder, record);
	decoder->order_at++;
	column->code++;
	column->bit = bit + of->bits;
	time_ns = decoder->unpacker.model.time_ns + shape->values[FIELD_TIME] + of->base +
		  bits_get_word(column->bits, bit, of->mask);
	decoder->unpacker.model.time_ns = time_ns;
	if (shape->way == WAY_RUN_CPU)
		fill_simple(shape, WAY_RUN_CPU, time_ns, record);
	else if (shape->way == WAY_WAKE)
		fill_simple(shape, WAY_WAKE, time_ns, record);
	else if (shape->way == WAY_RUN_END)
		fill_simple(shape, WAY_RUN_END, time_ns, record);
	else
		fill_simple(shape, WAY_RUN_READY, time_ns, record);
	return 1;
}

uint32_t batch_decoder_position(const struct batch_decoder *decoder)
{
	return decoder->ahead_cnt - (uint32_t)(decoder->order_end - decoder->order_at);
}
