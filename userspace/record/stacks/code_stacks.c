/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/stacks/code_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attach/code/stack_unwind.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/string_pool.h"
#include "base/text.h"
#include "record/stacks/frame_table.h"
#include "record/stacks/futex_names.h"

#define FRAME_CNT_MAX (WIRE_STACK_KERNEL_MAX + WIRE_STACK_USER_MAX + 1)

struct code_stacks {
	code_stack_sink sink;
	void *context;
	struct code_map *map;
	struct stack_unwind *unwind;
	struct unwinder *unwinder; /* NULL: files are read here, for tests */
	struct frame_table *frames;
	struct futex_names *futexes;
	/* frames' numbers, the outermost first, as bytes; a stack's number is that of the pool + 1 */
	struct string_pool *stacks;
	uint32_t *used;             /* in the file that is being written */
	size_t used_cnt;
	size_t used_size;
	uint8_t *is_used;           /* by number */
	size_t is_used_size;
	struct code_stack_stats stats;
};

struct code_stacks *code_stacks_new(bool has_kernel_frames, const struct outside_settle *settle)
{
	struct code_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->map = code_map_new();
	stacks->unwind = stack_unwind_new();
	if (settle && unwinder_new(&stacks->unwinder, settle)) {
		code_stacks_free(stacks);
		return NULL;
	}
	if (stacks->map)
		code_map_set_unwinder(stacks->map, stacks->unwinder);
	stacks->frames = frame_table_new(settle, has_kernel_frames);
	stacks->stacks = string_pool_new();
	stacks->futexes = stacks->frames ? futex_names_new(stacks->frames) : NULL;
	if (stacks->map && stacks->unwind && stacks->frames && stacks->stacks && stacks->futexes)
		return stacks;
	code_stacks_free(stacks);
	return NULL;
}

void code_stacks_set_sink(struct code_stacks *stacks, code_stack_sink sink, void *context)
{
	stacks->sink = sink;
	stacks->context = context;
}

void code_stacks_set_reader(struct code_stacks *stacks, struct process_reader *reader)
{
	code_map_set_reader(stacks->map, reader);
	frame_table_set_reader(stacks->frames, reader);
}

void code_stacks_free(struct code_stacks *stacks)
{
	if (!stacks)
		return;
	futex_names_free(stacks->futexes);
	frame_table_free(stacks->frames);
	code_map_free(stacks->map);
	stack_unwind_free(stacks->unwind);
	unwinder_free(stacks->unwinder);
	string_pool_free(stacks->stacks);
	free(stacks->used);
	free(stacks->is_used);
	free(stacks);
}

/* A stack as the kernel side has sent it, checked. */
struct sent_stack {
	const struct wire_stack *wire;
	const uint64_t *kernel;
	const uint64_t *user;
	const uint8_t *bytes;
};

static bool read_stack(const void *record, size_t size, struct sent_stack *sent)
{
	const struct wire_stack *wire = record;

	if (size < sizeof(*wire) || wire->kernel_cnt > WIRE_STACK_KERNEL_MAX ||
	    wire->user_cnt > WIRE_STACK_USER_MAX || wire->byte_cnt > WIRE_STACK_BYTES_MAX ||
	    sizeof(*wire) + (wire->kernel_cnt + (size_t)wire->user_cnt) * sizeof(uint64_t) > size ||
	    (wire->has_registers && sizeof(struct wire_stack_copy) > size))
		return false;
	sent->wire = wire;
	sent->kernel = (const uint64_t *)(wire + 1);
	sent->user = sent->kernel + wire->kernel_cnt;
	sent->bytes = wire->has_registers ? ((const struct wire_stack_copy *)record)->bytes : NULL;
	return true;
}

/* Innermost first, as they come. */
static int user_frames(struct code_stacks *stacks, const struct sent_stack *sent, uint32_t *frames,
		       size_t *cnt)
{
	struct code_moment moment = { .tgid = sent->wire->header.tgid,
				      .event_ns = sent->wire->header.time_ns,
				      .now_ns = clock_now_ns() };
	uint64_t addresses[WIRE_STACK_USER_MAX];
	const uint64_t *from = sent->user;
	bool is_whole = true;
	int err = 0;

	*cnt = sent->wire->user_cnt;
	if (sent->bytes) {
		struct stack_copy copy = { moment, sent->wire->registers, sent->bytes, sent->wire->byte_cnt };

		*cnt = stack_unwind_walk(stacks->unwind, stacks->map, &copy, addresses, WIRE_STACK_USER_MAX,
					 &is_whole);
		from = addresses;
	}
	for (size_t i = 0; i < *cnt && !err; i++) {
		/* the call is before its return */
		struct code_place place = code_map_find(stacks->map, &moment, from[i] - (i > 0), true);

		err = frame_table_add(stacks->frames, moment.tgid, &place, &frames[i]);
	}
	if (!is_whole)
		frames[(*cnt)++] = frame_table_cut(stacks->frames);
	return err;
}

