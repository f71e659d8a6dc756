/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/log_copy.h"

#include <string.h>

#include "cli/files/log_output.h"
#include "log/format/log_format.h"

int log_copy_check_output(struct cli *cli, const char *command, const char *output)
{
	if (!output)
		return cli_fail(cli, "where to? give --output, see 'txtrace help %s'", command);
	if (strcmp(output, "-") == 0)
		return cli_fail(cli, "a log has to be a file: give its name with --output");
	return CLI_OK;
}

int log_copy_warn_newer(const struct log_input *input)
{
	const struct txtrace_log_info *info = &input->info;

	if (info->version_minor <= LOG_VERSION_MINOR)
		return CLI_OK;
	cli_warn(input->cli,
		 "'%s' was written by a newer version of txtrace (format %u.%u): records that this version "
		 "does not know are skipped",
		 input->path, info->version_major, info->version_minor);
	return CLI_INCOMPLETE;
}

static int copy_record(const struct log_copy *copy, const struct log_input *input, struct log_output *output,
		       struct txtrace_record *record)
{
	int result = 1;

	if (record->kind == TXTRACE_RECORD_DAMAGE && input->census.has_summary)
		return 0; /* of the index: no record follows a summary */
	if (copy->change && record->kind != TXTRACE_RECORD_DAMAGE)
		result = copy->change(copy->context, record);
	return result > 0 ? log_output_add(output, record, txtrace_log_realtime_ns(input->log, 0)) : result;
}

static int copy_records(const struct log_copy *copy, struct log_input *input)
{
	struct txtrace_log_info info = input->info;
	struct txtrace_record record;
	struct log_output output;
	uint64_t from_cnt = 0;
	int status, err;

	err = copy->change_info ? copy->change_info(copy->context, &info) : 0;
	if (err)
		return cli_fail(input->cli, "can't write '%s': %s", copy->output, strerror(-err));
	status = log_output_open(&output, input->cli, copy->output, &info, copy->codec);
	if (status)
		return status;
	while (!err && log_input_next(input, &record)) {
		from_cnt += record.kind != TXTRACE_RECORD_DAMAGE;
		err = copy_record(copy, input, &output, &record);
	}
	return log_output_close(&output, err, from_cnt);
}

int log_copy_from(const struct log_copy *copy, struct log_input *input)
{
	int newer = log_copy_warn_newer(input), status = log_output_check(copy->output, input), input_status;

	if (status == CLI_OK)
		status = log_input_check_one_capture(input);
	if (status == CLI_OK)
		status = copy_records(copy, input);
	input_status = log_input_close(input);
	if (status == CLI_OK)
		status = input_status;
	return status == CLI_OK ? newer : status;
}

int log_copy(struct cli *cli, const struct log_copy *copy)
{
	struct log_input input;
	int status = log_input_open(&input, cli, copy->inputs, copy->input_cnt, true);

	return status == CLI_OK ? log_copy_from(copy, &input) : status;
}
