/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a verdict is about: the runs, what they came to, and how much of it is
 * shown. All of it stays its owners'.
 */
#ifndef VERDICT_VIEW_H
#define VERDICT_VIEW_H

#include "analyze/compare/gate.h"
#include "base/text.h"

struct verdict_view {
	const char *program;        /* "txtrace diff" */
	const char *version;
	const struct run_set *set;
	const struct comparison *comparison; /* NULL: the check of a log */
	const struct gate *gate;             /* NULL: there are no rules */
	size_t incomplete_cnt;      /* logs that are damaged, cut off or were not closed */
	uint64_t limit;             /* labels of a section; 0: all */
	int status;                 /* enum verdict_status */
	const struct text *pages;   /* of a run of each side, for a page of both (cli/view); NULL: none */
};

/* The exit status of diff and check. */
enum verdict_status {
	VERDICT_STATUS_HOLDS = 0,
	VERDICT_STATUS_REGRESSED = 1,
	VERDICT_STATUS_FAILED = 2,
	VERDICT_STATUS_CANT_TELL = 3,
};

#endif
