/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How several logs become one: on which clock, with which ids, under which
 * header.
 *
 * Clock: that of the first log's machine. Logs of the same boot have it
 * already. Those of another one are moved so that the wall clocks agree, by one
 * distance for all their times, so that no duration and no order changes.
 *
 * Ids: a span is named by its process and its id. Each capture beyond the first
 * has its pids and tids in a range of its own, number × 4,194,304 higher (Linux
 * has no pid as high as that), so that the same pid and id of two captures
 * differ. Files of one capture, as rotation leaves them, share their range.
 * CPUs have ranges of 8,192, one for each boot of a machine.
 */
#ifndef MERGE_PLAN_H
#define MERGE_PLAN_H

#include <stdbool.h>

#include "analyze/id_shift.h"
#include "txtrace/log.h"

struct merge_source {
	/* version_major 0: it is lost, and only the capture id may be known, from the batches */
	struct txtrace_log_info info;
	/* what its wall clock had ahead of its CLOCK_MONOTONIC, modulo 2^64; 0: unknown */
	uint64_t clock_ns;
	bool is_realtime;  /* its times are those of the wall clock, as of some imports: 0 is not unknown */
	uint64_t begin_ns; /* when it began, or, if that is lost, its first record */
	int64_t correction_ns; /* added to what the wall clocks say; of the first source of a boot */
};

enum merge_refusal {
	MERGE_ACCEPTED = 0,
	MERGE_CLOCK_UNKNOWN, /* another machine, and no wall clock to go by */
	/* it began before the first log's machine was booted: its times would be negative */
	MERGE_BEFORE_BOOT,
	MERGE_TOO_MANY, /* captures */
};

struct merge_plan {
	struct id_shift *shifts;      /* by source; the caller's */
	struct txtrace_log_info info; /* of the result */
	size_t capture_cnt;
	size_t refused; /* which source */
};

/* cnt: at least 1. */
enum merge_refusal merge_plan_make(struct merge_plan *plan, const struct merge_source *sources, size_t cnt);

/* Adds the counts of a capture to those of others; its time is the later one. Saturating. */
void merge_summary_add(struct txtrace_summary *sum, const struct txtrace_summary *summary);

#endif
