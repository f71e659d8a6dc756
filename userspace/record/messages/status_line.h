/* SPDX-License-Identifier: BSD-2-Clause */
/* One line on a terminal, written over once a second: how recording goes. */
#ifndef STATUS_LINE_H
#define STATUS_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct status_figures {
	uint64_t time_ns;
	uint64_t span_cnt;
	uint64_t event_cnt;
	uint64_t written_bytes;
	uint64_t lost_cnt;    /* events */
	uint64_t dropped_cnt; /* records of the log */
};

struct status_line {
	FILE *file;
	bool is_on; /* a terminal, and not told to be quiet */
	bool is_shown;
	uint64_t begin_ns;
	struct status_figures last;
};

void status_line_init(struct status_line *line, FILE *file, bool is_quiet, uint64_t now_ns);
void status_line_show(struct status_line *line, const struct status_figures *now);
void status_line_clear(struct status_line *line); /* before anything else is printed */

#endif
