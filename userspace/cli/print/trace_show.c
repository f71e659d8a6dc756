/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/trace_show.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span/span_top.h"
#include "analyze/thread_names.h"
#include "analyze/tree/trace_tree.h"
#include "base/id_map.h"
#include "base/units.h"
#include "cli/files/capture_info.h"
#include "cli/files/log_input.h"
#include "cli/print/ledger_part.h"
#include "cli/print/span_json.h"
#include "log/format/record_table.h"

#define SPAN_MAX 100000
#define BAR_COLUMNS 16
#define INDENT_MAX 12
#define LABEL_COLUMNS_MAX 60

struct shown_trace {
	const struct trace_show_options *options;
	struct trace_ids *ids;
	struct thread_names *names;
	struct span_top *top; /* its spans, by their begin */
	uint64_t span_cnt;    /* also of those beyond SPAN_MAX */
	struct trace_row *rows;
	size_t cnt;
	size_t process_cnt;
	size_t orphan_cnt; /* below a span that is not in the log */
	uint64_t begin_ns, end_ns;
	struct txtrace_log_info info;
	struct log_census census;
};

void cli_warn_of_traces(struct cli *cli, const struct trace_ids *ids)
{
	uint64_t cnt = trace_ids_missed_cnt(ids);
	char count[UNITS_SIZE];

	if (cnt > 0)
		cli_warn(cli,
			 "the log has more than 4 million spans with a parent or a key: the trace of %s of "
			 "them "
			 "is that of their parent alone",
			 units_format_count(count, cnt));
}

/* ---- two readings ---- */

static int see(struct shown_trace *trace, const struct txtrace_record *record)
{
	if (record->kind == TXTRACE_RECORD_THREAD)
		thread_names_add(trace->names, &record->thread);
	return trace_ids_see(trace->ids, record);
}

static int take(struct shown_trace *trace, const struct txtrace_record *record)
{
	const struct txtrace_span *span = &record->span;
	struct trace_place place;

	if (record->kind != TXTRACE_RECORD_SPAN)
		return 0;
	trace_ids_place(trace->ids, span, &place);
	if (memcmp(place.own.trace_id, trace->options->id, TRACE_ID_BYTES) != 0)
		return 0;
	trace->span_cnt++;
	return span_top_add(trace->top, span, thread_names_get(trace->names, span->pid, span->tid));
}

/* Only the first reading says what is missing in the log. */
static int read_all(struct cli *cli, struct shown_trace *trace, const struct options_result *operands,
		    bool is_first, int (*add)(struct shown_trace *trace, const struct txtrace_record *record),
		    int *err)
{
	struct txtrace_record record;
	struct log_input input;
	int status = log_input_open(&input, cli, operands->operands, operands->operand_cnt - 1, true);

	if (status)
		return status;
	input.is_quiet = !is_first;
	if (log_input_check_one_capture(&input)) {
		log_input_close(&input);
		return CLI_FAILED;
	}
	if (is_first)
		*err = trace_ids_begin_capture(trace->ids, input.info.capture_id);
	while (!*err && log_input_next(&input, &record))
		*err = add(trace, &record);
	if (is_first) {
		trace->info = input.info;
		trace->census = input.census;
	}
	return log_input_close(&input);
}

/* ---- what was found ---- */

static int count_processes(struct shown_trace *trace)
{
	struct id_map pids;
	int err = 0;

	id_map_init(&pids);
	for (size_t i = 0; i < trace->cnt && !err; i++)
		err = id_map_put(&pids, trace->rows[i].span->pid, 0, trace);
	trace->process_cnt = pids.cnt;
	id_map_release(&pids);
	return err;
}

