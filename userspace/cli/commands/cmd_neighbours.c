/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/wait/neighbours.h"
#include "base/saturating.h"
#include "base/units.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/files/capture_info.h"
#include "cli/files/log_input.h"
#include "cli/print/analysis_frame.h"


#define BY_WHAT_IS_THERE 2 /* label, or thread in a log without spans */

enum neighbours_who {
	WHO_THREAD = 0,
	WHO_PROCESS = 1,
};

struct neighbours_values {
	unsigned int by;  /* enum neighbours_by, or BY_WHAT_IS_THERE until the log was read */
	unsigned int who; /* enum neighbours_who */
	uint64_t limit;
	uint64_t top;
	uint64_t max_memory_bytes;
	bool wants_json;
};

#define FIELD(field) offsetof(struct neighbours_values, field)

static const char *const bys[] = { [NEIGHBOURS_BY_LABEL] = "label", [NEIGHBOURS_BY_THREAD] = "thread", NULL };
static const char *const whos[] = { [WHO_THREAD] = "thread", [WHO_PROCESS] = "process", NULL };

static const struct option_spec specs[] = {
	OPTION("by", 'b', OPTION_CHOICE, "WHO",
	       "who waited: spans by label, or threads (default label; thread where the log has no spans)",
	       FIELD(by), .choices = bys),
	OPTION("who", 'w', OPTION_CHOICE, "WHO",
	       "who had the CPU: threads, traced ones by the span that they were in; or whole processes "
	       "(default thread)",
	       FIELD(who), .choices = whos),
	OPTION("limit", 'n', OPTION_U64, "N", "show the N that waited the longest; 0: all (default 20)",
	       FIELD(limit)),
	OPTION("top", 't', OPTION_U64, "N",
	       "and for each the N that had the CPU the longest; 0: all (default 5)", FIELD(top)),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE",
	       "use no more, about; what is new beyond it is counted together, or unknown (default 512M)",
	       FIELD(max_memory_bytes), .minimum = 1 << 16),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object, with all of them", FIELD(wants_json)),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace neighbours",
	.about = "Who had the CPU: the runnable time of each label, by the threads that ran meanwhile on the "
		 "CPU that was waited for, whether they are "
		 "traced or not. Idle is the time that a wakeup took until the thread ran on a CPU that "
		 "nobody had. The hypervisor is who had taken the CPU from the whole machine. Of the "
		 "unknown time nobody is known.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace neighbours bank.txtrace", "The noisy neighbours of each label." },
		{ "txtrace neighbours --by thread --who process bank.txtrace",
		  "Which processes kept each thread waiting." },
		{ "txtrace neighbours --json bank.txtrace | jq '.rows[] | select(.label == "
		  "\"commit\").neighbours[0]'",
		  "The worst one of a label." },
		{ NULL, NULL },
	},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* ---- for people ---- */

static void append_name(struct text *text, const struct txtrace_string *name, const char *otherwise)
{
	if (name->length)
		text_append_escaped(text, name->bytes, name->length);
	else
		text_append(text, otherwise);
}

static void append_waiter(struct text *text, const struct neighbours_row *row, unsigned int by)
{
	if (row->is_rest) {
		text_append(text, "(all others)");
	} else if (by == NEIGHBOURS_BY_LABEL) {
		append_name(text, &row->label, "(unknown label)");
	} else {
		append_name(text, &row->name, "");
		text_append_format(text, "%s%" PRIu32, row->name.length ? " " : "", row->tid);
	}
}

static void append_neighbour(struct text *text, const struct neighbour *cell)
{
	if (cell->kind == NEIGHBOUR_IDLE) {
		text_append(text, "(idle)");
	} else if (cell->kind == NEIGHBOUR_HYPERVISOR) {
		text_append(text, "(hypervisor)");
	} else if (cell->kind == NEIGHBOUR_OTHERS) {
		text_append(text, "(all others)");
	} else {
		append_name(text, &cell->name, "");
		text_append_format(text, "%s%" PRIu32, cell->name.length ? " " : "",
				   cell->tid ? cell->tid : cell->pid);
	}
}

struct line {
	struct text waiter, neighbour, label;
};

