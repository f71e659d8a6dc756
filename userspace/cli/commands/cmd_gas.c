/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/analysis.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/gas_print.h"
#include "log/format/fvm_marks.h"

#define ALL_TABLES UINT_MAX
#define PER_CENT 100.0

struct gas_options {
	struct analysis_options common;
	unsigned int by;      /* enum gas_by, or ALL_TABLES */
	unsigned int variant; /* enum gas_by: of what is a plain table */
	bool wants_spans;
	bool is_folded;
};

struct gas_state {
	struct gas_tree *tree;
	struct gas_rows rows;
};

static const char *const by_names[] = { "charge", "call", "label", "span", NULL };

static const struct option_spec specs[] = {
	OPTION("by", 'b', OPTION_CHOICE, "BY",
	       "only the charges, the calls, the label spans, or the spans with a clock of their own; with "
	       "--columns, --sort and --csv the default is charge",
	       offsetof(struct gas_options, by), .choices = by_names),
	OPTION_LIMIT("show the N calls and labels with the most gas; 0: all (default 20)"),
	OPTION("spans", 0, OPTION_FLAG, NULL,
	       "write a line for each call and label span: its own gas and its total, by charge",
	       offsetof(struct gas_options, wants_spans)),
	OPTION("folded", 0, OPTION_FLAG, NULL,
	       "write folded stacks, 'call;call;charge milligas' (whole gas, if the trace was JSON)",
	       offsetof(struct gas_options, is_folded)),
	OPTION_SORT,
	OPTIONS_OUTPUT("write one JSON object, with all calls, spans and charges"),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace gas",
	.about = "Who was charged how much gas, in an imported trace of the Filecoin virtual machine: by "
		 "charge, by "
		 "call, and by label span. The unit is gas, never time.",
	.usages = (const char *const[]){ "FILE", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace gas machine.txtrace", "The charges, and the calls with the most gas." },
			{ "txtrace gas --folded machine.txtrace", "For a flame graph whose width is gas." },
			{ "txtrace gas --by call --csv machine.txtrace", "The calls, for a spreadsheet." },
			{ NULL, NULL },
		},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = 1,
};

/* ---- columns ---- */

#define OF_CHARGES (1u << GAS_BY_CHARGE)
#define OF_CALLS (1u << GAS_BY_CALL)
#define OF_LABELS (1u << GAS_BY_LABEL)
#define OF_SPANS (1u << GAS_BY_SPAN)

static void get_name(const void *row, struct cell *cell)
{
	cell->string = ((const struct gas_row *)row)->name;
}

static void set_share(struct cell *cell, int64_t part, int64_t whole)
{
	cell->is_unknown = whole == 0;
	cell->real = whole ? PER_CENT * (double)part / (double)whole : 0;
}

static const struct gas_row *all_of(const struct cell *cell)
{
	return &((const struct gas_state *)cell->context)->rows.all;
}

static void get_other_share(const void *row, struct cell *cell)
{
	set_share(cell, ((const struct gas_row *)row)->other, all_of(cell)->other);
}

static void get_compute_share(const void *row, struct cell *cell)
{
	set_share(cell, ((const struct gas_row *)row)->compute, all_of(cell)->compute);
}

static void get_total_share(const void *row, struct cell *cell)
{
	set_share(cell, ((const struct gas_row *)row)->total, all_of(cell)->total);
}

#define NAME_COLUMN(name_, title_, variants_)                                                      \
	{                                                                                          \
		.name = name_, .title = title_, .type = COLUMN_STRING, .get = get_name,            \
		.variants = variants_                                                              \
	}
#define SHARE_COLUMN(name_, get_)                                                                  \
	{                                                                                          \
		.name = name_, .title = "%", .type = COLUMN_REAL, .get = get_, .decimals = 1,      \
		.variants = OF_CHARGES                                                             \
	}

