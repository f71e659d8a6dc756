/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/messages/status_line.h"

#include <unistd.h>

#include "base/units.h"

void status_line_init(struct status_line *line, FILE *file, bool is_quiet, uint64_t now_ns)
{
	*line = (struct status_line){ .file = file,
				      .is_on = !is_quiet && isatty(fileno(file)),
				      .begin_ns = now_ns };
	line->last.time_ns = now_ns;
}

static uint64_t per_second(uint64_t before, uint64_t now, uint64_t passed_ns)
{
	return passed_ns ? (uint64_t)((double)(now - before) * 1e9 / (double)passed_ns) : 0;
}

void status_line_show(struct status_line *line, const struct status_figures *now)
{
	char elapsed[UNITS_SIZE], spans[UNITS_SIZE], events[UNITS_SIZE], bytes[UNITS_SIZE], lost[UNITS_SIZE],
		dropped[UNITS_SIZE];
	uint64_t passed_ns = now->time_ns - line->last.time_ns;

	if (!line->is_on)
		return;
	fprintf(line->file, "\r\033[K%s  %s spans/s  %s events/s  %s written  %s lost",
		units_format_duration(elapsed, now->time_ns - line->begin_ns),
		units_format_count(spans, per_second(line->last.span_cnt, now->span_cnt, passed_ns)),
		units_format_count(events, per_second(line->last.event_cnt, now->event_cnt, passed_ns)),
		units_format_size(bytes, now->written_bytes), units_format_count(lost, now->lost_cnt));
	if (now->dropped_cnt)
		fprintf(line->file, "  %s dropped", units_format_count(dropped, now->dropped_cnt));
	fflush(line->file);
	line->last = *now;
	line->is_shown = true;
}

void status_line_clear(struct status_line *line)
{
	if (!line->is_shown)
		return;
	fputs("\r\033[K", line->file);
	fflush(line->file);
	line->is_shown = false;
}
