/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/units.h"
#include "cli/files/capture_info.h"
#include "cli/commands/command.h"
#include "cli/exit_status.h"
#include "cli/print/cost_print.h"
#include "cli/files/log_input.h"
#include "cli/files/log_scope.h"
#include "cli/files/stdin_log.h"

struct info_options {
	bool wants_json;
	struct log_scope scope;
};

static const struct option_spec specs[] = {
	OPTION("json", 0, OPTION_FLAG, NULL, "write one JSON object",
	       offsetof(struct info_options, wants_json)),
	OPTIONS_SCOPE(struct info_options, scope),
	OPTION_END,
};

static const struct options options = {
	.program = "txtrace info",
	.about = "Describes a log: its program, host and time, the options it was recorded with, the number "
		 "of records of each kind, and what was lost or is damaged.",
	.usages = (const char *const[]){ "FILE\xe2\x80\xa6", NULL },
	.specs = specs,
	.examples = (const struct option_example[]){
		{ "txtrace info bank.txtrace", "Check whether a log is complete." },
		{ NULL, NULL },
	},
	.notes = exit_status_notes,
	.operand = "FILE",
	.operand_min = 1,
	.operand_max = -1,
};

/* ---- for people ---- */

static void add(struct table *table, const char *name, const char *what)
{
	struct text text = { 0 };

	text_append_escaped(&text, what, strlen(what));
	table_cell(table, TABLE_DIM, name);
	table_cell(table, TABLE_PLAIN, text.length ? text_string(&text) : "unknown");
	text_release(&text);
}

static void add_hex(struct table *table, const char *name, const uint8_t bytes[16])
{
	struct text text = { 0 };

	for (unsigned int i = 0; i < 16; i++)
		text_append_format(&text, "%02x", bytes[i]);
	add(table, name, text_string(&text));
	text_release(&text);
}

static void add_header(struct table *table, const struct txtrace_log_info *info)
{
	struct text text = { 0 };

	text_append_format(&text, "txtrace log, version %u.%u", info->version_major, info->version_minor);
	add(table, "format", text_string(&text));
	text_clear(&text);
	add(table, "recorder", info->recorder);
	add(table, "options", info->options);
	capture_append_scope(&text, info);
	if (text.length > 2)
		add(table, "scope", text_string(&text) + 2);
	add(table, "command", info->command);
	text_clear(&text);
	text_append_format(&text, "%" PRIu32, info->pid);
	add(table, "pid", info->pid ? text_string(&text) : "several");
	add(table, "host", info->host);
	add(table, "kernel", info->kernel);
	text_clear(&text);
	text_append_format(&text, "%" PRIu32, info->cpu_cnt);
	add(table, "CPUs", text_string(&text));
	add_hex(table, "capture", info->capture_id);
	add_hex(table, "boot", info->boot_id);
	text_release(&text);
}

static void append_processes(struct text *text, uint64_t cnt)
{
	char count[UNITS_SIZE];

	text_append_format(text, "%s process%s", units_format_count(count, cnt), cnt == 1 ? "" : "es");
}

/* The options say which way was wanted; not every process may have gone it. */
static void add_marks(struct table *table, const struct txtrace_summary *summary)
{
	struct text text = { 0 };

	if (!summary->memory_process_cnt && !summary->unread_process_cnt)
		return;
	text_append(&text, "read in shared memory: ");
	append_processes(&text, summary->memory_process_cnt);
	if (summary->unread_process_cnt) {
		text_append(&text, "; not readable: ");
		append_processes(&text, summary->unread_process_cnt);
	}
	add(table, "marks", text_string(&text));
	text_release(&text);
}

