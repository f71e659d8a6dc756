/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/log_output.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "log/format/record_table.h"
#include "base/named_output.h"
#include "base/text.h"
#include "base/units.h"
#include "log/format/log_format.h"

#define CLOCK_TOLERANCE_NS 20000u

int log_output_check(const char *path, const struct log_input *input)
{
	if (log_input_has_file(input, path))
		return cli_fail(input->cli, "can't write '%s': it is the log that is read", path);
	return CLI_OK;
}

static int fail(struct log_output *output, int err)
{
	return cli_fail(output->cli, "can't write '%s': %s", output->beside.path, named_output_explain(err));
}

int log_output_open(struct log_output *output, struct cli *cli, const char *path,
		    const struct txtrace_log_info *info, enum log_codec codec)
{
	struct log_writer_options options = { .codec = codec };
	int err;

	*output = (struct log_output){ .cli = cli };
	output->clock_ns = info->start_realtime_ns - info->start_monotonic_ns;
	err = log_beside_init(&output->beside, path);
	if (!err)
		err = log_writer_open(&output->writer, log_beside_name(&output->beside), info, &options);
	if (err) {
		log_beside_abort(&output->beside);
		return fail(output, err);
	}
	return CLI_OK;
}

/*
 * Two readings of both clocks differ by the time between them: a recorder's, taken each second, are not split
 * over that.
 */
static bool is_same_clock(uint64_t a, uint64_t b)
{
	return a - b + CLOCK_TOLERANCE_NS <= 2 * CLOCK_TOLERANCE_NS;
}

/* The wall clock was set, or this is another log's record: what follows goes by another pair of readings. */
static int change_clock(struct log_output *output, uint64_t time_ns, uint64_t clock_ns)
{
	int err = log_writer_flush(output->writer);

	log_writer_set_anchor(output->writer, time_ns, time_ns + clock_ns);
	output->clock_ns = clock_ns;
	return err;
}

int log_output_add(struct log_output *output, struct txtrace_record *record, uint64_t clock_ns)
{
	bool is_left_out = record_is_too_long(record); /* in a forged log */
	int err = 0;

	output->too_long_cnt += is_left_out;
	if (record->kind == TXTRACE_RECORD_DAMAGE || is_left_out)
		return log_writer_skip(output->writer);
	if (!is_same_clock(clock_ns, output->clock_ns))
		err = change_clock(output, record_finished_ns(record), clock_ns);
	if (!err)
		err = log_writer_add(output->writer, record);
	output->record_cnt += !err;
	return err;
}

/* "812 of 29,628 records, 41.3 KiB, are in 'out.txtrace'" */
static void tell(struct log_output *output, uint64_t from_cnt)
{
	char written[UNITS_SIZE], from[UNITS_SIZE], size[UNITS_SIZE];
	struct text path = { 0 };
	struct stat status;

	if (stat(output->beside.path, &status) != 0 || !S_ISREG(status.st_mode))
		return;
	text_append_escaped(&path, output->beside.path, strlen(output->beside.path));
	fprintf(output->cli->out.file, "%s of %s records, %s, are in '%s'\n",
		units_format_count(written, output->record_cnt), units_format_count(from, from_cnt),
		units_format_size(size, (uint64_t)status.st_size), text_string(&path));
	text_release(&path);
}

static int finish(struct log_output *output, int err)
{
	if (err) {
		log_writer_abort(output->writer);
	} else {
		err = log_writer_close(output->writer);
		if (!err)
			return log_beside_commit(&output->beside);
	}
	log_beside_abort(&output->beside);
	return err;
}

static int end(struct log_output *output, int err)
{
	err = finish(output, err);
	cli_hide_progress(output->cli);
	return err;
}

void log_output_abort(struct log_output *output)
{
	end(output, -ECANCELED);
}

int log_output_close(struct log_output *output, int err, uint64_t from_cnt)
{
	err = end(output, err);
	if (err)
		return fail(output, err);
	tell(output, from_cnt);
	if (!output->too_long_cnt)
		return CLI_OK;
	cli_warn(output->cli,
		 "%llu records have strings longer than a log may have, and are skipped: that log was not "
		 "written by txtrace",
		 (unsigned long long)output->too_long_cnt);
	return CLI_INCOMPLETE;
}
