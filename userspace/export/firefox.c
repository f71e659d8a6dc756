/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Firefox Profiler's own format, the "processed profile" of version 60: the
 * viewer upgrades it to what it has now. Spans, states of threads, instants and
 * losses are markers; the spans that nest on a thread are also samples, each
 * weighted with how long that stack was there. All is written at the end, one
 * thread after the other (firefox_columns.h): the format has a table of threads
 * and in each a list for each column.
 *
 * A name has the same number as a string, a function and a frame.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/key_map.h"
#include "base/temporary_file.h"
#include "export/firefox_columns.h"
#include "export/formats.h"
#include "export/thread_slices.h"
#include "export/timeline.h"

#include "base/array.h"

#define DEPTH_MAX 1024
#define STACK_CNT_MAX (1 << 20)
#define THREAD_MAX 131072
#define NO_STACK UINT32_MAX

/* Indexes of `categories` below. */
enum category {
	CATEGORY_OTHER = 0,
	CATEGORY_SPAN = 1,
	CATEGORY_RUNNING = 2,
	CATEGORY_RUNNABLE = 3,
	CATEGORY_BLOCKED = 4,
	CATEGORY_INSTANT = 5,
	CATEGORY_LOSS = 6,
};

enum lost {
	LOST_ATTRIBUTE,
	LOST_COUNTER,
	LOST_LINK,
	LOST_WAKE,
	LOST_STACK,
	LOST_OPEN_SPAN,
	LOST_NOT_NESTED,
	LOST_DEEP,
	LOST_THREAD,
	LOST_CNT,
};

static const char *const lost_names[LOST_CNT] = {
	[LOST_ATTRIBUTE] = "attributes, left out",
	[LOST_COUNTER] = "values of counters, left out",
	[LOST_LINK] = "links, left out",
	[LOST_WAKE] = "wakeups, left out",
	[LOST_STACK] = "stacks of code, left out",
	[LOST_OPEN_SPAN] = "checkpoints of open spans, left out",
	[LOST_NOT_NESTED] =
		"spans that work on several threads, wait, or cross others, which are markers alone",
	[LOST_DEEP] = "spans on stacks that are too many or too deep, which are markers alone",
	[LOST_THREAD] = "spans, states and marks of threads beyond the first 131,072, left out",
};

struct stack_node {
	uint32_t prefix; /* NO_STACK: it is a root */
	uint32_t name;
};

struct firefox {
	FILE *out;
	const struct txtrace_log_info *info;
	struct thread_slices *slices;
	struct key_map states; /* struct state_row, by pid and tid */
	struct firefox_columns *columns;
	uint64_t lost_cnt[LOST_CNT];
	uint64_t first_ns;

	/* all stacks of all threads */
	struct key_map stack_numbers; /* by struct stack_node */
	struct stack_node *nodes;
	size_t node_cnt, node_size;

	/* of the thread that is being written */
	bool has_thread;
	struct sliced_thread thread;
	struct open_span {
		uint32_t stack;
		uint64_t end_ns;
	} open[DEPTH_MAX];
	size_t depth;
	uint64_t now_ns; /* up to here the samples go */
};

/* ---- records ---- */

static int firefox_span(void *state, const struct txtrace_span *span)
{
	return thread_slices_add_span(((struct firefox *)state)->slices, span);
}

static int firefox_thread(void *state, const struct txtrace_thread *thread)
{
	return thread_slices_call(((struct firefox *)state)->slices, thread);
}

static int firefox_run(void *state, const struct txtrace_run *run)
{
	struct firefox *firefox = state;
	uint32_t key[2] = { run->pid, run->tid };
	struct state_slice slices[STATE_COUNT];
	struct state_row *row;
	unsigned int cnt;
	bool is_new;
	int err = 0;

	if (firefox->states.count >= THREAD_MAX && !key_map_find(&firefox->states, key, sizeof(key)))
		key_map_prune(&firefox->states, NULL, NULL);
	row = key_map_add(&firefox->states, key, sizeof(key), &is_new);
	if (!row)
		return -ENOMEM;
	cnt = state_row_run(row, run, slices);
	for (unsigned int i = 0; i < cnt && !err; i++) {
		const char *name = state_name(slices[i].state, slices[i].reason);
		struct thread_slice slice = {
			.begin_ns = slices[i].begin_ns,
			.end_ns = slices[i].end_ns,
			.kind = SLICE_STATE,
			.flags = slices[i].state,
		};

		err = thread_slices_number(firefox->slices, (struct txtrace_string){ name, strlen(name) },
					   &slice.name);
		if (!err)
			err = thread_slices_add(firefox->slices, run->pid, run->tid, &slice);
	}
	return err;
}