/* The waiter stands on its first line only. */
static void add_line(struct table *table, struct line *line, const struct neighbours_row *row, uint64_t pid,
		     uint64_t ns)
{
	bool is_first = line->waiter.length > 0;
	char time[UNITS_SIZE], share[UNITS_SIZE];

	table_cell(table, TABLE_BOLD, text_string(&line->waiter));
	table_cell(table, TABLE_PLAIN, is_first ? units_format_duration(time, row->runnable_ns) : "");
	table_cell(table, TABLE_PLAIN, text_string(&line->neighbour));
	if (pid)
		table_cell_format(table, TABLE_DIM, "%" PRIu64, pid);
	else
		table_cell(table, TABLE_PLAIN, "");
	table_cell(table, TABLE_PLAIN, text_string(&line->label));
	table_cell(table, "33", units_format_duration(time, ns));
	table_cell(table, TABLE_PLAIN, units_format_share(share, ns, row->runnable_ns));
	text_clear(&line->waiter);
	text_clear(&line->neighbour);
	text_clear(&line->label);
}

static void add_row(struct table *table, struct line *line, const struct neighbours_row *row,
		    const struct neighbours_values *values)
{
	size_t cnt = values->top && values->top < row->cell_cnt ? values->top : row->cell_cnt;
	uint64_t rest_ns = 0;

	append_waiter(&line->waiter, row, values->by);
	for (size_t i = 0; i < cnt; i++) {
		const struct neighbour *cell = &row->cells[i];

		append_neighbour(&line->neighbour, cell);
		if (cell->is_in_span)
			append_name(&line->label, &cell->label, "(unknown label)");
		add_line(table, line, row, cell->kind == NEIGHBOUR_TASK ? cell->pid : 0, cell->ns);
	}
	for (size_t i = cnt; i < row->cell_cnt; i++)
		increase(&rest_ns, row->cells[i].ns);
	if (cnt < row->cell_cnt) {
		text_append_format(&line->neighbour, "%zu more", row->cell_cnt - cnt);
		add_line(table, line, row, 0, rest_ns);
	}
	if (row->unknown_ns) {
		text_append(&line->neighbour, "(unknown)");
		add_line(table, line, row, 0, row->unknown_ns);
	}
}

