/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/log_input.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "cli/capture_info.h"

#define DAMAGE_LINES_MAX 10 /* more are only counted */

int log_input_open(struct log_input *input, struct cli *cli, const char *path, bool wants_progress)
{
	int err;

	*input = (struct log_input){ .cli = cli, .path = path };
	err = txtrace_log_open(&input->log, path);
	if (err) {
		cli_fail(cli, "can't read '%s': %s", path, txtrace_log_strerror(input->log, err));
		txtrace_log_close(input->log);
		return CLI_FAILED;
	}
	progress_init(&input->progress, cli, wants_progress);
	return CLI_OK;
}

/* ---- records ---- */

static void tell_damage(struct log_input *input, const struct txtrace_damage *damage)
{
	char records[UNITS_SIZE + 32] = "", count[UNITS_SIZE];

	if (input->is_quiet || input->damage_line_cnt++ >= DAMAGE_LINES_MAX)
		return;
	if (damage->record_cnt > 0)
		snprintf(records, sizeof(records), " with %s records", units_format_count(count, damage->record_cnt));
	cli_warn(input->cli, "'%s' is damaged at byte %" PRIu64 ": %s; %" PRIu64 " bytes%s are skipped", input->path, damage->offset_bytes,
		 damage->reason ? damage->reason : "unknown reason", damage->length_bytes, records);
}

static void show_progress(struct log_input *input)
{
	uint64_t read_bytes = 0, total_bytes = 0;

	txtrace_log_progress(input->log, &read_bytes, &total_bytes);
	progress_show(&input->progress, read_bytes, total_bytes);
}

bool log_input_next(struct log_input *input, struct txtrace_record *record)
{
	int result = input->is_at_end ? 0 : txtrace_log_next(input->log, record);

	if (result <= 0) {
		if (!input->is_at_end)
			input->err = result;
		input->is_at_end = true;
		cli_hide_progress(input->cli);
		return false;
	}
	if (!input->counted_by)
		log_census_add(&input->census, record);
	if (record->kind == TXTRACE_RECORD_DAMAGE)
		tell_damage(input, &record->damage);
	if (progress_is_due(&input->progress))
		show_progress(input);
	return true;
}

uint64_t log_input_total_bytes(const struct log_input *input)
{
	uint64_t read_bytes = 0, total_bytes = 0;

	txtrace_log_progress(input->log, &read_bytes, &total_bytes);
	return total_bytes;
}

static int tell_missing(struct log_input *input)
{
	const struct log_census *census = input->counted_by ? input->counted_by : &input->census;
	uint64_t damage_cnt = census->record_cnt[TXTRACE_RECORD_DAMAGE];
	char parts[UNITS_SIZE], bytes[UNITS_SIZE];
	struct text missing = { 0 };

	capture_append_missing(&missing, census);
	if (input->err)
		cli_warn(input->cli, "can't read on in '%s': %s; what was read before is shown", input->path,
			 txtrace_log_strerror(input->log, input->err));
	if (damage_cnt > 0)
		cli_warn(input->cli, "'%s' has %s damaged part%s, %s: %s missing from what is shown", input->path,
			 units_format_count(parts, damage_cnt), damage_cnt == 1 ? "" : "s", units_format_size(bytes, census->damaged_bytes),
			 text_string(&missing));
	if (census->is_continued)
		cli_warn(input->cli, "'%s' is part %u of its capture, which goes on in the next part; that is not read here", input->path,
			 txtrace_log_info(input->log)->part);
	else if (!census->has_summary)
		cli_warn(input->cli, "'%s' has no summary: recording did not end cleanly, or is still going on, and its end is missing",
			 input->path);
	text_release(&missing);
	return !input->err && log_census_is_complete(census) ? CLI_OK : CLI_INCOMPLETE;
}

int log_input_close(struct log_input *input)
{
	/* A command that stopped early had its reason, and knows nothing of the rest. */
	int status = input->is_at_end && !input->is_quiet ? tell_missing(input) : CLI_OK;

	cli_hide_progress(input->cli);
	txtrace_log_close(input->log);
	input->log = NULL;
	return status;
}
