/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/files/block_check.h"
#include "analyze/files/log_check.h"
#include "analyze/files/log_cut.h"
#include "base/units.h"
#include "cli/files/capture_info.h"
#include "cli/commands/command.h"
#include "cli/files/log_input.h"

#define LIMIT_MAX 100000

struct verify_options {
	uint64_t limit;
	uint64_t max_memory_bytes;
	bool wants_json;
};

static const struct option_spec specs[] = {
	OPTION("limit", 'n', OPTION_U64, "N",
	       "list the first N problems of each check (default 10)",
	       offsetof(struct verify_options, limit), .maximum = LIMIT_MAX),
	OPTION("max-memory", 0, OPTION_SIZE, "SIZE",
	       "use at most this much memory for spans and threads; beyond it, references are not checked "
	       "(default 256M, for 6 million spans)",
	       offsetof(struct verify_options, max_memory_bytes), .minimum = 1 << 16),
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object",
	       offsetof(struct verify_options, wants_json)),
	OPTION_END,
};

static const char *const notes[] = {
	"Exit status: 0 the log is sound; 1 it is not; 2 wrong usage, a log that can't be read, or output "
	"that can't be written.",
	NULL,
};

static const struct options options = {
	.program = "txtrace verify",
	.about = "Checks whether a log is sound: checksums, index, ledgers that add up to the nanosecond, "
		 "flags, times and order of the records, parents, spans and threads that records refer to, "
		 "and the recorder's own counts. A problem is listed but does not count if lost events, or a "
		 "program that misused its marks, explain it.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace verify bank.txtrace && mv bank.txtrace archive/",
		  "Check a log before it is archived." },
		{ NULL, NULL },
	},
	.notes = notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* Counted are only problems without an excuse. */
static uint64_t count_problems(const struct log_check *check)
{
	uint64_t cnt = 0;

	for (unsigned int kind = 0; kind < LOG_CHECK_COUNT; kind++) {
		const struct log_check_result *result = log_check_result(check, kind);

		cnt += result->excuse ? 0 : result->problem_cnt;
	}
	return cnt;
}

/* ---- for people ---- */

static void add_row(struct table *table, const struct log_check *check, enum log_check_kind kind)
{
	const struct log_check_result *result = log_check_result(check, kind);
	const char *style = !result->problem_cnt ? TABLE_PLAIN : result->excuse ? "33" : "1;31";
	struct text note = { 0 };
	char count[UNITS_SIZE];

	table_cell(table, style, log_check_name(kind));
	table_cell(table, TABLE_PLAIN, units_format_count(count, result->checked_cnt));
	table_cell(table, style, units_format_count(count, result->problem_cnt));
	if (result->problem_cnt > 0 && result->excuse)
		text_append_format(&note, "no wonder: %s", result->excuse);
	if (result->unchecked)
		text_append_format(&note, "%snot checked: %s", note.length ? "; " : "", result->unchecked);
	table_cell(table, TABLE_PLAIN, text_string(&note));
	text_release(&note);
}