static int print_rows(struct cli *cli, const struct neighbours_values *values,
		      const struct neighbours *neighbours, size_t cnt)
{
	static const char who[] = "who had the CPU";
	static const struct table_column columns[] = {
		{ "who waited", TABLE_LEFT, NULL }, { "runnable", TABLE_RIGHT, NULL },
		{ "name", TABLE_LEFT, who },	    { "process", TABLE_RIGHT, who },
		{ "in span", TABLE_LEFT, who },	    { "for", TABLE_RIGHT, who },
		{ "share", TABLE_RIGHT, NULL },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct line line = { 0 };
	int err;

	for (size_t i = 0; i < cnt; i++)
		add_row(table, &line, neighbours_row(neighbours, i), values);
	err = screen_print_table(&cli->out, table);
	table_free(table);
	text_release(&line.waiter);
	text_release(&line.neighbour);
	text_release(&line.label);
	return err;
}

static int print_text(struct cli *cli, const struct neighbours_values *values, const struct log_input *input,
		      const struct neighbours *neighbours)
{
	size_t all_cnt = neighbours_row_count(neighbours),
	       cnt = values->limit && values->limit < all_cnt ? values->limit : all_cnt;
	int err = 0;

	analysis_print_title(cli, input);
	if (cnt > 0)
		err = print_rows(cli, values, neighbours, cnt);
	else
		fprintf(cli->out.file, "no %s waited for a CPU\n",
			values->by == NEIGHBOURS_BY_LABEL ? "exact span" : "thread");
	if (cnt < all_cnt)
		fprintf(cli->out.file, "%zu more: 'txtrace neighbours --limit 0' shows them\n",
			all_cnt - cnt);
	if (neighbours_is_full(neighbours))
		fputs("the memory is used up: some waits are unknown, some names counted together; "
		      "--max-memory gives more\n",
		      cli->out.file);
	fputc('\n', cli->out.file);
	return err ? err : analysis_print_losses(cli, input);
}

/* ---- for machines ---- */

static void member_name(struct json *json, const char *name, const struct txtrace_string *string,
			bool is_there)
{
	if (is_there)
		json_member_string(json, name, string->bytes, string->length);
	else
		json_member_null(json, name);
}

static void neighbour_json(struct json *json, const struct neighbour *cell)
{
	static const char *const kinds[] = {
		[NEIGHBOUR_TASK] = "task",
		[NEIGHBOUR_IDLE] = "idle",
		[NEIGHBOUR_OTHERS] = "others",
		[NEIGHBOUR_HYPERVISOR] = "hypervisor",
	};

	json_object_begin(json);
	json_member_text(json, "kind", kinds[cell->kind]);
	if (cell->kind == NEIGHBOUR_TASK) {
		json_member_u64(json, "pid", cell->pid);
		json_member_u64(json, "tid", cell->tid);
		member_name(json, "name", &cell->name, cell->name.length > 0);
		member_name(json, "label", &cell->label, cell->is_in_span);
	}
	json_member_u64(json, "ns", cell->ns);
	json_member_u64(json, "pieces", cell->cnt);
	json_object_end(json);
}

static void row_json(struct json *json, const struct neighbours_row *row, unsigned int by)
{
	json_object_begin(json);
	json_member_bool(json, "others", row->is_rest);
	if (by == NEIGHBOURS_BY_LABEL) {
		member_name(json, "label", &row->label, !row->is_rest);
	} else {
		json_member_u64(json, "pid", row->pid);
		json_member_u64(json, "tid", row->tid);
		member_name(json, "name", &row->name, row->name.length > 0);
	}
	json_member_u64(json, by == NEIGHBOURS_BY_LABEL ? "spans" : "waits", row->cnt);
	json_member_u64(json, "runnable_ns", row->runnable_ns);
	json_member_u64(json, "unknown_ns", row->unknown_ns);
	json_name(json, "neighbours");
	json_array_begin(json);
	for (size_t i = 0; i < row->cell_cnt; i++)
		neighbour_json(json, &row->cells[i]);
	json_array_end(json);
	json_object_end(json);
}

static int print_json(struct cli *cli, const struct neighbours_values *values, const struct log_input *input,
		      const struct neighbours *neighbours)
{
	struct json json;

	cli_begin_json(cli, &json);
	capture_json_begin(&json, "neighbours", &input->info);
	json_member_text(&json, "by", bys[values->by]);
	json_member_text(&json, "who", whos[values->who]);
	json_name(&json, "rows");
	json_array_begin(&json);
	for (size_t i = 0; i < neighbours_row_count(neighbours); i++)
		row_json(&json, neighbours_row(neighbours, i), values->by);
	json_array_end(&json);
	json_member_bool(&json, "memory_used_up", neighbours_is_full(neighbours));
	capture_json_end(&json, &input->census);
	return cli_finish_json(cli, &json);
}

/* ---- both readings ---- */

static int survey(struct log_input *input, struct neighbours *neighbours)
{
	struct txtrace_record record;
	int err = neighbours ? 0 : -ENOMEM;

	while (!err && log_input_next(input, &record)) {
		if (input->has_begun_capture)
			neighbours_begin_capture(neighbours);
		err = neighbours_survey(neighbours, &record);
	}
	return err ? err : neighbours_end_survey(neighbours);
}

static int read_again(struct cli *cli, const struct options_result *result, struct neighbours *neighbours)
{
	struct txtrace_record record;
	struct log_input again;
	int err = 0;

	if (log_input_open(&again, cli, result->operands, result->operand_cnt, true))
		return -EIO;
	again.is_quiet = true;
	while (!err && log_input_next(&again, &record)) {
		if (again.has_begun_capture)
			neighbours_begin_capture(neighbours);
		err = neighbours_add(neighbours, &record);
	}
	log_input_close(&again);
	return err ? err : neighbours_finish(neighbours);
}

static bool has_threads_alone(const struct log_census *census)
{
	return census->record_cnt[TXTRACE_RECORD_RUN] && !census->record_cnt[TXTRACE_RECORD_SPAN];
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct neighbours_values values = {
		.by = BY_WHAT_IS_THERE, .limit = 20, .top = 5, .max_memory_bytes = 512 << 20
	};
	struct neighbours_options neighbours_options;
	struct options_result result;
	struct neighbours *neighbours;
	struct log_input input;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	neighbours_options = (struct neighbours_options){ .wants_processes = values.who == WHO_PROCESS,
							  .max_bytes = values.max_memory_bytes };
	neighbours = neighbours_new(&neighbours_options);
	err = survey(&input, neighbours);
	if (values.by == BY_WHAT_IS_THERE)
		values.by = has_threads_alone(&input.census) ? NEIGHBOURS_BY_THREAD : NEIGHBOURS_BY_LABEL;
	if (!err)
		neighbours_choose(neighbours, values.by);
	err = err ? err : read_again(cli, &result, neighbours);
	if (!err)
		err = values.wants_json ? print_json(cli, &values, &input, neighbours)
					: print_text(cli, &values, &input, neighbours);
	neighbours_free(neighbours);
	return log_input_end(&input, err, "tell the neighbours of");
}

const struct command command_neighbours = { "neighbours", "who had the CPU while spans waited for one",
					    &options, run };
