/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/log_input.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/thread_nest.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/files/capture_info.h"
#include "cli/files/log_scope.h"
#include "cli/files/output_file.h"
#include "cli/files/stdin_log.h"
#include "log/format/record_table.h"
#include "log/read/log_range.h"
#include "log/format/fvm_marks.h"

#define DAMAGE_LINES_MAX 10 /* more are only counted */

#define THREADS_MAX 3		      /* more are only waiting for the one who takes the records */
#define THREADS_FROM_BYTES (4u << 20) /* smaller logs are read before threads are there */

const char *const log_nest_choices[] = { [LOG_NEST_NONE] = "none", [LOG_NEST_THREAD] = "thread", NULL };

/* ---- opening ---- */

/* One CPU is busy with the records themselves. */
static unsigned int thread_cnt(const struct log_input *input)
{
	const char *wanted = getenv("TXTRACE_THREADS");
	long cpu_cnt = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t cnt;

	if (wanted && units_parse_u64(wanted, &cnt) == 0)
		return cnt < UINT_MAX ? (unsigned int)cnt : UINT_MAX;
	if (log_input_total_bytes(input) < THREADS_FROM_BYTES || cpu_cnt < 2)
		return 0;
	return cpu_cnt > THREADS_MAX ? THREADS_MAX : (unsigned int)cpu_cnt - 1;
}

static int fail_open(struct log_input *input, int err)
{
	const char *path = stdin_log_name(input->cli, txtrace_log_path(input->log));

	return cli_fail(input->cli, "can't read '%s': %s%s", path ? path : input->path,
			txtrace_log_strerror(input->log, err),
			err == -ESPIPE ? "; '-' reads one from the standard input" : "");
}

static void forget(struct log_input *input)
{
	txtrace_log_close(input->log);
	thread_nest_free(input->nest);
	log_filter_free(input->filter);
	free(input->several);
	input->nest = NULL;
	input->filter = NULL;
	input->log = NULL;
	input->several = NULL;
}

static void begin(struct log_input *input, bool wants_progress)
{
	input->info = *txtrace_log_info(input->log);
	memcpy(input->capture_id, input->info.capture_id, sizeof(input->capture_id));
	progress_init(&input->progress, input->cli, wants_progress);
}

/* What is wrong with the log is told by the reading that follows. */
static int learn_all(struct thread_nest *nest, struct txtrace_log *log)
{
	struct txtrace_record record;
	uint8_t capture_id[16];
	bool has_begun = false;
	int err = 0;

	while (!err && txtrace_log_next(log, &record) > 0) {
		const struct txtrace_log_info *info = txtrace_log_info(log);
		bool is_another = has_begun && record.kind != TXTRACE_RECORD_DAMAGE &&
				  memcmp(info->capture_id, capture_id, sizeof(capture_id)) != 0;

		if (!has_begun || is_another)
			memcpy(capture_id, info->capture_id, sizeof(capture_id));
		has_begun |= record.kind != TXTRACE_RECORD_DAMAGE;
		err = thread_nest_learn(nest, &record, is_another);
	}
	thread_nest_settle(nest);
	return err;
}

static int learn_nest(struct log_input *input, char *const *paths, int path_cnt)
{
	struct txtrace_log *log = NULL;
	int err = txtrace_log_open_files(&log, (const char *const *)paths, (size_t)path_cnt);

	input->nest = err ? NULL : thread_nest_new(0);
	if (input->nest) {
		txtrace_log_set_threads(log, thread_cnt(input));
		err = learn_all(input->nest, log);
	} else if (!err) {
		err = -ENOMEM;
	}
	txtrace_log_close(log);
	if (!err)
		return CLI_OK;
	cli_fail(input->cli, "can't find the parents of '%s': %s%s", input->path, strerror(-err),
		 err == -ENOMEM ? "; 'txtrace slice' makes a smaller log of it" : "");
	return CLI_FAILED;
}

static int open_all(struct log_input *input, char *const *paths, int path_cnt, bool wants_progress)
{
	int err = txtrace_log_open_files(&input->log, (const char *const *)paths, (size_t)path_cnt);

	if (err)
		return fail_open(input, err);
	/* where there can be none, it is read without */
	txtrace_log_set_threads(input->log, thread_cnt(input));
	begin(input, wants_progress);
	if (fvm_is_gas(input->info.options) && !input->cli->is_of_gas)
		cli_warn(input->cli,
			 "'%s' counts gas, not time: read each ns as 1 milligas, or see 'txtrace gas'",
			 input->path);
	if (log_filter_new(&input->filter, input->cli->scope, input, paths, path_cnt))
		return CLI_FAILED;
	return input->cli->nest == LOG_NEST_THREAD ? learn_nest(input, paths, path_cnt) : CLI_OK;
}