/* Without those of the scheduler, and of the program that took the stack. */
static int kernel_frames(struct code_stacks *stacks, const struct sent_stack *sent, uint32_t *frames,
			 size_t *cnt)
{
	size_t first = 0;
	int err = 0;

	for (size_t i = 0; i < sent->wire->kernel_cnt; i++) {
		if (sent->wire->what == WIRE_STACK_OFF_CPU &&
		    frame_table_is_schedule(stacks->frames, sent->kernel[i])) {
			first = i + 1;
			break;
		}
	}
	*cnt = 0;
	for (size_t i = first; i < sent->wire->kernel_cnt && !err; i++)
		err = frame_table_add_kernel(stacks->frames, sent->kernel[i], &frames[(*cnt)++]);
	return err;
}

/* *id: 0 beyond the limit. */
static int give_number(struct code_stacks *stacks, const struct sent_stack *sent, uint32_t *id)
{
	uint32_t inner[FRAME_CNT_MAX + 1], outer[FRAME_CNT_MAX + 1], number;
	size_t kernel_cnt, user_cnt, cnt;
	int err = kernel_frames(stacks, sent, inner, &kernel_cnt);

	if (!err)
		err = user_frames(stacks, sent, inner + kernel_cnt, &user_cnt);
	if (err)
		return err;
	cnt = kernel_cnt + user_cnt;
	for (size_t i = 0; i < cnt; i++)
		outer[i] = inner[cnt - 1 - i];
	number = string_pool_find(stacks->stacks, (const char *)outer, cnt * sizeof(*outer));
	if (number == STRING_POOL_NONE && string_pool_count(stacks->stacks) >= CODE_STACK_MAX) {
		stacks->stats.no_number_cnt++;
		return 0;
	}
	if (number == STRING_POOL_NONE)
		err = string_pool_add(stacks->stacks, (const char *)outer, cnt * sizeof(*outer), &number);
	if (!err)
		*id = number + 1;
	return err;
}

static int take_stack(struct code_stacks *stacks, const struct sent_stack *sent,
		      struct wire_stack_number *number)
{
	const struct wire_stack *wire = sent->wire;
	uint32_t frames[FRAME_CNT_MAX + 1];
	size_t cnt;
	int err;

	if (wire->what == WIRE_STACK_FUTEX) {
		err = user_frames(stacks, sent, frames, &cnt);
		return err ? err : futex_names_add(stacks->futexes, wire, frames, cnt);
	}
	*number = (struct wire_stack_number){ .header = wire->header,
					      .begin_ns = wire->begin_ns,
					      .weight_ns = wire->object,
					      .what = wire->what };
	number->header.kind = EVENT_STACK;
	number->header.size = sizeof(*number);
	err = give_number(stacks, sent, &number->id);
	return err ? err : 1;
}

int code_stacks_take(struct code_stacks *stacks, const void *record, size_t size,
		     struct wire_stack_number *number)
{
	const struct wire_header *header = record;
	const struct wire_thread *thread = record;
	const struct wire_process *process = record;
	struct sent_stack sent;

	if (header->kind == WIRE_STACK)
		return read_stack(record, size, &sent) ? take_stack(stacks, &sent, number) : 0;
	if (header->kind == WIRE_EXEC ||
	    (header->kind == WIRE_PROCESS && size >= sizeof(*process) && process->path_length)) {
		code_map_exec(stacks->map, header->tgid, header->time_ns);
		futex_names_forget(stacks->futexes, header->tgid);
	}
	if (header->kind == WIRE_THREAD && size >= sizeof(*thread) && header->tid == header->tgid &&
	    thread->parent_tgid)
		return code_map_fork(stacks->map, thread->parent_tgid, header->tgid);
	return 0;
}

int code_stacks_look(struct code_stacks *stacks, uint32_t tgid)
{
	return code_map_look(stacks->map, tgid, clock_now_ns());
}

