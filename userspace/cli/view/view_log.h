/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log as its page needs it, which is read twice.
 *
 *	struct view_log log;
 *	int status = view_log_read(&log, cli, paths, path_cnt);
 *
 *	if (status != CLI_OK)
 *		return status;                          a sentence was said
 *	view_page_write(file, &log, &options);
 *	return view_log_close(&log);                    as log_input_close()
 */
#ifndef VIEW_LOG_H
#define VIEW_LOG_H

#include "cli/files/log_input.h"
#include "cli/view/view_data.h"

struct view_log {
	struct log_input input;
	struct view_data *data;
};

int view_log_read(struct view_log *log, struct cli *cli, char *const *paths, int path_cnt);
int view_log_close(struct view_log *log);

#endif