int log_input_open(struct log_input *input, struct cli *cli, char *const *paths, int path_cnt,
		   bool wants_progress)
{
	char **opened = calloc((size_t)path_cnt, sizeof(*opened));
	int status = CLI_OK;

	*input = (struct log_input){ .cli = cli, .path = paths[0] };
	if (path_cnt > 1 && asprintf(&input->several, "%s and %d more", paths[0], path_cnt - 1) < 0)
		input->several = NULL;
	if (!opened || (path_cnt > 1 && !input->several))
		status = cli_fail(cli, "there is not enough memory");
	input->path = input->several ? input->several : paths[0];
	for (int i = 0; status == CLI_OK && i < path_cnt; i++) {
		opened[i] = strcmp(paths[i], "-") == 0 ? (char *)(uintptr_t)stdin_log_path(cli) : paths[i];
		status = opened[i] ? CLI_OK : CLI_FAILED;
	}
	if (status == CLI_OK)
		status = open_all(input, opened, path_cnt, wants_progress);
	free(opened);
	if (status)
		forget(input);
	return status;
}

int log_input_follow(struct log_input *input, struct cli *cli, const char *path, bool *is_too_early)
{
	int err;

	*input = (struct log_input){ .cli = cli, .path = path };
	err = txtrace_log_follow(&input->log, path);
	*is_too_early = err == -EAGAIN;
	if (err) {
		if (!*is_too_early)
			fail_open(input, err);
		forget(input);
		return CLI_FAILED;
	}
	cli_stream(cli);
	begin(input, false);
	if (log_filter_new(&input->filter, cli->scope, input, NULL, 0) == CLI_OK)
		return CLI_OK;
	forget(input);
	return CLI_FAILED;
}

int log_input_seek(struct log_input *input, uint64_t time_ns)
{
	return log_input_seek_range(input, time_ns, 0);
}

int log_input_seek_range(struct log_input *input, uint64_t from_ns, uint64_t to_ns)
{
	int err = log_seek_range(input->log, from_ns, to_ns);

	input->has_sought = true;
	if (err)
		return cli_fail(input->cli, "can't read '%s': %s", input->path,
				txtrace_log_strerror(input->log, err));
	return CLI_OK;
}

/* ---- records ---- */

static void tell_damage(struct log_input *input, const struct txtrace_damage *damage)
{
	char records[UNITS_SIZE + 32] = "", count[UNITS_SIZE];

	if (input->is_quiet || input->census.record_cnt[TXTRACE_RECORD_DAMAGE] >= DAMAGE_LINES_MAX)
		return;
	if (damage->record_cnt > 0)
		snprintf(records, sizeof(records), " with %s records",
			 units_format_count(count, damage->record_cnt));
	cli_warn(input->cli, "'%s' is damaged at byte %" PRIu64 ": %s; %" PRIu64 " bytes%s are skipped",
		 stdin_log_name(input->cli, txtrace_log_path(input->log)), damage->offset_bytes,
		 damage->reason ? damage->reason : "unknown reason", damage->length_bytes, records);
}

/* Of a damaged header, the id is known from the first batch on. */
static void see_capture(struct log_input *input)
{
	const struct txtrace_log_info *info = txtrace_log_info(input->log);

	if (memcmp(info->capture_id, input->capture_id, sizeof(input->capture_id)) == 0)
		return;
	memcpy(input->capture_id, info->capture_id, sizeof(input->capture_id));
	if (input->census.has_time) {
		input->has_begun_capture = true;
		log_census_begin_capture(&input->census);
	} else {
		input->info = *info;
	}
}

/* For each record: it is worth 1 % of a report that this is no call. */
static inline __attribute__((always_inline)) void see_record(struct log_input *input,
							     const struct txtrace_record *record)
{
	uint64_t read_bytes = 0, total_bytes = 0;

	if (record->kind == TXTRACE_RECORD_DAMAGE)
		tell_damage(input, &record->damage);
	else
		see_capture(input);
	if (progress_is_due(&input->progress)) {
		txtrace_log_progress(input->log, &read_bytes, &total_bytes);
		progress_show(&input->progress, read_bytes, total_bytes);
	}
}

/* The next record that the filter lets through; *is_name: it is not in the range. As txtrace_log_next(). */
static int next_filtered(struct log_input *input, struct txtrace_record *record, bool *is_name)
{
	enum log_filter_choice choice = LOG_FILTER_SKIP;
	int result;

	while ((result = txtrace_log_next(input->log, record)) > 0) {
		choice = log_filter_choose(input->filter, input->log, record);
		*is_name = choice == LOG_FILTER_NAME;
		if (!input->before_ns && !input->census.has_time)
			input->before_ns = record_began_ns(record);
		if (choice == LOG_FILTER_TAKE || *is_name)
			break;
		if (choice == LOG_FILTER_SEEK) {
			input->has_sought = true;
			result = log_filter_seek(input->filter, input->log);
			if (result)
				break;
		} else {
			see_record(input, record);
		}
	}
	return result;
}