int code_stacks_use(struct code_stacks *stacks, uint64_t stack)
{
	uint32_t *used;

	if (stack == 0 || stack > string_pool_count(stacks->stacks))
		return 0;
	if (stack >= stacks->is_used_size) {
		size_t size = stacks->is_used_size ? stacks->is_used_size * 2 : 1024;
		uint8_t *grown;

		while (size <= stack)
			size *= 2;
		grown = realloc(stacks->is_used, size);
		if (!grown)
			return -ENOMEM;
		memset(grown + stacks->is_used_size, 0, size - stacks->is_used_size);
		stacks->is_used = grown;
		stacks->is_used_size = size;
	}
	if (stacks->is_used[stack])
		return 0;
	used = array_grow(stacks->used, &stacks->used_size, stacks->used_cnt, sizeof(*used));
	if (!used)
		return -ENOMEM;
	stacks->used = used;
	stacks->is_used[stack] = 1;
	stacks->used[stacks->used_cnt++] = (uint32_t)stack;
	return 0;
}

int code_stacks_tick(struct code_stacks *stacks, uint64_t time_ns)
{
	int err = frame_table_poll(stacks->frames, 0);

	frame_table_look_again(stacks->frames, false);
	return err ? err : futex_names_tick(stacks->futexes, time_ns, false, stacks->sink, stacks->context);
}

/* What is inlined says so. */
static void append_names(struct text *text, const struct frame_name *name)
{
	const char *at = name->names, *end = name->names + name->length;

	for (bool is_inlined = false; at < end; is_inlined = true) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = newline ? (size_t)(newline - at) : (size_t)(end - at);

		if (text->length > 0)
			text_append(text, "\n");
		text_append_bytes(text, at, length);
		text_append(text, is_inlined ? "_[i]" : "");
		at += length + 1;
	}
}

static int put_frames(struct code_stacks *stacks, uint32_t stack, struct text *text, uint64_t time_ns)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_FRAMES,
					 .frames = { .time_ns = time_ns, .stack = stack } };
	uint32_t frames[FRAME_CNT_MAX + 1];
	size_t bytes, cnt, skipped = 0;
	const char *from = string_pool_get(stacks->stacks, stack - 1, &bytes);

	cnt = bytes / sizeof(*frames);
	memcpy(frames, from, bytes);
	do {
		text_clear(text);
		if (skipped > 0)
			text_append(text, "[cut off]");
		for (size_t i = skipped; i < cnt; i++) {
			struct frame_name name = frame_table_name(stacks->frames, frames[i]);

			append_names(text, &name);
		}
		skipped += skipped / 2 + 1;
	} while (text->length > CODE_STACK_NAMES_MAX && skipped < cnt);
	if (text->err)
		return text->err;
	record.frames.names = (struct txtrace_string){ text_string(text), text->length < CODE_STACK_NAMES_MAX
										  ? text->length
										  : CODE_STACK_NAMES_MAX };
	return stacks->sink(stacks->context, &record);
}

int code_stacks_wait(struct code_stacks *stacks, uint64_t wait_ns)
{
	int err = frame_table_poll(stacks->frames, wait_ns);

	return err ? err : frame_table_outstanding_cnt(stacks->frames) > 0;
}

int code_stacks_end_file(struct code_stacks *stacks, uint64_t time_ns, uint64_t wait_ns, bool is_last)
{
	struct text text = { 0 };
	int err = frame_table_poll(stacks->frames, wait_ns);

	frame_table_look_again(stacks->frames, true);
	if (!err)
		err = futex_names_tick(stacks->futexes, time_ns, is_last, stacks->sink, stacks->context);
	for (size_t i = 0; i < stacks->used_cnt && !err; i++) {
		err = put_frames(stacks, stacks->used[i], &text, time_ns);
		stacks->is_used[stacks->used[i]] = 0;
	}
	stacks->used_cnt = 0;
	text_release(&text);
	return err;
}

int code_stacks_tell(struct code_stacks *stacks, uint64_t time_ns)
{
	return futex_names_tell(stacks->futexes, time_ns, stacks->sink, stacks->context);
}

void code_stacks_stats(const struct code_stacks *stacks, struct code_stack_stats *stats)
{
	*stats = stacks->stats;
	stats->has_symbolizer_failed = frame_table_has_failed(stacks->frames);
	stats->has_too_many_files = code_map_is_full(stacks->map);
	stats->has_unwinder_failed = stacks->unwinder && unwinder_has_failed(stacks->unwinder);
}
