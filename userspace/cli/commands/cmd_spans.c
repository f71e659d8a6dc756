/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span/span_top.h"
#include "analyze/thread_names.h"
#include "base/units.h"
#include "cli/commands/analysis.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/ledger_part.h"
#include "cli/print/span_json.h"
#include "cli/print/trace_show.h"

#define INDENT 4
#define BAR_COLUMNS 20
#define TAG_COLUMNS_MAX 60
#define LIMIT_MAX 1000000

struct spans_options {
	struct analysis_options common;
	unsigned int sort; /* of span_top.h */
	bool has_trace;
	uint8_t trace_id[TRACE_ID_BYTES];
};

struct spans_state {
	struct span_top *top;
	struct trace_ids *traces; /* NULL: not asked for */
	struct thread_names *names;
};

static int set_trace(void *options, const char *value, const char **complaint)
{
	struct spans_options *values = options;

	*complaint = "an id of 32 hexadecimal digits";
	values->has_trace = trace_id_parse(values->trace_id, value);
	return values->has_trace ? 0 : -EINVAL;
}

static const struct option_spec specs[] = {
	OPTION("sort", 's', OPTION_CHOICE, "BY",
	       "those with the most of it come first; for begin, the earliest",
	       offsetof(struct spans_options, sort), .choice_at = span_top_sort),
	OPTION_COMMON("limit", 'n', OPTION_U64, "N", "show N spans (default 20)", limit, .minimum = 1,
		      .maximum = LIMIT_MAX),
	OPTION_LABEL("only spans with such a label, as in 'tx.*'"),
	OPTION("trace", 't', OPTION_CALL, "ID", "only spans of the trace with this W3C trace id", 0,
	       .call = set_trace),
	OPTION_NEST(struct analysis_options, nest),
	OPTIONS_OUTPUT("write one JSON object"),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace spans",
	.about = "The slowest spans, each with its tag, key and thread, and the split of its work. Lower "
		 "bounds are marked by '>='.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace spans bank.txtrace", "The 20 that took longest." },
			{ "txtrace spans -n 5 --sort lock --label 'tx*' bank.txtrace",
			  "The 5 transactions that waited longest for locks." },
			{ "txtrace spans --trace 4bf92f3577b34da6a3ce929d0e0e4736 --sort begin all.txtrace",
			  "The spans of one trace." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* A span of the list, and how its thread is called. */
struct entry {
	struct txtrace_span span;
	struct txtrace_string thread_name;
};

/* ---- columns ---- */

static void get_wall(const void *row, struct cell *cell)
{
	const struct txtrace_span *span = &((const struct entry *)row)->span;

	cell->number = span_wall_ns(span);
	cell->bound = span->flags & TXTRACE_SPAN_LOWER_BOUND ? ">=" : NULL;
}

static void get_label(const void *row, struct cell *cell)
{
	cell->string = ((const struct entry *)row)->span.label;
	text_append(&cell->words, "(unknown label)");
}

/* "worker-1 4201", and who ended it, if that was another thread. */
static void get_thread(const void *row, struct cell *cell)
{
	const struct txtrace_string *name = &((const struct entry *)row)->thread_name;
	const struct txtrace_span *span = &((const struct entry *)row)->span;

	text_append_escaped(&cell->words, name->bytes, name->length);
	text_append_format(&cell->words, "%s%" PRIu32, name->length ? " " : "", span->tid);
	if (span->end_tid && span->end_tid != span->tid)
		text_append_format(&cell->words, "\xe2\x86\x92%" PRIu32, span->end_tid);
}

static void get_tag(const void *row, struct cell *cell)
{
	const struct txtrace_span *span = &((const struct entry *)row)->span;
	struct text *text = &cell->words;

	text_append_clipped(text, span->tag.bytes, span->tag.length, TAG_COLUMNS_MAX);
	if (span->key.length > 0) {
		text_append(text, text->length ? "  key " : "key ");
		text_append_clipped(text, span->key.bytes, span->key.length, TAG_COLUMNS_MAX);
	}
	if (span->flags & TXTRACE_SPAN_UNFINISHED)
		text_append(text, text->length ? "  (unfinished)" : "(unfinished)");
}

static void get_blocked(const void *row, struct cell *cell)
{
	cell->number = txtrace_ledger_blocked_ns(&((const struct entry *)row)->span.ledger);
}

#define SPAN(name_, title_, type_, member_, ...) \
	COLUMN_OF(name_, title_, NULL, COLUMN_##type_, struct entry, span.member_, ##__VA_ARGS__)
#define PART(name_, title_, member_) \
	SPAN(name_, title_, DURATION, ledger.member_, .flags = COLUMN_HIDDEN | COLUMN_DOT)
#define REASON(name_, title_, reason_) PART(name_ "_ns", title_, blocked_ns[TXTRACE_BLOCK_##reason_])

static const struct column columns[] = {
	{ "wall_ns", "wall", NULL, COLUMN_DURATION, .get = get_wall, .style = TABLE_BOLD },
	{ "label", NULL, NULL, COLUMN_STRING, .get = get_label, .style = TABLE_BOLD },
	{ "thread", NULL, NULL, COLUMN_WORDS, .get = get_thread },
	SPAN("begin_ns", "begin, s", MOMENT, begin_ns),
	{ "tag", NULL, NULL, COLUMN_WORDS, .get = get_tag },
	SPAN("end_ns", "end, s", MOMENT, end_ns, .flags = COLUMN_HIDDEN),
	SPAN("id", NULL, ID, id, .flags = COLUMN_HIDDEN),
	SPAN("parent", NULL, ID, parent, .flags = COLUMN_HIDDEN),
	SPAN("pid", NULL, ID, pid, .flags = COLUMN_HIDDEN | COLUMN_U32),
	SPAN("tid", NULL, ID, tid, .flags = COLUMN_HIDDEN | COLUMN_U32),
	SPAN("work_ns", "work", DURATION, work_ns, .flags = COLUMN_HIDDEN),
	PART("on_cpu_ns", "on-CPU", on_cpu_ns),
	PART("runnable_ns", "runnable", runnable_ns),
	{ "blocked_ns", "blocked", NULL, COLUMN_DURATION, COLUMN_HIDDEN | COLUMN_DOT, .get = get_blocked },
	REASON("lock", "lock", LOCK),
	REASON("disk", "disk", DISK),
	REASON("network", "network", NETWORK),
	REASON("sleep", "sleep", SLEEP),
	REASON("page_fault", "fault", PAGE_FAULT),
	REASON("pipe", "pipe", PIPE),
	REASON("wait", "wait", WAIT),
	REASON("stopped", "stopped", STOPPED),
	REASON("other", "other", OTHER),
	REASON("throttled", "throttled", THROTTLED),
	REASON("poll", "poll", POLL),
	PART("detached_ns", "detached", detached_ns),
	PART("unknown_ns", "unknown", unknown_ns),
	PART("interrupt_ns", "interrupt", interrupt_ns),
	PART("stolen_ns", "stolen", stolen_ns),
	COLUMN_END,
};

/* The bar and the list below a span. */
static void add_split(struct table *table, const struct txtrace_span *span, size_t width)
{
	uint64_t sum_ns = txtrace_ledger_sum_ns(&span->ledger);
	struct text text = { 0 };
	char time[UNITS_SIZE];

	if (sum_ns == 0)
		return;
	ledger_list(&text, &span->ledger, sum_ns, 1, INDENT + BAR_COLUMNS + 2, width);
	if (span->work_ns != span_wall_ns(span))
		text_append_format(&text, "; of %s work", units_format_duration(time, span->work_ns));
	table_piece(table, TABLE_PLAIN, "    "); /* INDENT */
	ledger_bar(table, &span->ledger, BAR_COLUMNS);
	table_piece(table, TABLE_PLAIN, "  ");
	table_line(table, text_string(&text));
	text_release(&text);
}

static int text(struct analysis_run *run)
{
	struct table_column titles[COLUMNS_MAX];
	FILE *out = run->cli->out.file;
	char count[UNITS_SIZE], total[UNITS_SIZE], lost[UNITS_SIZE];
	struct table *table;
	int err;

	column_titles(&run->choice, titles);
	table = table_new(titles, run->choice.cnt);
	for (size_t i = 0; i < run->list.cnt; i++) {
		const struct entry *entry = run->list.rows[i];

		for (size_t j = 0; j < run->choice.cnt; j++)
			column_add_cell(run->choice.columns[j], run, entry, log_input_begin_ns(run->input),
					table);
		add_split(table, &entry->span, run->cli->out.columns);
	}
	err = screen_print_table(&run->cli->out, table);
	table_free(table);
	fprintf(out, "\n%s of %s spans; %s events lost\n", units_format_count(count, run->list.cnt),
		units_format_count(total, run->input->census.record_cnt[TXTRACE_RECORD_SPAN]),
		units_format_count(lost, log_census_lost_cnt(&run->input->census)));
	return err;
}

/* ---- for machines ---- */

static void head_json(struct analysis_run *run, struct json *json)
{
	const struct spans_options *values = run->values;
	char trace[TRACE_ID_DIGITS + 1];

	json_member_text(json, "sort", span_top_sort(values->sort));
	if (!values->has_trace)
		return;
	trace_id_format(trace, values->trace_id);
	json_member_text(json, "trace", trace);
}

static void row_json(const struct analysis_run *run, const void *row, struct json *json)
{
	const struct entry *entry = row;

	(void)run;
	span_members_json(json, &entry->span, entry->thread_name);
}

static void tail_json(struct analysis_run *run, struct json *json)
{
	json_member_u64(json, "span_count", run->input->census.record_cnt[TXTRACE_RECORD_SPAN]);
}

/* ---- the analysis ---- */

static void free_state(void *made)
{
	struct spans_state *state = made;

	span_top_free(state->top);
	trace_ids_free(state->traces);
	thread_names_free(state->names);
	free(state);
}

static bool is_by_trace(const struct analysis_run *run)
{
	return ((const struct spans_options *)run->values)->has_trace;
}

static int begin_trace(struct analysis_run *run, struct spans_state *state)
{
	return state->traces ? trace_ids_begin_capture(state->traces, run->input->info.capture_id) : 0;
}

static int begin_capture(struct analysis_run *run)
{
	struct spans_state *state = run->state;

	return state->traces ? trace_ids_begin_capture(state->traces, run->input->capture_id) : 0;
}

static int survey(struct analysis_run *run, const struct txtrace_record *record)
{
	return trace_ids_see(((struct spans_state *)run->state)->traces, record);
}

static int finish_survey(struct analysis_run *run)
{
	struct spans_state *state = run->state;

	cli_warn_of_traces(run->cli, state->traces);
	return begin_trace(run, state);
}

static bool is_of_trace(struct analysis_run *run, const struct txtrace_span *span)
{
	struct spans_state *state = run->state;
	struct trace_place place;

	if (!state->traces)
		return true;
	trace_ids_place(state->traces, span, &place);
	return !memcmp(place.own.trace_id, ((const struct spans_options *)run->values)->trace_id,
		       TRACE_ID_BYTES);
}

static void *new_state(struct analysis_run *run)
{
	struct spans_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	state->top = span_top_new(run->common->limit, ((const struct spans_options *)run->values)->sort);
	state->names = thread_names_new();
	state->traces = is_by_trace(run) ? trace_ids_new() : NULL;
	if (state->top && state->names && (state->traces || !is_by_trace(run)) && !begin_trace(run, state))
		return state;
	free_state(state);
	return NULL;
}

static int add(struct analysis_run *run, const struct txtrace_record *record)
{
	const struct txtrace_span *span = &record->span;
	struct spans_state *state = run->state;

	if (record->kind == TXTRACE_RECORD_THREAD)
		thread_names_add(state->names, &record->thread);
	return record->kind == TXTRACE_RECORD_SPAN && is_of_trace(run, span)
		       ? span_top_add(state->top, span, thread_names_get(state->names, span->pid, span->tid))
		       : 0;
}

static int finish(struct analysis_run *run)
{
	span_top_finish(((struct spans_state *)run->state)->top);
	return 0;
}

static int rows(struct analysis_run *run, struct row_list *list)
{
	const struct span_top *top = ((const struct spans_state *)run->state)->top;

	for (size_t i = 0; i < span_top_count(top); i++) {
		struct entry *entry = row_list_make(list, sizeof(*entry));

		if (entry)
			*entry = (struct entry){ *span_top_get(top, i), span_top_thread_name(top, i) };
	}
	return 0;
}

static const struct spans_options defaults = { .common = { .limit = 20 } };

static const struct analysis analysis = {
	.type = "spans",
	.rows_names = { "spans" },
	.what = "list the spans of",
	.no_rows = "no spans",
	.columns = columns,
	.has_no_title = true,
	.has_own_foot = true,
	.has_own_json = true,
	.new = new_state,
	.free = free_state,
	.needs_survey = is_by_trace,
	.survey = { begin_capture, survey, finish_survey },
	.passes = { { .begin_capture = begin_capture, .add = add, .finish = finish } },
	.rows = rows,
	.row_json = row_json,
	.text = text,
	.head_json = head_json,
	.tail_json = tail_json,
	.values_bytes = sizeof(defaults),
	.defaults = &defaults,
};

const struct command command_spans = { "spans", "the slowest spans, each with its split", &options,
				       .analysis = &analysis };