static int print_checks(struct cli *cli, const struct log_check *check)
{
	static const struct table_column columns[] = {
		{ "check", TABLE_LEFT, NULL },
		{ "looked at", TABLE_RIGHT, NULL },
		{ "problems", TABLE_RIGHT, NULL },
		{ NULL, TABLE_LEFT, NULL },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	for (unsigned int kind = 0; kind < LOG_CHECK_COUNT; kind++)
		add_row(table, check, kind);
	err = screen_print_table(&cli->out, table);
	table_free(table);
	return err;
}

static void print_problems(struct cli *cli, const struct log_check *check)
{
	const struct log_check_problem *problem, *next;
	char number[UNITS_SIZE];
	uint64_t listed = 0;

	for (size_t i = 0; (problem = log_check_problem(check, i)); i++) {
		uint64_t problem_cnt = log_check_result(check, problem->kind)->problem_cnt;

		if (listed++ == 0)
			fprintf(cli->out.file, "\n%s\n", log_check_name(problem->kind));
		if (problem->record_number > 0)
			fprintf(cli->out.file, "  record %" PRIu64 ": %s\n", problem->record_number,
				problem->what);
		else
			fprintf(cli->out.file, "  %s\n", problem->what);
		next = log_check_problem(check, i + 1);
		if (next && next->kind == problem->kind)
			continue;
		if (listed < problem_cnt)
			fprintf(cli->out.file, "  and %s more\n",
				units_format_count(number, problem_cnt - listed));
		listed = 0;
	}
}

static int print_text(struct cli *cli, const struct log_input *input, const struct log_check *check)
{
	uint64_t problem_cnt = count_problems(check);
	struct text path = { 0 };
	char count[UNITS_SIZE];
	int err = print_checks(cli, check);

	print_problems(cli, check);
	text_append_escaped(&path, input->path, strlen(input->path));
	if (log_check_is_sound(check))
		fprintf(cli->out.file, "\n'%s' is sound\n", text_string(&path));
	else
		fprintf(cli->out.file, "\n'%s' is not sound: %s problem%s\n", text_string(&path),
			units_format_count(count, problem_cnt), problem_cnt == 1 ? "" : "s");
	err = err ? err : path.err;
	text_release(&path);
	return err;
}

/* ---- for machines ---- */

static void checks_json(struct json *json, const struct log_check *check)
{
	json_name(json, "checks");
	json_object_begin(json);
	for (unsigned int kind = 0; kind < LOG_CHECK_COUNT; kind++) {
		const struct log_check_result *result = log_check_result(check, kind);

		json_name(json, log_check_name(kind));
		json_object_begin(json);
		json_member_u64(json, "checked", result->checked_cnt);
		json_member_u64(json, "problems", result->problem_cnt);
		json_member_text(json, "excuse", result->problem_cnt > 0 ? result->excuse : NULL);
		json_member_text(json, "unchecked", result->unchecked);
		json_object_end(json);
	}
	json_object_end(json);
}

static void problems_json(struct json *json, const struct log_check *check)
{
	const struct log_check_problem *problem;

	json_name(json, "problems");
	json_array_begin(json);
	for (size_t i = 0; (problem = log_check_problem(check, i)); i++) {
		json_object_begin(json);
		json_member_text(json, "check", log_check_name(problem->kind));
		if (problem->record_number > 0) {
			json_member_u64(json, "record", problem->record_number);
			json_member_u64(json, "time_ns", problem->time_ns);
		} else {
			json_member_null(json, "record");
			json_member_null(json, "time_ns");
		}
		json_member_text(json, "what", problem->what);
		json_object_end(json);
	}
	json_array_end(json);
}

static int print_json(struct cli *cli, const struct log_input *input, const struct log_check *check)
{
	struct json json;

	cli_begin_json(cli, &json);
	json_object_begin(&json);
	json_member_text(&json, "type", "verify");
	json_member_text(&json, "file", input->path);
	json_member_bool(&json, "sound", log_check_is_sound(check));
	checks_json(&json, check);
	problems_json(&json, check);
	capture_json(&json, &input->info);
	capture_json_end(&json, &input->census);
	return cli_finish_json(cli, &json);
}

/* The second reading, of what the file says about itself. */
static void tell(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
	struct progress *progress = context;

	if (progress_is_due_after_long(progress))
		progress_show(progress, done_bytes, total_bytes);
}

/* Where something is damaged, headers and index can't agree with the rest. */
static int check_files(struct log_check *check, struct log_input *input)
{
	size_t file_cnt = txtrace_log_file_cnt(input->log);
	int err = 0;

	if (input->census.record_cnt[TXTRACE_RECORD_DAMAGE] || input->err)
		return 0;
	for (size_t i = 0; !err && i < file_cnt; i++)
		err = block_check(check, txtrace_log_file(input->log, i), tell, &input->progress);
	return err;
}

static int verify(struct cli *cli, const struct verify_options *values, struct log_input *input)
{
	bool is_slice = strstr(input->info.options, LOG_CUT_MARK);
	struct log_check *check = log_check_new(values->max_memory_bytes, values->limit, is_slice);
	struct txtrace_record record;
	int status, err;

	if (!check)
		return cli_fail(cli, "there is not enough memory");
	if (input->info.part > 0)
		log_check_excuse_parts(check);
	while (log_input_next(input, &record)) {
		if (input->has_begun_capture)
			log_check_begin_capture(check);
		log_check_add(check, &record);
	}
	log_check_finish(check);
	err = check_files(check, input);
	cli_hide_progress(cli);
	if (err) {
		log_check_free(check);
		return cli_fail(cli, "can't verify '%s': %s", input->path, strerror(-err));
	}
	status = log_check_is_sound(check) ? CLI_OK : CLI_INCOMPLETE;
	err = values->wants_json ? print_json(cli, input, check) : print_text(cli, input, check);
	log_check_free(check);
	if (input->err)
		return cli_fail(cli, "can't read on in '%s': %s", input->path,
				txtrace_log_strerror(input->log, input->err));
	return err ? cli_fail(cli, "can't verify '%s': %s", input->path, strerror(-err)) : status;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct verify_options values = { .limit = 10, .max_memory_bytes = 256u << 20 };
	struct options_result result;
	struct log_input input;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	input.is_quiet = true; /* all of it is part of what is printed */
	status = verify(cli, &values, &input);
	log_input_close(&input);
	return status;
}

const struct command command_verify = { "verify",
					"check a log: checksums, ledgers, order, references",
					&options, .run = run };
