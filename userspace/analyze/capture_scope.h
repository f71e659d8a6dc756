/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a capture was told to leave out, read from the options in its header,
 * where the recorder says it (", --sched ledger, …"). A log of which it can't
 * be told has all of it.
 */
#ifndef CAPTURE_SCOPE_H
#define CAPTURE_SCOPE_H

#include <stdbool.h>

#include "base/text.h"
#include "txtrace/log.h"

struct capture_scope {
	bool has_timeline; /* runs and wakeups are in it */
	bool has_ledgers;  /* the accounts of spans tell more than wall and detached time */
	bool is_flight;    /* what a flight recorder had in memory */
	uint64_t sample_rate; /* one of so many transactions; 1: all */
	uint64_t min_duration_ns;
	bool has_labels;   /* only spans of some labels */
};

/* Whether it lacks anything. */
bool capture_scope_is_limited(const struct capture_scope *scope);

/* Whether anything was left out, as far as the recorder has counted. */
bool summary_has_left_out(const struct txtrace_summary *summary);

/*
 * Whether programs ran in the kernel that sent nothing: for switches without a
 * timeline, for spans that are left out. What they took is in no figure.
 */
bool capture_scope_has_silent_runs(const struct capture_scope *scope);

void capture_scope_read(struct capture_scope *scope, const struct txtrace_log_info *info);

/* The options of which the same scope is read, with `label` in place of all labels. */
void capture_scope_append(const struct capture_scope *scope, const char *label, struct text *text);

#endif