static int arrange(struct shown_trace *trace)
{
	int err;

	span_top_finish(trace->top);
	trace->cnt = span_top_count(trace->top);
	trace->rows = calloc(trace->cnt ? trace->cnt : 1, sizeof(*trace->rows));
	if (!trace->rows)
		return -ENOMEM;
	trace->begin_ns = UINT64_MAX;
	for (size_t i = 0; i < trace->cnt; i++) {
		struct trace_row *row = &trace->rows[i];

		row->span = span_top_get(trace->top, i);
		row->thread_name = span_top_thread_name(trace->top, i);
		trace_ids_place(trace->ids, row->span, &row->place);
		if (row->span->begin_ns < trace->begin_ns)
			trace->begin_ns = row->span->begin_ns;
		if (row->span->end_ns > trace->end_ns)
			trace->end_ns = row->span->end_ns;
	}
	err = trace_tree_order(&trace->rows, trace->cnt);
	for (size_t i = 0; i < trace->cnt && !err; i++)
		trace->orphan_cnt += trace->rows[i].place.has_parent && trace->rows[i].parent == TRACE_NO_ROW;
	return err ? err : count_processes(trace);
}

/* ---- the text ---- */

static void add_row(const struct shown_trace *trace, const struct trace_row *row, struct table *table)
{
	const struct txtrace_span *span = row->span;
	struct text text = { 0 };
	char time[UNITS_SIZE];

	table_cell(table, TABLE_PLAIN, units_format_duration(time, span->begin_ns - trace->begin_ns));
	table_cell_format(table, TABLE_BOLD, "%s%s", span->flags & TXTRACE_SPAN_LOWER_BOUND ? ">=" : "",
			  units_format_duration(time, span_wall_ns(span)));
	for (unsigned int i = 0; i < row->depth && i < INDENT_MAX; i++)
		text_append(&text, "  ");
	if (span->label.length)
		text_append_clipped(&text, span->label.bytes, span->label.length, LABEL_COLUMNS_MAX);
	else
		text_append(&text, "(unknown label)");
	table_cell(table, TABLE_PLAIN, text_string(&text));
	text_clear(&text);
	text_append_escaped(&text, row->thread_name.bytes, row->thread_name.length);
	text_append_format(&text, "%s%" PRIu32, row->thread_name.length ? " " : "", span->tid);
	table_cell(table, TABLE_PLAIN, text_string(&text));
	text_release(&text);
	ledger_bar(table, &span->ledger, BAR_COLUMNS);
	table_cell(table, TABLE_PLAIN, "");
}

static bool has_part(const struct shown_trace *trace, size_t part)
{
	for (size_t i = 0; i < trace->cnt; i++) {
		if (ledger_part_ns(&trace->rows[i].span->ledger, part))
			return true;
	}
	return false;
}

static int print_text(const struct shown_trace *trace, const struct screen *screen)
{
	static const struct table_column columns[] = { { "at", TABLE_RIGHT, NULL },
						       { "wall", TABLE_RIGHT, NULL },
						       { "span", TABLE_LEFT, NULL },
						       { "thread", TABLE_LEFT, NULL },
						       { "where the time went", TABLE_LEFT, NULL } };
	size_t limit = trace->options->limit && trace->options->limit < trace->cnt
			       ? (size_t)trace->options->limit
			       : trace->cnt;
	char id[TRACE_ID_DIGITS + 1], count[UNITS_SIZE], wall[UNITS_SIZE];
	struct table *table;
	int err;

	trace_id_format(id, trace->options->id);
	fprintf(screen->file, "trace %s: %s span%s of %zu process%s, %s\n\n", id,
		units_format_count(count, trace->span_cnt), trace->span_cnt == 1 ? "" : "s",
		trace->process_cnt, trace->process_cnt == 1 ? "" : "es",
		units_format_duration(wall, trace->end_ns - trace->begin_ns));
	table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < limit; i++)
		add_row(trace, &trace->rows[i], table);
	err = screen_print_table(screen, table);
	table_free(table);
	ledger_print_legend(screen->file, has_part(trace, LEDGER_PART_INTERRUPT),
			    has_part(trace, LEDGER_PART_STOLEN));
	if (limit < trace->cnt)
		fprintf(screen->file, "%s more: --all shows them\n",
			units_format_count(count, trace->cnt - limit));
	if (trace->cnt < trace->span_cnt)
		fprintf(screen->file, "%s more, which began later, are not shown\n",
			units_format_count(count, trace->span_cnt - trace->cnt));
	if (trace->orphan_cnt > 0)
		fprintf(screen->file, "%s of them %s below a span that is not in this log\n",
			units_format_count(count, trace->orphan_cnt), trace->orphan_cnt == 1 ? "is" : "are");
	return err;
}