uint64_t log_input_begin_ns(const struct log_input *input)
{
	return input->before_ns ? input->before_ns : input->census.first_ns;
}

bool log_input_next(struct log_input *input, struct txtrace_record *record)
{
	bool is_name = false;
	int result;

	if (input->is_at_end)
		return false;
	input->has_begun_capture = false;
	result = input->filter ? next_filtered(input, record, &is_name)
			       : txtrace_log_next(input->log, record);
	if (result <= 0) {
		input->is_at_end = result < 0 || txtrace_log_is_at_end(input->log);
		input->err = result;
		cli_hide_progress(input->cli);
		return false;
	}
	see_record(input, record);
	if (input->nest)
		thread_nest_apply(input->nest, record, input->has_begun_capture);
	if (!is_name)
		log_census_add(&input->census, record);
	return true;
}

int log_input_check_one_capture(const struct log_input *input)
{
	size_t cnt = txtrace_log_capture_cnt(input->log);

	if (cnt <= 1)
		return CLI_OK;
	return cli_fail(input->cli,
			"'%s' is of %zu captures: this works on one capture, and 'txtrace merge' makes one "
			"log of those that are each given by "
			"a file or a directory of its own",
			input->path, cnt);
}

bool log_input_has_file(const struct log_input *input, const char *path)
{
	for (size_t i = 0; i < txtrace_log_file_cnt(input->log); i++) {
		if (file_is_same(path, txtrace_log_file(input->log, i)))
			return true;
	}
	return false;
}

uint64_t log_input_total_bytes(const struct log_input *input)
{
	uint64_t read_bytes = 0, total_bytes = 0;

	txtrace_log_progress(input->log, &read_bytes, &total_bytes);
	return total_bytes;
}

/* A capture of which there are other files. */
static void tell_parts(struct log_input *input)
{
	bool is_one = txtrace_log_file_cnt(input->log) == 1, lacks_end = input->census.is_continued;
	uint32_t part = input->info.part;

	if (is_one && (part > 0 || lacks_end))
		cli_warn(input->cli,
			 "'%s' is part %u of its capture; what comes %s it is in other files: give them, "
			 "too, or their directory",
			 input->path, part,
			 !lacks_end ? "before"
			 : part > 0 ? "before and after"
				    : "after");
	if (!is_one && part > 0)
		cli_warn(input->cli,
			 "'%s' begins with part %u of its capture; what comes before is in other files, or "
			 "was removed",
			 input->path, part);
	if (!is_one && lacks_end)
		cli_warn(input->cli,
			 "'%s' ends with part %u of its capture; what comes after it is in other files",
			 input->path, txtrace_log_info(input->log)->part);
}

/* A summary that was passed over is not missed. */
static bool has_end(const struct log_input *input)
{
	return input->census.has_summary || input->census.is_continued ||
	       (input->has_sought && txtrace_log_is_complete(input->log));
}

static int tell_missing(struct log_input *input)
{
	const struct log_census *census = &input->census;
	bool is_complete = log_census_is_complete(census) ||
			   (input->has_sought && txtrace_log_is_complete(input->log));
	uint64_t damage_cnt = census->record_cnt[TXTRACE_RECORD_DAMAGE];
	char parts[UNITS_SIZE], bytes[UNITS_SIZE];
	struct text missing = { 0 };

	capture_append_missing(&missing, census);
	if (input->err)
		cli_warn(input->cli, "can't read on in '%s': %s; what was read before is shown", input->path,
			 txtrace_log_strerror(input->log, input->err));
	if (damage_cnt > 0)
		cli_warn(input->cli, "'%s' has %s damaged part%s, %s: %s missing from what is shown",
			 input->path, units_format_count(parts, damage_cnt), damage_cnt == 1 ? "" : "s",
			 units_format_size(bytes, census->damaged_bytes), text_string(&missing));
	tell_parts(input);
	if (!has_end(input))
		cli_warn(input->cli,
			 "'%s' has no summary: recording did not end cleanly, or is still going on, and its "
			 "end is missing",
			 input->path);
	else if (census->unclosed_capture_cnt > 0)
		cli_warn(input->cli,
			 "'%s' has captures without a summary: their recording did not end cleanly, and "
			 "their end is missing",
			 input->path);
	text_release(&missing);
	return !input->err && !damage_cnt && is_complete ? CLI_OK : CLI_INCOMPLETE;
}

int log_input_close(struct log_input *input)
{
	/* A command that stopped early had its reason, and knows nothing of the rest. */
	int status = input->is_at_end && !input->is_quiet ? tell_missing(input) : CLI_OK;

	cli_hide_progress(input->cli);
	forget(input);
	return status;
}

int log_input_end(struct log_input *input, int err, const char *what)
{
	int status;

	if (err && err != -ECANCELED)
		cli_fail(input->cli, "can't %s '%s': %s", what, input->path, strerror(-err));
	status = log_input_close(input);
	return err ? CLI_FAILED : status;
}
