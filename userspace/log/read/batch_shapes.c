/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/read/batch_parts.h"

#include <errno.h>
#include <string.h>

#include "log/format/varint.h"

#define RUN_TIMES \
	(FIELD_BIT(FIELD_TIME) | FIELD_BIT(RUN_BEGIN) | FIELD_BIT(RUN_RUNNABLE) | FIELD_BIT(RUN_BLOCKED))
#define WAKE_TIMES FIELD_BIT(FIELD_TIME)

/* A shape's field as the section tells it. */
struct told_field {
	uint64_t value;
	bool is_variable;
	bool is_own;
};

static int read_field(struct range *range, struct told_field *told)
{
	uint64_t code;

	if (!leb128_get(&range->at, range->end, &code))
		return -EBADMSG;
	*told = (struct told_field){ .is_variable = code <= FIELD_OWN_FROM,
				     .is_own = code == FIELD_OWN_FROM };
	if (code >= FIELD_CONSTANT) {
		told->value = code - FIELD_CONSTANT;
	} else if (code != FIELD_VARIABLE) {
		if (!leb128_get(&range->at, range->end, &told->value))
			return -EBADMSG;
		if (code != FIELD_CONSTANT_LARGE)
			told->value = unzigzag(told->value);
	}
	return 0;
}

/* The kinds of all shapes, then how many fields each has. */
static int read_shape_heads(struct range *range, struct record_shape *shapes, uint32_t shape_cnt)
{
	uint64_t value;

	for (uint32_t i = 0; i < shape_cnt; i++) {
		if (!leb128_get(&range->at, range->end, &value) || value >= LOG_KIND_MAX)
			return -EBADMSG;
		shapes[i].kind = (uint32_t)value;
	}
	for (uint32_t i = 0; i < shape_cnt; i++) {
		if (!leb128_get(&range->at, range->end, &value) || value > LOG_FIELD_MAX)
			return -EBADMSG;
		shapes[i].field_cnt = (uint32_t)value;
	}
	return 0;
}

/*
 * Where a variable field of a shape comes from; NULL: this version does not look at it. Of a kind that is not
 * known only the time counts.
 */
static struct column *field_column(struct batch_decoder *decoder, uint32_t kind, uint32_t field,
				   const struct told_field *told, uint32_t *own_cnt)
{
	uint32_t own = *own_cnt;

	*own_cnt += told->is_own;
	if (kind < LOG_KIND_COUNT && record_kinds[kind].log_field_cnt
		    ? field >= record_kinds[kind].log_field_cnt
		    : field != FIELD_TIME)
		return NULL;
	if (told->is_own)
		return own < decoder->own_cnt ? &decoder->own_columns[own] : &decoder->absent;
	return kind < LOG_KIND_COUNT ? &decoder->common_columns[kind][field]
				     : &decoder->unknown_times[kind - LOG_KIND_COUNT];
}

/*
 * Field 0 of all shapes, field 1 of those that have it, … For each shape the steps come one behind the other,
 * in a place for all its fields.
 */
static int read_shape_fields(struct batch_decoder *decoder, struct range *range, struct record_shape *shapes,
			     struct step *steps)
{
	uint32_t own_cnt = 0;

	for (uint32_t i = 0; i < decoder->shape_cnt; i++) {
		shapes[i].steps = steps;
		steps += shapes[i].field_cnt < LOG_KNOWN_FIELD_MAX ? shapes[i].field_cnt
								   : LOG_KNOWN_FIELD_MAX;
	}
	for (uint32_t field = 0; field < LOG_KNOWN_FIELD_MAX; field++) {
		for (uint32_t i = 0; i < decoder->shape_cnt; i++) {
			struct record_shape *shape = &shapes[i];
			struct told_field told;
			struct column *column;

			if (field >= shape->field_cnt)
				continue;
			if (read_field(range, &told))
				return -EBADMSG;
			shape->values[field] = told.value;
			column = told.is_variable ? field_column(decoder, shape->kind, field, &told, &own_cnt)
						  : NULL;
			if (column)
				((struct step *)shape->steps)[shape->step_cnt++] = (struct step){ column,
												  told.value,
												  field };
		}
	}
	return 0;
}

static uint64_t fields_from_columns(const struct record_shape *shape)
{
	uint64_t fields = 0;

	for (uint32_t i = 0; i < shape->step_cnt; i++)
		fields |= FIELD_BIT(shape->steps[i].field);
	return fields;
}

/* A span is told by what a slot remembers, which is not the same in all records of the shape. */
static bool is_plain_wake(const struct record_shape *shape, uint64_t fields)
{
	return shape->kind == TXTRACE_RECORD_WAKE && !(fields & ~WAKE_TIMES) &&
	       shape->values[WAKE_SPAN_SLOT] == SLOT_ZERO && shape->values[WAKE_WAKER_SPAN_SLOT] == SLOT_ZERO;
}

static bool is_plain_run(const struct record_shape *shape, uint64_t fields)
{
	return shape->kind == TXTRACE_RECORD_RUN && !(fields & ~RUN_TIMES) &&
	       shape->values[RUN_IDLE_FROM] != RUN_IDLE_LESS;
}

/*
 * Makes the record of this shape, all but its times, if the shape is one of those that have a way of their
 * own.
 */