static void add_times(struct table *table, const struct txtrace_log_info *info,
		      const struct log_census *census)
{
	struct text text = { 0 };
	char duration[UNITS_SIZE];

	capture_append_time(&text, info, info->start_monotonic_ns);
	add(table, "started", text_string(&text));
	text_clear(&text);
	if (census->has_time) {
		capture_append_time(&text, info, census->first_ns);
		text_append(&text, " to ");
		capture_append_time(&text, info, census->last_ns);
		text_append_format(&text, ": %s",
				   units_format_duration(duration, census->last_ns - census->first_ns));
	} else {
		text_append(&text, "none: there are no records");
	}
	add(table, "times", text_string(&text));
	text_release(&text);
}

static void add_size(struct table *table, uint64_t file_bytes, const struct log_census *census)
{
	uint64_t record_cnt = 0, span_cnt = census->record_cnt[TXTRACE_RECORD_SPAN];
	char size[UNITS_SIZE], count[UNITS_SIZE];
	struct text text = { 0 };

	for (unsigned int kind = 0; kind < TXTRACE_RECORD_DAMAGE; kind++)
		record_cnt += census->record_cnt[kind];
	text_append_format(&text, "%s, %s record%s", units_format_size(size, file_bytes),
			   units_format_count(count, record_cnt), record_cnt == 1 ? "" : "s");
	if (record_cnt > 0)
		text_append_format(&text, "; %.1f bytes per record", (double)file_bytes / (double)record_cnt);
	if (span_cnt > 0)
		text_append_format(&text, ", %.1f per span with all that belongs to it",
				   (double)file_bytes / (double)span_cnt);
	add(table, "size", text_string(&text));
	text_release(&text);
}

static void add_counts(struct table *table, const struct log_census *census)
{
	static const struct {
		const char *name;
		size_t offset;
	} span_kinds[] = {
		{ "lower bounds", offsetof(struct log_census, lower_bound_cnt) },
		{ "unfinished", offsetof(struct log_census, unfinished_cnt) },
		{ "touched by loss", offsetof(struct log_census, touched_by_loss_cnt) },
		{ "keyed", offsetof(struct log_census, keyed_cnt) },
		{ "moved between threads", offsetof(struct log_census, moved_cnt) },
	};
	struct text text = { 0 };
	char count[UNITS_SIZE];

	for (size_t i = 0; i < sizeof(span_kinds) / sizeof(span_kinds[0]); i++) {
		uint64_t cnt = *(const uint64_t *)((const char *)census + span_kinds[i].offset);

		if (cnt > 0)
			text_append_format(&text, "%s%s %s", text.length ? ", " : " (",
					   units_format_count(count, cnt), span_kinds[i].name);
	}
	text_append(&text, text.length ? ")" : "");
	for (unsigned int kind = TXTRACE_RECORD_SPAN; kind < TXTRACE_RECORD_DAMAGE; kind++) {
		if (!txtrace_record_kind_name(kind))
			continue;
		table_cell(table, TABLE_DIM, txtrace_record_kind_name(kind));
		table_cell_format(table, TABLE_PLAIN, "%s%s",
				  units_format_count(count, census->record_cnt[kind]),
				  kind == TXTRACE_RECORD_SPAN ? text_string(&text) : "");
	}
	text_release(&text);
}

/*
 * "part 2", "parts 0 to 7", of the capture that the files are of; nothing of a capture that is in one file.
 */
static void append_parts(struct text *text, const struct log_input *input)
{
	uint32_t first = input->info.part, last = txtrace_log_info(input->log)->part;
	size_t capture_cnt = txtrace_log_capture_cnt(input->log);

	if (capture_cnt > 1)
		text_append_format(
			text, "%zu captures, read one after the other; the following is about the first one",
			capture_cnt);
	else if (first != last)
		text_append_format(text, "parts %" PRIu32 " to %" PRIu32, first, last);
	else if (first > 0 || input->census.is_continued)
		text_append_format(text, "part %" PRIu32, first);
	if (capture_cnt == 1 && input->census.is_continued)
		text_append(text, "; it continues in another file");
}