static int add_mark(struct firefox *firefox, uint32_t pid, uint32_t tid, struct txtrace_string name,
		    const struct thread_slice *slice)
{
	struct thread_slice mark = *slice;
	int err = thread_slices_number(firefox->slices, name, &mark.name);

	return err ? err : thread_slices_add(firefox->slices, pid, tid, &mark);
}

static int firefox_instant(void *state, const struct txtrace_instant *instant)
{
	return add_mark(state, instant->pid, instant->tid, instant->name,
			&(struct thread_slice){ .begin_ns = instant->time_ns,
						.end_ns = instant->time_ns,
						.kind = SLICE_INSTANT });
}

/* Losses have a thread of their own, 0. */
static int add_loss(struct firefox *firefox, const char *name, uint64_t first_ns, uint64_t last_ns)
{
	return add_mark(firefox, firefox->info->pid, 0, (struct txtrace_string){ name, strlen(name) },
			&(struct thread_slice){
				.begin_ns = first_ns, .end_ns = last_ns, .kind = SLICE_LOSS });
}

static int firefox_loss(void *state, const struct txtrace_loss *loss)
{
	return add_loss(state, "lost events", loss->first_ns, loss->last_ns);
}

static int firefox_dropped(void *state, const struct txtrace_dropped *dropped)
{
	return add_loss(state, "records not written", dropped->first_ns, dropped->last_ns);
}

static int firefox_damage(void *state, const struct txtrace_damage *damage)
{
	struct firefox *firefox = state;

	(void)damage; /* it has no time */
	return add_loss(state, "damage of the log", firefox->info->start_monotonic_ns,
			firefox->info->start_monotonic_ns);
}

#define COUNT_LOST(name, what)                                                      \
	static int firefox_##name(void *state, const struct txtrace_##name *record) \
	{                                                                           \
		(void)record;                                                       \
		((struct firefox *)state)->lost_cnt[what]++;                        \
		return 0;                                                           \
	}

COUNT_LOST(attribute, LOST_ATTRIBUTE)
COUNT_LOST(counter, LOST_COUNTER)
COUNT_LOST(link, LOST_LINK)
COUNT_LOST(wake, LOST_WAKE)
COUNT_LOST(stack, LOST_STACK)
COUNT_LOST(open_span, LOST_OPEN_SPAN)

/* ---- samples ---- */

