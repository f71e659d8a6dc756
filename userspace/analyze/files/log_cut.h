/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of a log belongs to a range of time, to spans of some labels, to a
 * process. All records of the log are shown to log_cut_look() first, if
 * log_cut_needs_look(), and then again, in the same order, to log_cut_keeps().
 *
 * Kept are
 *	spans that overlap the range and have such a label;
 *	attributes, instants and links of these, whenever they were made; without a label also any other
 *	within the range;
 *	checkpoints of open spans that overlap the range, or that never ended as far as the log goes, and have
 *	such a label;
 *	stays on a CPU that overlap it together with the wait before them; wakeups, counters and losses within
 *	it;
 *	threads that were told of before its end, and the summary.
 * With a process, of these only what is about that process; losses and the
 * summary are about all.
 */
#ifndef LOG_CUT_H
#define LOG_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtrace/log.h"

#define LOG_CUT_NO_END UINT64_MAX

/* Stands in the options of a slice's header: what its records refer to may have been left out. */
#define LOG_CUT_MARK "txtrace slice"

struct log_cut_options {
	uint64_t from_ns;
	uint64_t to_ns;      /* not included; LOG_CUT_NO_END */
	const char *label;   /* a shell pattern; NULL: any. The caller's, outlives the cut. */
	bool has_pid;
	uint32_t pid;
	size_t max_bytes;    /* for the spans that are to be remembered */
};

struct log_cut;

struct log_cut *log_cut_new(const struct log_cut_options *options); /* NULL: no memory */
void log_cut_free(struct log_cut *cut);

bool log_cut_needs_look(const struct log_cut *cut);
void log_cut_look(struct log_cut *cut, const struct txtrace_record *record);
bool log_cut_keeps(const struct log_cut *cut, const struct txtrace_record *record);

/*
 * After the look: there were more spans than fit; so attributes, instants and
 * links within the range are kept whatever their span is.
 */
bool log_cut_is_blurred(const struct log_cut *cut);

#endif
