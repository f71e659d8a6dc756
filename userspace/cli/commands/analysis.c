/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/glob.h"
#include "base/units.h"
#include "cli/files/capture_info.h"
#include "cli/print/analysis_frame.h"
#include "cli/print/document.h"

/* ---- the rows ---- */

void row_list_add(struct row_list *list, const void *row)
{
	const void **grown = list->err ? NULL
				       : array_grow(list->rows, &list->size, list->cnt, sizeof(*grown));

	if (!grown) {
		list->err = list->err ? list->err : -ENOMEM;
		return;
	}
	list->rows = grown;
	list->rows[list->cnt++] = row;
}

void *row_list_make(struct row_list *list, size_t bytes)
{
	void *row = list->err ? NULL : calloc(1, bytes);

	if (!row)
		list->err = -ENOMEM;
	else
		row_list_add(list, row);
	if (row && list->err) {
		free(row);
		return NULL;
	}
	list->are_made = true;
	return row;
}

static void release_rows(struct row_list *list)
{
	for (size_t i = 0; list->are_made && i < list->cnt; i++)
		free((void *)(uintptr_t)list->rows[i]);
	free(list->rows);
	*list = (struct row_list){ 0 };
}

static int collect_rows(struct analysis_run *run)
{
	const struct analysis *analysis = run->analysis;
	const struct analysis_options *common = run->common;
	struct row_list *list = &run->list;
	int err = analysis->rows ? analysis->rows(run, list) : 0;

	err = err ? err : list->err;
	if (!err && run->sort)
		err = column_sort(run->sort, *common->sort == '-', run->context, list->rows, list->cnt);
	run->shown_cnt = list->cnt;
	if (common->limit && common->limit < list->cnt && (run->is_plain || !analysis->limits_itself))
		run->shown_cnt = (size_t)common->limit;
	return err;
}

/* ---- which columns ---- */

/* Those of the text, or, for machines, all. */
static void choose_usual(struct analysis_run *run)
{
	const struct analysis *analysis = run->analysis;

	run->choice.cnt = 0;
	for (const struct column *column = analysis->columns; column->name; column++) {
		bool is_usual = run->common->wants_csv || run->common->wants_json ||
				!(column->flags & COLUMN_HIDDEN);

		if (is_usual && run->choice.cnt < COLUMNS_MAX && column_is_of(column, run->variant) &&
		    (!analysis->has_column || analysis->has_column(run, column)))
			run->choice.columns[run->choice.cnt++] = column;
	}
}

static int check_options(struct cli *cli, struct analysis_run *run)
{
	const struct analysis_options *common = run->common;
	const struct column *columns = run->analysis->columns;
	struct text complaint = { 0 };
	int status = CLI_OK;

	if (common->wants_json + common->wants_csv + common->wants_html + common->wants_markdown > 1)
		return cli_fail(cli, "--json, --csv, --html and --markdown exclude each other");
	if (common->columns &&
	    column_choose(&run->choice, columns, run->variant, common->columns, &complaint))
		status = cli_fail(cli, "--columns: %s", text_string(&complaint));
	if (status == CLI_OK && common->sort && !run->analysis->sorts_itself) {
		run->sort = column_of_sort(columns, run->variant, common->sort, &complaint);
		if (!run->sort)
			status = cli_fail(cli, "--sort: %s", text_string(&complaint));
	}
	text_release(&complaint);
	return status;
}

/* ---- printing ---- */

/* The chosen columns. 0 or -ENOMEM. */
static int analysis_print_table(struct analysis_run *run)
{
	return column_print_table(&run->choice, run->context, run->list.rows, run->shown_cnt,
				  log_input_begin_ns(run->input), &run->cli->out);
}

void analysis_print_more(struct analysis_run *run, uint64_t hidden_cnt)
{
	const struct analysis *analysis = run->analysis;
	char count[UNITS_SIZE];

	if (hidden_cnt > 0)
		fprintf(run->cli->out.file, "%s%s more%s: 'txtrace %s --limit 0' shows them\n",
			analysis->before_more ? analysis->before_more : "",
			units_format_count(count, hidden_cnt),
			analysis->more && !run->sort ? analysis->more : "", analysis->type);
}