/* *number NO_STACK: there are too many. */
static int number_stack(struct firefox *firefox, struct stack_node node, uint32_t *number)
{
	uint32_t *known = key_map_find(&firefox->stack_numbers, &node, sizeof(node));
	bool is_new;
	struct stack_node *nodes;

	*number = known ? *known : NO_STACK;
	if (known || firefox->node_cnt >= STACK_CNT_MAX)
		return 0;
	nodes = array_grow(firefox->nodes, &firefox->node_size, firefox->node_cnt, sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	firefox->nodes = nodes;
	known = key_map_add(&firefox->stack_numbers, &node, sizeof(node), &is_new);
	if (!known)
		return -ENOMEM;
	*known = *number = (uint32_t)firefox->node_cnt;
	firefox->nodes[firefox->node_cnt++] = node;
	return 0;
}

/* What was open until then, since the sample before. */
static void put_sample(struct firefox *firefox, uint64_t until_ns)
{
	struct firefox_columns *columns = firefox->columns;

	if (until_ns <= firefox->now_ns)
		return;
	if (firefox->depth > 0)
		column_u64(columns, COLUMN_STACK, firefox->open[firefox->depth - 1].stack);
	else
		column_null(columns, COLUMN_STACK);
	column_ms(columns, COLUMN_TIME, firefox->now_ns - firefox->first_ns);
	column_ms(columns, COLUMN_WEIGHT, until_ns - firefox->now_ns);
	firefox->now_ns = until_ns;
}

static void close_spans(struct firefox *firefox, uint64_t time_ns)
{
	while (firefox->depth > 0 && firefox->open[firefox->depth - 1].end_ns <= time_ns) {
		put_sample(firefox, firefox->open[firefox->depth - 1].end_ns);
		firefox->depth--;
	}
}

static int open_span(struct firefox *firefox, const struct thread_slice *slice)
{
	struct stack_node node = { NO_STACK, slice->name };
	uint32_t number;
	int err;

	close_spans(firefox, slice->begin_ns);
	if (!slice->is_of_thread ||
	    (firefox->depth > 0 && firefox->open[firefox->depth - 1].end_ns < slice->end_ns)) {
		firefox->lost_cnt[LOST_NOT_NESTED]++;
		return 0;
	}
	if (firefox->depth > 0)
		node.prefix = firefox->open[firefox->depth - 1].stack;
	err = number_stack(firefox, node, &number);
	if (err || number == NO_STACK || firefox->depth == DEPTH_MAX) {
		firefox->lost_cnt[LOST_DEEP]++;
		return err;
	}
	put_sample(firefox, slice->begin_ns);
	firefox->open[firefox->depth++] = (struct open_span){ number, slice->end_ns };
	return 0;
}

/* ---- threads ---- */

static enum category category_of(const struct thread_slice *slice)
{
	static const enum category states[STATE_COUNT] = {
		[STATE_BLOCKED] = CATEGORY_BLOCKED,
		[STATE_RUNNABLE] = CATEGORY_RUNNABLE,
		[STATE_RUNNING] = CATEGORY_RUNNING,
	};

	switch (slice->kind) {
	case SLICE_SPAN:
		return CATEGORY_SPAN;
	case SLICE_STATE:
		return states[slice->flags];
	case SLICE_INSTANT:
		return CATEGORY_INSTANT;
	default:
		return CATEGORY_LOSS;
	}
}

static void put_marker(struct firefox *firefox, const struct thread_slice *slice)
{
	struct firefox_columns *columns = firefox->columns;
	bool is_instant = slice->kind == SLICE_INSTANT;

	column_u64(columns, COLUMN_NAME, slice->name);
	column_ms(columns, COLUMN_START, slice->begin_ns - firefox->first_ns);
	if (is_instant)
		column_null(columns, COLUMN_END);
	else
		column_ms(columns, COLUMN_END, slice->end_ns - firefox->first_ns);
	column_u64(columns, COLUMN_PHASE, is_instant ? 0 : 1);
	column_u64(columns, COLUMN_CATEGORY, category_of(slice));
	column_data(columns, slice);
}

static int end_thread(struct firefox *firefox)
{
	if (!firefox->has_thread)
		return 0;
	close_spans(firefox, UINT64_MAX);
	firefox->has_thread = false;
	return columns_write_thread(firefox->columns, &firefox->thread, firefox->info);
}

static int put_slice(struct firefox *firefox, const struct sliced_thread *thread,
		     const struct thread_slice *slice)
{
	int err = 0;

	if (!firefox->has_thread || firefox->thread.number != thread->number) {
		err = end_thread(firefox);
		firefox->has_thread = true;
		firefox->thread = *thread;
		firefox->now_ns = firefox->first_ns;
	}
	put_marker(firefox, slice);
	if (!err && slice->kind == SLICE_SPAN)
		err = open_span(firefox, slice);
	return err;
}

/* ---- tables that all threads share ---- */

static void put_numbers(FILE *out, const char *name, size_t cnt, const char *value)
{
	fprintf(out, "\"%s\":[", name);
	for (size_t i = 0; i < cnt; i++) {
		fputs(i > 0 ? "," : "", out);
		if (value)
			fputs(value, out);
		else
			fprintf(out, "%zu", i);
	}
	fputs("],", out);
}

static int put_strings(struct firefox *firefox, size_t cnt)
{
	struct json json;

	json_init_file(&json, firefox->out);
	json_array_begin(&json);
	for (uint32_t i = 0; i < cnt; i++) {
		size_t length;
		const char *name = thread_slices_name(firefox->slices, i, &length);

		json_line_break(&json);
		json_string(&json, name, length);
	}
	json_array_end(&json);
	return json_release(&json);
}

static int put_shared(struct firefox *firefox)
{
	FILE *out = firefox->out;
	size_t cnt = thread_slices_name_cnt(firefox->slices);

	fputs("\"shared\":{\n\"stackTable\":{\"prefix\":[", out);
	for (size_t i = 0; i < firefox->node_cnt; i++) {
		fputs(i > 0 ? "," : "", out);
		if (firefox->nodes[i].prefix == NO_STACK)
			fputs("null", out);
		else
			fprintf(out, "%" PRIu32, firefox->nodes[i].prefix);
	}
	fputs("],\"frame\":[", out);
	for (size_t i = 0; i < firefox->node_cnt; i++)
		fprintf(out, "%s%" PRIu32, i > 0 ? "," : "", firefox->nodes[i].name);
	fprintf(out, "],\"length\":%zu},\n\"frameTable\":{", firefox->node_cnt);
	put_numbers(out, "address", cnt, "-1");
	put_numbers(out, "inlineDepth", cnt, "0");
	put_numbers(out, "category", cnt, "1"); /* CATEGORY_SPAN */
	put_numbers(out, "subcategory", cnt, "0");
	put_numbers(out, "func", cnt, NULL);
	put_numbers(out, "nativeSymbol", cnt, "null");
	put_numbers(out, "innerWindowID", cnt, "0");
	put_numbers(out, "line", cnt, "null");
	put_numbers(out, "column", cnt, "null");
	fprintf(out, "\"length\":%zu},\n\"funcTable\":{", cnt);
	put_numbers(out, "name", cnt, NULL);
	put_numbers(out, "isJS", cnt, "false");
	put_numbers(out, "relevantForJS", cnt, "false");
	put_numbers(out, "resource", cnt, "-1");
	put_numbers(out, "source", cnt, "null");
	put_numbers(out, "lineNumber", cnt, "null");
	put_numbers(out, "columnNumber", cnt, "null");
	fprintf(out, "\"length\":%zu},\n", cnt);
	fputs("\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},\n"
	      "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	      "\"length\":0},\n"
	      "\"sources\":{\"uuid\":[],\"filename\":[],\"length\":0},\n\"stringArray\":",
	      out);
	return put_strings(firefox, cnt);
}

/* ---- the end ---- */

static int firefox_finish(void *state, const struct export_totals *totals)
{
	struct firefox *firefox = state;
	struct sliced_thread thread;
	struct thread_slice slice;
	int err = thread_slices_end(firefox->slices), got;

	(void)totals;
	firefox->first_ns = thread_slices_first_ns(firefox->slices);
	if (!err)
		err = columns_write_meta(firefox->out, firefox->info, firefox->first_ns);
	while (!err && (got = thread_slices_next(firefox->slices, &thread, &slice)) != 0)
		err = got < 0 ? got : put_slice(firefox, &thread, &slice);
	if (!err)
		err = end_thread(firefox);
	if (!err) {
		fputs("\n],\n", firefox->out);
		err = put_shared(firefox);
	}
	if (!err)
		fputs("}}\n", firefox->out);
	firefox->lost_cnt[LOST_THREAD] = thread_slices_left_out_cnt(firefox->slices);
	return err;
}

static int firefox_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	struct firefox *firefox = calloc(1, sizeof(*firefox));

	if (!firefox)
		return -ENOMEM;
	*state = firefox;
	firefox->out = out;
	firefox->info = info;
	key_map_init(&firefox->states, sizeof(struct state_row), NULL);
	key_map_init(&firefox->stack_numbers, sizeof(uint32_t), NULL);
	firefox->slices = thread_slices_new();
	if (!firefox->slices)
		return -ENOMEM;
	return columns_new(&firefox->columns, out);
}

static void firefox_tell(const void *state, export_say *say, void *context)
{
	const struct firefox *firefox = state;

	export_tell_counts(lost_names, firefox->lost_cnt, LOST_CNT, say, context);
}

static void firefox_free(void *state)
{
	struct firefox *firefox = state;

	thread_slices_free(firefox->slices);
	columns_free(firefox->columns);
	key_map_release(&firefox->states);
	key_map_release(&firefox->stack_numbers);
	free(firefox->nodes);
	free(firefox);
}

const struct export_format format_firefox = {
	.name = "firefox",
	.help = "a profile for profiler.firefox.com: spans, thread states, instants, losses",
	.suffix = ".firefox.json",
	.work_folder = temporary_folder,
	.open = firefox_open,
	.span = firefox_span,
	.run = firefox_run,
	.wake = firefox_wake,
	.thread = firefox_thread,
	.attribute = firefox_attribute,
	.instant = firefox_instant,
	.counter = firefox_counter,
	.link = firefox_link,
	.open_span = firefox_open_span,
	.loss = firefox_loss,
	.stack = firefox_stack,
	.dropped = firefox_dropped,
	.damage = firefox_damage,
	.finish = firefox_finish,
	.tell = firefox_tell,
	.free = firefox_free,
};