/* ---- for machines ---- */

static void span_id_json(struct json *json, const char *name, const uint8_t id[TRACE_SPAN_ID_BYTES])
{
	char digits[2 * TRACE_SPAN_ID_BYTES + 1];

	for (size_t i = 0; i < TRACE_SPAN_ID_BYTES; i++)
		snprintf(digits + 2 * i, 3, "%02x", id[i]);
	json_member_text(json, name, digits);
}

static void trace_json(const struct shown_trace *trace, struct json *json)
{
	char id[TRACE_ID_DIGITS + 1];

	trace_id_format(id, trace->options->id);
	capture_json_begin(json, "trace", &trace->info);
	json_member_text(json, "trace", id);
	json_member_u64(json, "span_count", trace->span_cnt);
	json_name(json, "spans");
	json_array_begin(json);
	for (size_t i = 0; i < trace->cnt; i++) {
		const struct trace_row *row = &trace->rows[i];

		json_object_begin(json);
		json_member_u64(json, "row", i);
		json_name(json, "parent_row");
		if (row->parent == TRACE_NO_ROW)
			json_null(json);
		else
			json_u64(json, row->parent);
		json_member_u64(json, "depth", row->depth);
		span_id_json(json, "span_id", row->place.own.span_id);
		if (row->place.has_parent)
			span_id_json(json, "parent_span_id", row->place.parent_id);
		else
			json_member_null(json, "parent_span_id");
		json_name(json, "span");
		span_json(json, row->span, row->thread_name);
		json_object_end(json);
	}
	json_array_end(json);
	capture_json_end(json, &trace->census);
}

/* ---- the command ---- */

static int print(struct cli *cli, const struct shown_trace *trace)
{
	struct json json;

	if (!trace->options->wants_json)
		return print_text(trace, &cli->out);
	cli_begin_json(cli, &json);
	trace_json(trace, &json);
	return cli_finish_json(cli, &json);
}

static unsigned int sort_by_begin(void)
{
	unsigned int sort = 0;

	while (strcmp(span_top_sort(sort), "begin") != 0)
		sort++;
	return sort;
}

static int show(struct cli *cli, struct shown_trace *trace, const struct options_result *operands, int *err)
{
	const char *id = operands->operands[operands->operand_cnt - 1];
	int status = read_all(cli, trace, operands, true, see, err), again = CLI_OK;

	if (status == CLI_FAILED || *err)
		return status;
	cli_warn_of_traces(cli, trace->ids);
	again = read_all(cli, trace, operands, false, take, err);
	if (again == CLI_FAILED || *err)
		return again;
	if (trace->span_cnt == 0)
		return cli_fail(cli, "'%s' has no span of the trace %s, see 'txtrace report --by trace'",
				operands->operands[0], id);
	*err = arrange(trace);
	*err = *err ? *err : print(cli, trace);
	return status;
}

int trace_show(struct cli *cli, const struct trace_show_options *options,
	       const struct options_result *operands)
{
	struct shown_trace trace = { .options = options };
	int status = CLI_OK, err = -ENOMEM;

	trace.ids = trace_ids_new();
	trace.names = thread_names_new();
	trace.top = span_top_new(SPAN_MAX, sort_by_begin());
	if (trace.ids && trace.names && trace.top) {
		err = 0;
		status = show(cli, &trace, operands, &err);
	}
	free(trace.rows);
	span_top_free(trace.top);
	thread_names_free(trace.names);
	trace_ids_free(trace.ids);
	return err ? cli_fail(cli, "can't show the trace: %s", strerror(-err)) : status;
}