static int print_rows(struct analysis_run *run)
{
	int err = 0;

	if (run->list.cnt > 0 || !(run->analysis->no_rows || run->analysis->why_no_rows))
		err = analysis_print_table(run);
	else
		fprintf(run->cli->out.file, "%s\n",
			run->analysis->why_no_rows ? run->analysis->why_no_rows(run)
						   : run->analysis->no_rows);
	analysis_print_more(run, run->list.cnt - run->shown_cnt);
	return err;
}

/* The lines below a text: what the command says there, and what was lost. */
static int print_foot(struct analysis_run *run)
{
	static const struct table_column columns[] = { { NULL, TABLE_LEFT, NULL },
						       { NULL, TABLE_LEFT, NULL } };
	struct table *table = table_new(columns, 2);
	int err = 0;

	if (run->analysis->foot)
		err = run->analysis->foot(run, table);
	capture_add_losses(table, &run->input->census);
	err = err ? err : screen_print_table(&run->cli->out, table);
	table_free(table);
	return err;
}

static int print_text(struct analysis_run *run)
{
	const struct analysis *analysis = run->analysis;
	int err;

	if (!analysis->has_no_title || run->is_plain)
		analysis_print_title(run->cli, run->input);
	if (analysis->text && !run->is_plain) {
		err = analysis->text(run);
		return err || analysis->has_own_foot ? err : print_foot(run);
	}
	err = print_rows(run);
	if (!err && analysis->notes && !run->is_plain)
		err = analysis->notes(run);
	else
		fputc('\n', run->cli->out.file);
	return err ? err : print_foot(run);
}

static int print_csv(struct analysis_run *run)
{
	int err = 0;

	cli_keep_lines(run->cli);
	column_print_csv_names(&run->choice, run->cli->out.file);
	for (size_t i = 0; !err && i < run->list.cnt && !ferror(run->cli->out.file); i++)
		err = column_print_csv(&run->choice, run->context, run->list.rows[i], run->cli->out.file);
	return err;
}

/* A row of the document: of all columns. */
static void members_json(struct analysis_run *run, const void *row, struct json *json)
{
	for (const struct column *column = run->analysis->columns; column->name; column++) {
		if (run->analysis->has_own_json || column->flags & COLUMN_TABLE_ONLY ||
		    !column_is_of(column, run->variant))
			continue;
		if (column->json)
			column->json(run->context, row, json);
		else
			column_member_json(column, run->context, row, json);
	}
	if (run->analysis->row_json)
		run->analysis->row_json(run, row, json);
}

static void rows_json(struct analysis_run *run, struct json *json)
{
	json_name(json, run->is_plain ? "rows" : run->analysis->rows_names[run->variant]);
	json_array_begin(json);
	for (size_t i = 0; i < run->list.cnt; i++) {
		json_object_begin(json);
		if (!run->is_plain)
			members_json(run, run->list.rows[i], json);
		for (size_t j = 0; run->is_plain && j < run->choice.cnt; j++)
			column_member_json(run->choice.columns[j], run->context, run->list.rows[i], json);
		json_object_end(json);
	}
	json_array_end(json);
}

static int print_json(struct analysis_run *run)
{
	const struct analysis *analysis = run->analysis;
	bool has_rows = analysis->rows_names[run->variant];
	struct json json;

	cli_begin_json(run->cli, &json);
	json.is_pretty = !analysis->is_compact || run->is_plain;
	capture_json_begin(&json, analysis->type, &run->input->info);
	if (analysis->head_json && (!run->is_plain || has_rows))
		analysis->head_json(run, &json);
	if (has_rows || run->is_plain)
		rows_json(run, &json);
	if (analysis->tail_json)
		analysis->tail_json(run, &json);
	capture_json_end(&json, run->census);
	return cli_finish_json(run->cli, &json);
}

/* Whether the rows come as they are, or in the command's own form. */
static bool is_plain(const struct analysis_run *run)
{
	const struct analysis *analysis = run->analysis;

	if (run->common->columns || run->common->wants_csv)
		return true;
	return run->sort &&
	       !(run->common->wants_json ? analysis->rows_names[run->variant] != NULL : analysis->sorts_text);
}

static int print_document(struct analysis_run *run)
{
	char title[64];
	int err = document_begin(run->cli, run->common->wants_html ? DOCUMENT_HTML : DOCUMENT_MARKDOWN),
	    failed;

	if (err)
		return err;
	err = print_text(run);
	snprintf(title, sizeof(title), "%s %s", run->cli->program, run->analysis->type);
	failed = document_end(run->cli, title);
	return err ? err : failed;
}

