/* SPDX-License-Identifier: BSD-2-Clause */
/* Records as lines of text, every member of every kind, to be compared. */
#ifndef RECORD_LINES_H
#define RECORD_LINES_H

#include <stdio.h>

#include "log/format/record_table.h"
#include "cli/print/dump_line.h"

static inline void record_line(FILE *out, const struct txtrace_record *record)
{
	struct text text = { 0 };

	dump_line_append(&text, record);
	fprintf(out, "%s\n", text_string(&text));
	text_release(&text);
}

/*
 * Ids of keyed spans are counted, so they are others when other programs begin
 * some. (Whether an instant's is one, it does not tell.)
 */
static inline void record_line_without_keyed_ids(FILE *out, struct txtrace_record record)
{
	if (record.kind == TXTRACE_RECORD_SPAN && record.span.flags & TXTRACE_SPAN_PARENT_KEYED)
		record.span.parent = 0;
	if (record.kind == TXTRACE_RECORD_SPAN && record.span.flags & TXTRACE_SPAN_KEYED)
		record.span.id = 0;
	else if (record.kind == TXTRACE_RECORD_OVERLAP && record.overlap.is_keyed)
		record.overlap.span = 0;
	else if (record.kind == TXTRACE_RECORD_STAY && record.stay.is_keyed)
		record.stay.span = 0;
	else if (record.kind == TXTRACE_RECORD_INSTANT)
		record.instant.span = 0;
	else if (record.kind == TXTRACE_RECORD_WAKE && record.wake.flags & TXTRACE_WAKE_SPAN_KEYED)
		record.wake.span = 0;
	if (record.kind == TXTRACE_RECORD_WAKE && record.wake.flags & TXTRACE_WAKE_WAKER_SPAN_KEYED)
		record.wake.waker_span = 0;
	record_line(out, &record);
}

static inline bool record_is_of_threads(const struct txtrace_record *record, uint32_t first_tid,
					uint32_t last_tid)
{
	uint32_t pid, tid;

	return record_thread(record, &pid, &tid) && tid >= first_tid && tid <= last_tid;
}

#endif
