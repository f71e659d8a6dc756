/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each thread did: on a CPU, runnable, blocked; in spans and outside; how
 * long it ran without a break; and for how long it slept, outside of all spans,
 * while the program's queue had something for it. Records in, rows out.
 * docs/attribution.md, "Workers", has the definitions.
 */
#ifndef WORKER_REPORT_H
#define WORKER_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/wait/block_report.h"
#include "txtrace/log.h"

#define WORKER_THREAD_MAX 100000  /* more are only counted */
#define WORKER_NAME_BYTES 32
#define WORKER_LABEL_BYTES 64
#define WORKER_STRETCH_MAX 512    /* of a thread, that may turn out to be parts of a span yet */
#define WORKER_PARKED_MAX 4096    /* likewise */

struct worker_row {
	uint32_t pid;
	uint32_t tid;
	char name[WORKER_NAME_BYTES]; /* any bytes; empty: unknown */
	size_t name_length;
	uint64_t from_ns; /* of what its runs tell */
	uint64_t to_ns;
	uint64_t on_cpu_ns;
	uint64_t runnable_ns;
	uint64_t blocked_ns;
	uint64_t run_cnt;
	uint64_t period_cnt; /* active periods: between two blocks */
	uint64_t longest_period_ns;
	uint64_t stay_cnt;
	uint64_t in_spans_ns;
	uint64_t parked_cnt; /* sleeps outside of spans while the queue was not empty; only of workers */
	uint64_t parked_ns;  /* of them, while it was not */
};

/* A sleep beside a queue that was not empty. */
struct worker_parked {
	uint32_t pid;
	uint32_t tid;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t queued_ns; /* for so long of it the queue was not empty */
	double mean_depth;  /* of the queue, meanwhile */
	unsigned int reason; /* enum txtrace_block_reason, or BLOCK_REASON_UNKNOWN */
};

/* A long run. */
struct worker_run {
	struct txtrace_run run;
	uint64_t in_span_ns; /* of the run: in the span that has the label; 0: it was in none that is known */
	char label[WORKER_LABEL_BYTES]; /* any bytes, perhaps cut off */
	size_t label_length;
};

struct worker_report;

/*
 * queue: the counter's name, or NULL. threads: a shell pattern; only threads
 * whose name matches are reported, and all of them are workers. NULL: all are
 * reported, and workers are those that were in a span. Both live as long as the
 * report. top_cnt: so many of the longest runs and sleeps are kept. NULL: no
 * memory.
 */
struct worker_report *worker_report_new(const char *queue, const char *threads, size_t top_cnt);
void worker_report_free(struct worker_report *report);

int worker_report_add(struct worker_report *report, const struct txtrace_record *record); /* 0 or -ENOMEM */

/*
 * What comes from here on is of another capture: ids are other spans'. A thread
 * with the same pid and tid goes on in the same row.
 */
void worker_report_begin_capture(struct worker_report *report);

/* No more records will come; rows are in order: the most time on a CPU first. */
void worker_report_finish(struct worker_report *report);

/* What no run tells of the time between the first and the last one. */
uint64_t worker_row_unknown_ns(const struct worker_row *row);

size_t worker_report_row_count(const struct worker_report *report);
const struct worker_row *worker_report_row(const struct worker_report *report, size_t idx);
size_t worker_report_parked_count(const struct worker_report *report);
/* the longest first */
const struct worker_parked *worker_report_parked(const struct worker_report *report, size_t idx);
size_t worker_report_run_count(const struct worker_report *report);
/* the longest first */
const struct worker_run *worker_report_run(const struct worker_report *report, size_t idx);

/* NULL: not there */
const struct worker_row *worker_report_find(const struct worker_report *report, uint32_t pid, uint32_t tid);
/* runs of threads beyond WORKER_THREAD_MAX */
uint64_t worker_report_hidden_count(const struct worker_report *report);
/* time in spans, or parked, is only about right: too much was open at once */
bool worker_report_is_coarse(const struct worker_report *report);
/* times that the queue's length was told */
uint64_t worker_report_queue_count(const struct worker_report *report);

#endif