static int print(struct analysis_run *run)
{
	int err;

	if (!run->common->columns)
		choose_usual(run);
	err = collect_rows(run);
	if (!err && run->common->wants_csv)
		return print_csv(run);
	if (err || run->common->wants_json)
		return err ? err : print_json(run);
	return run->common->wants_html || run->common->wants_markdown ? print_document(run) : print_text(run);
}

/* ---- reading ---- */

static bool is_wanted(const struct analysis_run *run, const struct txtrace_record *record)
{
	const struct txtrace_string *label = &record->span.label;

	return record->kind != TXTRACE_RECORD_SPAN || !run->common->label || run->analysis->takes_all_spans ||
	       glob_matches(run->common->label, label->bytes, label->length);
}

static int read_once(struct analysis_run *run, const struct analysis_pass *pass)
{
	bool takes_all = pass == &run->analysis->survey, spans_only = run->analysis->spans_only && !takes_all;
	struct txtrace_record record;
	int err = 0;

	while (!err && log_input_next(run->input, &record)) {
		if (run->input->has_begun_capture && pass->begin_capture)
			err = pass->begin_capture(run);
		if (spans_only && record.kind != TXTRACE_RECORD_SPAN)
			continue;
		if (!err && (takes_all || is_wanted(run, &record)))
			err = pass->add(run, &record);
	}
	return !err && pass->finish ? pass->finish(run) : err;
}

/*
 * A further reading says nothing of what is wrong with the log: the one that counts does. A survey reads all
 * of the log, whichever part is wanted.
 */
static int read_again(struct analysis_run *run, const struct analysis_pass *pass,
		      const struct options_result *result)
{
	const struct log_scope *scope = run->cli->scope;
	struct log_input *first = run->input, again;
	int err;

	if (pass == &run->analysis->survey)
		run->cli->scope = NULL;
	err = log_input_open(&again, run->cli, result->operands, result->operand_cnt, true) ? -ECANCELED : 0;
	run->cli->scope = scope;
	if (err)
		return err;
	again.is_quiet = true;
	run->input = &again;
	err = read_once(run, pass);
	log_input_close(&again);
	run->input = first;
	return err;
}

static int analyse(struct analysis_run *run, const struct options_result *result)
{
	const struct analysis *analysis = run->analysis;
	int err;

	run->state = analysis->new (run);
	err = run->state ? 0 : -ENOMEM;
	if (!err && analysis->needs_survey && analysis->needs_survey(run))
		err = read_again(run, &analysis->survey, result);
	err = err ? err : read_once(run, &analysis->passes[0]);
	if (!err && analysis->passes[1].add)
		err = read_again(run, &analysis->passes[1], result);
	err = err ? err : print(run);
	release_rows(&run->list);
	if (run->state)
		analysis->free(run->state);
	return err;
}

static int start(struct cli *cli, const struct analysis *analysis, const struct options_result *result,
		 struct analysis_options *common)
{
	struct analysis_run run = { .cli = cli, .values = common, .common = common };
	struct log_input input;
	int status;

	run.analysis = analysis->choose ? analysis->choose(cli, common) : analysis;
	if (run.analysis && run.analysis->variant_offset)
		run.variant = *(const unsigned int *)((const char *)common + run.analysis->variant_offset);
	status = run.analysis ? check_options(cli, &run) : CLI_FAILED;
	if (status)
		return status;
	common->scope.finds_spans = run.analysis->finds_spans;
	cli->nest = common->nest;
	cli->scope = &common->scope;
	status = log_input_open(&input, cli, result->operands, result->operand_cnt, true);
	if (status)
		return status;
	run.input = &input;
	run.census = &input.census;
	run.context = &run;
	run.is_plain = is_plain(&run);
	return log_input_end(&input, analyse(&run, result), run.analysis->what);
}

int analysis_main(struct cli *cli, const struct analysis *analysis, const struct options *options, int argc,
		  char **argv)
{
	struct options_result result;
	int status = CLI_FAILED;
	void *values = calloc(1, analysis->values_bytes);

	if (!values)
		return cli_fail(cli, "there is not enough memory");
	memcpy(values, analysis->defaults, analysis->values_bytes);
	if (cli_parse(cli, options, argc, argv, values, &result, &status))
		status = start(cli, analysis, &result, values);
	cli->scope = NULL;
	free(values);
	return status;
}
