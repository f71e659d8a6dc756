/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How threads slept and woke: how often, how long each had to wait for a CPU
 * then, how much of the time until its next sleep it was on one, and which of
 * the long sleeps ended while the program's queue was not empty. Records in,
 * rows out. docs/attribution.md, "Workers", has the definitions.
 */
#ifndef WAKEUP_REPORT_H
#define WAKEUP_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "txtrace/log.h"

#define WAKEUP_THREAD_MAX 100000       /* more are left out */
#define WAKEUP_IDLE_MAX 100000	       /* more are only counted */
#define WAKEUP_IDLE_NS 1000000u	       /* a sleep longer than this may be idle */
#define WAKEUP_LONG_SLEEP_NS 10000000u /* longer than this */
#define WAKEUP_LONG_WAIT_NS 100000u    /* longer than this */

struct wakeup_row {
	uint32_t pid;
	uint32_t tid;
	uint64_t sleep_cnt;
	uint64_t wakeup_cnt;
	uint64_t long_sleep_cnt;
	uint64_t wait_ns; /* for a CPU, after sleeps */
	uint64_t longest_wait_ns;
	uint64_t long_wait_cnt;
	uint64_t period_cnt;   /* from a wakeup to the next sleep */
	uint64_t measured_cnt; /* of them: those of which it is known how long the thread was on a CPU */
	uint64_t busy_cnt;     /* of those: 95 % of the time or more */
	uint64_t slack_cnt;    /* less than half */
	double ratio_sum;      /* of those: time on a CPU divided by time */
};

/* A sleep of more than WAKEUP_IDLE_NS that ended while the queue was not empty. */
struct wakeup_idle {
	uint32_t pid;
	uint32_t tid;
	uint64_t begin_ns;
	uint64_t end_ns; /* the thread had a CPU again */
	int64_t depth;	 /* of the queue, then */
};

/* A counter of a thread. */
struct wakeup_counter {
	uint32_t pid;
	uint32_t tid;
	char name[128]; /* perhaps cut off */
	size_t name_length;
	uint64_t cnt;
	int64_t maximum;
	double sum;
};

struct wakeup_report;

/*
 * Whether a thread got its CPU at the begin of this run because it woke up.
 * is_awake: it had woken up and not slept since, as far as its runs before tell.
 * A run without a length is a moment that an import knows of: a wakeup, or a
 * sleep; of a sleep that no wait stands in front of, the wakeup is not known.
 */
bool run_is_wakeup(const struct txtrace_run *run, bool is_awake);

/* queue: the counter's name, or NULL; lives as long as the report. NULL: no memory. */
struct wakeup_report *wakeup_report_new(const char *queue);
void wakeup_report_free(struct wakeup_report *report); /* NULL is allowed */

int wakeup_report_add(struct wakeup_report *report, const struct txtrace_record *record); /* 0 or -ENOMEM */

/* What comes from here on is of another capture: what threads did in between is not known. */
void wakeup_report_begin_capture(struct wakeup_report *report);

/* NULL: it has no runs */
const struct wakeup_row *wakeup_report_find(const struct wakeup_report *report, uint32_t pid, uint32_t tid);
uint64_t wakeup_report_idle_count(const struct wakeup_report *report); /* also of those beyond the list */
/* In the order of their ends; NULL behind the last one. */
const struct wakeup_idle *wakeup_report_idle(const struct wakeup_report *report, size_t idx);
/* In the order in which they came; NULL behind the last one. At most 4,096 are told apart. */
const struct wakeup_counter *wakeup_report_counter(const struct wakeup_report *report, size_t idx);

#endif