static const struct column columns[] = {
	NAME_COLUMN("charge", NULL, OF_CHARGES),
	NAME_COLUMN("call", NULL, OF_CALLS),
	NAME_COLUMN("label", "label span", OF_LABELS),
	NAME_COLUMN("span", NULL, OF_SPANS),
	COLUMN_OF("count", NULL, NULL, COLUMN_COUNT, struct gas_row, cnt),
	COLUMN_OF("unclosed", "never returned", NULL, COLUMN_COUNT, struct gas_row, open_cnt,
		  .variants = OF_CALLS),
	COLUMN_OF("unclosed", "never ended", NULL, COLUMN_COUNT, struct gas_row, open_cnt,
		  .variants = OF_LABELS | OF_SPANS),
	COLUMN_OF("other_milligas", "other gas", NULL, COLUMN_GAS, struct gas_row, other,
		  .variants = OF_CHARGES),
	SHARE_COLUMN("other_percent", get_other_share),
	COLUMN_OF("compute_milligas", "compute gas", NULL, COLUMN_GAS, struct gas_row, compute,
		  .variants = OF_CHARGES),
	SHARE_COLUMN("compute_percent", get_compute_share),
	COLUMN_OF("self_milligas", "self gas", NULL, COLUMN_GAS, struct gas_row, self, .variants = OF_CALLS),
	COLUMN_OF("total_milligas", "total gas", NULL, COLUMN_GAS, struct gas_row, total,
		  .variants = OF_CHARGES | OF_CALLS),
	SHARE_COLUMN("total_percent", get_total_share),
	COLUMN_OF("milligas", "gas", NULL, COLUMN_GAS, struct gas_row, total, .variants = OF_LABELS),
	COLUMN_OF("ns", "ns of its own clock", NULL, COLUMN_COUNT, struct gas_row, ns, .variants = OF_SPANS),
	COLUMN_END,
};

/* ---- the analysis ---- */

static const struct gas_options *values_of(const struct analysis_run *run)
{
	return run->values;
}

static void free_state(void *made)
{
	struct gas_state *state = made;

	gas_tree_free(state->tree);
	gas_rows_release(&state->rows);
	free(state);
}

static void *new_state(struct analysis_run *run)
{
	struct gas_state *state = calloc(1, sizeof(*state));

	if (!state)
		return NULL;
	run->context = state;
	state->tree = gas_tree_new(strcmp(run->input->info.options, FVM_CLOCK_JSON) == 0);
	if (state->tree)
		return state;
	free(state);
	return NULL;
}

static int begin_capture(struct analysis_run *run)
{
	if (fvm_is_gas(run->input->info.options))
		return 0;
	cli_fail(run->cli, "'%s' is no imported trace of the Filecoin virtual machine: its unit is time",
		 run->input->path);
	return -ECANCELED;
}

static int add(struct analysis_run *run, const struct txtrace_record *record)
{
	return gas_tree_add(((struct gas_state *)run->state)->tree, record);
}

static int finish(struct analysis_run *run)
{
	struct gas_state *state = run->state;
	int err = begin_capture(run); /* a log without records never began one */

	err = err ? err : gas_tree_finish(state->tree);
	return err ? err : gas_rows_make(&state->rows, state->tree);
}

static int list_rows(const struct gas_rows *rows, unsigned int by, struct row_list *list)
{
	for (size_t i = 0; i < rows->cnt; i++) {
		if (rows->rows[i].by == by)
			row_list_add(list, &rows->rows[i]);
	}
	return list->err;
}

static int rows(struct analysis_run *run, struct row_list *list)
{
	return list_rows(&((struct gas_state *)run->state)->rows, run->variant, list);
}

/* ---- text ---- */

static void add_all(struct table *table, const struct column_choice *choice, const struct gas_state *state)
{
	table_cell(table, TABLE_BOLD, "total");
	for (size_t i = 1; i < choice->cnt; i++) {
		if (choice->columns[i]->type == COLUMN_REAL)
			table_cell(table, TABLE_PLAIN, "");
		else
			column_add_cell(choice->columns[i], state, &state->rows.all, 0, table);
	}
}