static void add_files(struct table *table, const struct log_input *input)
{
	size_t cnt = txtrace_log_file_cnt(input->log);
	struct text text = { 0 };

	if (cnt == 1) {
		add(table, "file", stdin_log_name(input->cli, txtrace_log_file(input->log, 0)));
	} else {
		text_append_format(&text, "%zu, from '%s' to '%s'", cnt, txtrace_log_file(input->log, 0),
				   txtrace_log_file(input->log, cnt - 1));
		add(table, "files", text_string(&text));
		text_clear(&text);
	}
	append_parts(&text, input);
	if (text.length > 0)
		add(table, "parts", text_string(&text));
	text_release(&text);
}

static int print_text(struct cli *cli, const struct log_input *input, const struct cost_sums *costs)
{
	static const struct table_column columns[] = { { NULL, TABLE_LEFT, NULL },
						       { NULL, TABLE_LEFT, NULL } };
	const struct txtrace_log_info *info = &input->info;
	struct table *table = table_new(columns, 2);
	int err;

	add_files(table, input);
	add_header(table, info);
	table_line(table, "");
	add_times(table, info, &input->census);
	add_size(table, log_input_total_bytes(input), &input->census);
	add_counts(table, &input->census);
	table_line(table, "");
	add_marks(table, &input->census.summary);
	cost_add_totals(table, costs);
	capture_add_losses(table, &input->census);
	err = screen_print_table(&cli->out, table);
	table_free(table);
	return err;
}

/* ---- for machines ---- */

static int print_json(struct cli *cli, const struct log_input *input, const struct cost_sums *costs)
{
	const struct log_census *census = &input->census;
	struct json json;

	cli_begin_json(cli, &json);
	json_object_begin(&json);
	json_member_text(&json, "type", "info");
	json_member_text(&json, "file", input->path);
	json_member_u64(&json, "files", txtrace_log_file_cnt(input->log));
	json_member_u64(&json, "captures", txtrace_log_capture_cnt(input->log));
	json_member_u64(&json, "first_part", input->info.part);
	json_member_u64(&json, "last_part", txtrace_log_info(input->log)->part);
	json_member_u64(&json, "file_bytes", log_input_total_bytes(input));
	capture_json(&json, &input->info);
	json_name(&json, "records");
	json_object_begin(&json);
	for (unsigned int kind = TXTRACE_RECORD_SPAN; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		if (txtrace_record_kind_name(kind))
			json_member_u64(&json, txtrace_record_kind_name(kind), census->record_cnt[kind]);
	json_object_end(&json);
	json_name(&json, "spans");
	json_object_begin(&json);
	json_member_u64(&json, "lower_bounds", census->lower_bound_cnt);
	json_member_u64(&json, "unfinished", census->unfinished_cnt);
	json_member_u64(&json, "touched_by_loss", census->touched_by_loss_cnt);
	json_member_u64(&json, "keyed", census->keyed_cnt);
	json_member_u64(&json, "moved", census->moved_cnt);
	json_object_end(&json);
	cost_totals_json(&json, costs);
	capture_json_end(&json, census);
	return cli_finish_json(cli, &json);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct info_options values = { .wants_json = false };
	struct options_result result;
	struct cost_sums costs = { .record_cnt = 0 };
	struct txtrace_record record;
	struct log_input input;
	int status, err;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	values.scope.finds_spans = values.scope.needs_no_names = true;
	cli->scope = &values.scope;
	status = log_input_open(&input, cli, result.operands, result.operand_cnt, true);
	if (status)
		return status;
	while (log_input_next(&input, &record)) /* the input counts them */
		if (record.kind == TXTRACE_RECORD_COST)
			cost_sums_add(&costs, &record.cost);
	cost_sums_see_capture(&costs, &input.info);
	err = values.wants_json ? print_json(cli, &input, &costs) : print_text(cli, &input, &costs);
	return log_input_end(&input, err, "show");
}

const struct command command_info = { "info", "describe a log, and say whether it is complete", &options,
				      .run = run };