static void prepare_shape(struct batch_decoder *decoder, struct record_shape *shape)
{
	struct record_unpacker *unpacker = &decoder->unpacker;
	uint64_t fields = fields_from_columns(shape);
	uint64_t thread = shape->values[FIELD_THREAD];
	struct txtrace_record record;

	shape->way = shape->kind < LOG_KIND_COUNT && record_kinds[shape->kind].log_field_cnt ? WAY_GENERAL
										    : WAY_UNKNOWN;
	shape->time = fields & FIELD_BIT(FIELD_TIME) ? shape->steps[0].column : NULL;
	if (!shape->time || (!is_plain_run(shape, fields) && !is_plain_wake(shape, fields)))
		return;
	if (!record_unpack(unpacker, shape->kind, shape->values, &record))
		return;
	shape->thread = &unpacker->model.threads[thread];
	if (shape->kind == TXTRACE_RECORD_RUN) {
		shape->way = shape->step_cnt > 1 || unpacker->model.waits
				     ? WAY_RUN_TIMES
				     : WAY_RUN_CPU + (uint32_t)shape->values[RUN_BEGIN_FROM];
		shape->run = record.run;
		shape->idle_mask = shape->values[RUN_IDLE_FROM] == RUN_IDLE_ALL ? UINT64_MAX : 0;
		shape->run.idle_ns = 0;
		shape->cpu_end_ns = model_cpu_end(&unpacker->model, record.run.cpu);
	} else {
		shape->way = WAY_WAKE;
		shape->wake = record.wake;
	}
}

static void reset_model(struct record_unpacker *unpacker)
{
	for (uint32_t i = 0; i < unpacker->thread_cnt; i++) {
		struct model_thread *thread = &unpacker->model.threads[i];

		*thread = (struct model_thread){ .tid = thread->tid, .pid = thread->pid };
	}
	memset(unpacker->model.cpu_end_ns, 0, sizeof(unpacker->model.cpu_end_ns));
	for (uint32_t i = 0; i < unpacker->thread_cnt && unpacker->model.waits; i++)
		model_forget_waits(&unpacker->model.waits[i]);
	if (unpacker->model.parents)
		memset(unpacker->model.parents, 0, MODEL_PARENTS * sizeof(*unpacker->model.parents));
	if (unpacker->model.mentions)
		memset(unpacker->model.mentions, 0, MODEL_MENTIONS * sizeof(*unpacker->model.mentions));
	unpacker->model.time_ns = 0;
	unpacker->model.text_cnt = 0;
}

/* The greatest number that a field of a shape may be. */
static uint64_t field_max(const struct record_shape *shape, uint32_t field)
{
	return fields_from_columns(shape) & FIELD_BIT(field) ? UINT64_MAX : shape->values[field];
}

/* What spans and runs ask of the model beyond the usual is remembered only in the batches where they do. */
static int prepare_model(struct batch_decoder *decoder)
{
	struct model *model = &decoder->unpacker.model;
	bool asks_waits = false, asks_parents = false, asks_mentions = false;

	for (uint32_t i = 0; i < decoder->shape_cnt; i++) {
		const struct record_shape *shape = &decoder->shapes[i];

		if (shape->kind == TXTRACE_RECORD_SPAN) {
			asks_mentions |= field_max(shape, SPAN_BEGIN_FROM) >= SPAN_BEGIN_FROM_MENTION;
			asks_waits |= field_max(shape, SPAN_BASIS) >= SPAN_BASIS_READY;
			asks_parents |= field_max(shape, SPAN_BASIS) == SPAN_BASIS_CHILDREN ||
					field_max(shape, SPAN_BASIS) == UINT64_MAX;
		} else if (shape->kind == TXTRACE_RECORD_RUN) {
			asks_waits |= field_max(shape, RUN_BEGIN_FROM) >= RUN_BEGIN_FROM_TOLD;
		}
	}
	model->waits = asks_waits ? batch_table_room(decoder, TABLE_WAITS, decoder->unpacker.thread_cnt,
						     sizeof(*model->waits))
				  : NULL;
	model->parents = asks_parents ? batch_table_room(decoder, TABLE_PARENTS, MODEL_PARENTS,
							 sizeof(*model->parents))
				      : NULL;
	model->mentions = asks_mentions ? batch_table_room(decoder, TABLE_MENTIONS, MODEL_MENTIONS,
							   sizeof(*model->mentions))
					: NULL;
	return (asks_waits && !model->waits && decoder->unpacker.thread_cnt) ||
			       (asks_parents && !model->parents) || (asks_mentions && !model->mentions)
		       ? -ENOMEM
		       : 0;
}

int batch_shapes_read(struct batch_decoder *decoder)
{
	struct range range = decoder->sections[LOG_SECTION_SHAPES];
	struct record_shape *shapes;
	size_t field_cnt = 0;
	struct step *steps;

	if (batch_count_read(&range, LOG_SHAPE_MAX, &decoder->shape_cnt))
		return -EBADMSG;
	decoder->shapes = shapes = batch_table_room(decoder, TABLE_SHAPES, decoder->shape_cnt,
						    sizeof(*shapes));
	if (decoder->shape_cnt && !shapes)
		return -ENOMEM;
	if (decoder->shape_cnt)
		memset(shapes, 0, decoder->shape_cnt * sizeof(*shapes));
	if (read_shape_heads(&range, shapes, decoder->shape_cnt))
		return -EBADMSG;
	for (uint32_t i = 0; i < decoder->shape_cnt; i++)
		field_cnt += shapes[i].field_cnt;
	steps = batch_table_room(decoder, TABLE_STEPS, field_cnt, sizeof(*steps));
	if (field_cnt && !steps)
		return -ENOMEM;
	if (read_shape_fields(decoder, &range, shapes, steps))
		return -EBADMSG;
	if (prepare_model(decoder))
		return -ENOMEM;
	for (uint32_t i = 0; i < decoder->shape_cnt; i++)
		prepare_shape(decoder, &shapes[i]);
	reset_model(&decoder->unpacker); /* which the preparation has moved */
	return 0;
}