static int print_table(struct analysis_run *run, enum gas_by by, bool is_first)
{
	const struct gas_state *state = run->state;
	struct table_column titles[COLUMNS_MAX];
	struct column_choice choice = { .cnt = 0 };
	struct row_list list = { 0 };
	uint64_t shown_cnt = by == GAS_BY_CHARGE || !run->common->limit ? UINT64_MAX : run->common->limit;
	struct table *table;
	int err = list_rows(&state->rows, by, &list);

	for (const struct column *column = columns; column->name; column++) {
		if (column_is_of(column, by))
			choice.columns[choice.cnt++] = column;
	}
	column_titles(&choice, titles);
	table = table_new(titles, choice.cnt);
	for (size_t i = 0; i < list.cnt && i < shown_cnt; i++) {
		for (size_t j = 0; j < choice.cnt; j++)
			column_add_cell(choice.columns[j], state, list.rows[i], 0, table);
	}
	if (by == GAS_BY_CHARGE)
		add_all(table, &choice, state);
	if (!err && (list.cnt > 0 || is_first)) {
		fputs(is_first ? "" : "\n", run->cli->out.file);
		err = screen_print_table(&run->cli->out, table);
	}
	if (!err && list.cnt > shown_cnt)
		analysis_print_more(run, list.cnt - shown_cnt);
	table_free(table);
	free(list.rows);
	return err;
}

static int text(struct analysis_run *run)
{
	const struct gas_state *state = run->state;
	unsigned int by = values_of(run)->by;
	int err = 0;

	if (values_of(run)->is_folded || values_of(run)->wants_spans)
		cli_keep_lines(run->cli);
	if (values_of(run)->is_folded)
		return gas_print_folded(run->cli, state->tree);
	if (values_of(run)->wants_spans)
		return gas_print_spans(run->cli, state->tree);
	if (by != ALL_TABLES)
		return print_table(run, by, true);
	for (by = GAS_BY_CHARGE; !err && by <= GAS_BY_SPAN; by++)
		err = print_table(run, by, by == GAS_BY_CHARGE);
	return err;
}

static void head_json(struct analysis_run *run, struct json *json)
{
	const struct gas_state *state = run->state;

	gas_members_json(json, state->tree, &state->rows);
}

static const struct gas_options defaults = { .common.limit = 20, .by = ALL_TABLES };

static const struct analysis *choose(struct cli *cli, void *options_);

static const struct analysis analysis = {
	.type = "gas",
	.what = "sum up the gas of",
	.columns = columns,
	.has_no_title = true,
	.has_own_foot = true,
	.is_compact = true,
	.choose = choose,
	.new = new_state,
	.free = free_state,
	.passes = { { begin_capture, add, finish } },
	.rows = rows,
	.text = text,
	.head_json = head_json,
	.values_bytes = sizeof(defaults),
	.defaults = &defaults,
	.variant_offset = offsetof(struct gas_options, variant),
};

static const struct analysis *choose(struct cli *cli, void *options_)
{
	struct gas_options *values = options_;
	const struct analysis_options *common = &values->common;
	bool is_plain = common->columns || common->sort || common->wants_csv;
	bool is_whole = values->is_folded || values->wants_spans || (common->wants_json && !is_plain);

	if (values->is_folded + values->wants_spans + (common->wants_json || is_plain) > 1) {
		cli_fail(cli, "--folded, --spans and %s are different outputs; give one of them",
			 is_plain ? "a table of columns" : "--json");
		return NULL;
	}
	if (values->by != ALL_TABLES && is_whole) {
		cli_fail(cli, "--by chooses a table; --folded, --spans and a whole --json have none");
		return NULL;
	}
	cli->is_of_gas = true;
	values->variant = values->by == ALL_TABLES ? GAS_BY_CHARGE : values->by;
	return &analysis;
}

const struct command command_gas = {
	"gas", "who was charged how much gas, in traces of the Filecoin virtual machine", &options,
	.analysis = &analysis,
};
