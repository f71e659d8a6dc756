/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many spans of each label were open, what the program's counters were, and
 * how many threads were running, runnable and blocked, over time: means over
 * equal parts of a range. Records in any order (of threads in that of the log),
 * series out. Memory is that of the series, which are bounded; spans of labels
 * beyond that are counted together.
 */
#ifndef CONCURRENCY_H
#define CONCURRENCY_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/thread/thread_states.h"
#include "txtrace/log.h"

#define CONCURRENCY_SERIES_MAX 4096
#define CONCURRENCY_BUCKET_MAX 1000

enum concurrency_kind {
	CONCURRENCY_THREADS = 0, /* named by their state: "running", "runnable", "blocked" */
	CONCURRENCY_LABEL = 1,
	CONCURRENCY_COUNTER = 2,
	CONCURRENCY_KIND_COUNT = 3,
};

struct concurrency_series {
	struct txtrace_string name; /* owned by the concurrency; empty: unknown label */
	uint32_t pid;               /* of a counter */
	enum concurrency_kind kind;
	enum thread_state state;    /* of threads */
	bool is_rest;
	/*
	 * spans that overlap the range, steps of the counter, or stretches of time that threads were in the
	 * state
	 */
	uint64_t cnt;
	double *means;  /* one for each bucket */
	double peak;    /* the largest of them */
	double sum;
};

struct concurrency;

/* The range is [from_ns, to_ns), from_ns < to_ns. NULL: no memory. */
struct concurrency *concurrency_new(uint64_t from_ns, uint64_t to_ns, size_t bucket_cnt);
void concurrency_free(struct concurrency *concurrency);

/* spans and counters. 0 or -ENOMEM */
int concurrency_add(struct concurrency *concurrency, const struct txtrace_record *record);

/* Any record, for the threads, and where another capture begins. 0 or -ENOMEM. */
int concurrency_add_threads(struct concurrency *concurrency, const struct txtrace_record *record);
void concurrency_begin_capture(struct concurrency *concurrency);

/*
 * No more records will come. Series are in order: threads first, then labels,
 * those with the most open first, then counters.
 */
void concurrency_finish(struct concurrency *concurrency);
size_t concurrency_series_count(const struct concurrency *concurrency);
const struct concurrency_series *concurrency_series(const struct concurrency *concurrency, size_t idx);

/* as was asked for, but none is shorter than 1 ns */
size_t concurrency_bucket_count(const struct concurrency *concurrency);

/* Bucket idx is from begin(idx) to begin(idx + 1). */
uint64_t concurrency_begin_ns(const struct concurrency *concurrency, size_t idx);

#endif
