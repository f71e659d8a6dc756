/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is compared of a label: a time of its spans, how many children or waits
 * they have, how long they wait for whom; its figure in each unit.
 */
#ifndef METRIC_H
#define METRIC_H

#include "analyze/compare/run_set.h"

enum metric_kind {
	METRIC_VALUE = 0,        /* ns: enum span_value and compare_value */
	METRIC_CALLS = 1,        /* child spans with a label, at any depth, for each span */
	METRIC_BLOCKS = 2,       /* waits for a reason, or in a system call, for each span */
	METRIC_WAITS_ON = 3,     /* ns for each span */
	METRIC_COUNT = 4,        /* spans in a run */
	METRIC_LOWER_BOUNDS = 5, /* share of spans that are lower bounds */
	/* ns for each span that who held the lock was on a CPU, while it was waited for */
	METRIC_HELD = 6,
};

/* Whose it is, when it changes. */
enum metric_owner {
	OWNER_CODE = 0,    /* on-CPU, locks, sleeps, pipes, queues, structure */
	OWNER_MACHINE = 1, /* runnable, disk, page faults, throttled, stopped */
	OWNER_BOTH = 2,    /* wall time; network, what is not known */
};

struct metric {
	enum metric_kind kind;
	unsigned int value;   /* VALUE */
	double percentile;    /* VALUE: between 0 and 1; 0: the mean */
	uint32_t key;         /* CALLS, BLOCKS, WAITS_ON, HELD: of the set; STRING_POOL_NONE: no run has it */
};

bool metric_is_time(const struct metric *metric);
bool metric_is_of_run(const struct metric *metric); /* windows of a run have that of all of it */
enum metric_owner metric_owner(const struct run_set *set, const struct metric *metric);

/* "wall", …, "self_on_cpu"; reasons as "blocked.lock". NULL: none. Static. */
const char *metric_value_name(unsigned int value);

/* Its figure in one unit; NAN: the label is not in it, or has too few spans. unit may be NULL. */
double metric_of(const struct run_set *set, const struct metric *metric, const struct label_unit *unit);

/* The figure of each unit of a side, values[set->unit_cnt[side]]. */
void metric_fill(const struct run_set *set, const struct metric *metric, const struct compare_label *label,
		 enum compare_side side, double *values);

/* Of a span, over all units of a side, weighted by their spans. */
double label_mean(const struct compare_label *label, enum compare_side side, unsigned int value);
/* of the slowest; NAN: not known */
double label_tail(const struct compare_label *label, enum compare_side side, unsigned int value);
double label_extra_mean(const struct compare_label *label, enum compare_side side, uint32_t key);
uint64_t label_span_cnt(const struct compare_label *label, enum compare_side side);
uint64_t label_lower_bound_cnt(const struct compare_label *label, enum compare_side side);

#endif
