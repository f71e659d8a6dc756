/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/view/view_log.h"

#include <errno.h>
#include <string.h>

#include "cli/exit_status.h"

/* what mostly has room in a page; view_page_write() sees to the rest */
#define SPAN_ROOM 100000
#define SEGMENT_ROOM 250000

static int read_all(struct log_input *input, struct view_data *data, bool is_survey)
{
	struct txtrace_record record;
	int err = view_data_begin_capture(data, txtrace_log_info(input->log)->command, is_survey);

	while (!err && log_input_next(input, &record)) {
		if (input->has_begun_capture)
			err = view_data_begin_capture(data, txtrace_log_info(input->log)->command, is_survey);
		if (!err)
			err = is_survey ? view_data_survey(data, &record) : view_data_add(data, &record);
	}
	if (!err)
		err = is_survey ? view_data_end_survey(data, input->census.first_ns)
				: view_data_finish(data, input->census.last_ns);
	return err;
}

static int fail(struct cli *cli, const char *path, int err)
{
	return cli_fail(cli, "can't draw '%s': %s", path, strerror(-err));
}

/* The first reading; what is missing in the log is said in the second one. */
static int survey(struct view_log *log, struct cli *cli, char *const *paths, int path_cnt)
{
	int err, status = log_input_open(&log->input, cli, paths, path_cnt, true);

	if (status != CLI_OK)
		return status;
	log->input.is_quiet = true;
	log->data = view_data_new(log->input.info.kernel, SPAN_ROOM, SEGMENT_ROOM);
	err = log->data ? read_all(&log->input, log->data, true) : -ENOMEM;
	log_input_close(&log->input);
	return err ? fail(cli, paths[0], err) : CLI_OK;
}

int view_log_read(struct view_log *log, struct cli *cli, char *const *paths, int path_cnt)
{
	int err, status;

	log->data = NULL;
	status = survey(log, cli, paths, path_cnt);
	if (status == CLI_OK)
		status = log_input_open(&log->input, cli, paths, path_cnt, true);
	if (status != CLI_OK) {
		view_data_free(log->data);
		return status;
	}
	err = read_all(&log->input, log->data, false);
	if (!err)
		return CLI_OK;
	status = fail(cli, log->input.path, err);
	view_log_close(log);
	return status;
}

int view_log_close(struct view_log *log)
{
	view_data_free(log->data);
	return log_input_close(&log->input);
}
