/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who waited for what, and who ended it: the waits of a log (wait_finder.h),
 * summed up in one pass by what was waited for, the label of the span that
 * waited, and the label of the span (or the name of the thread, …) that ended
 * the wait. docs/attribution.md, "Waits".
 *
 *	struct wait_sums *sums = wait_sums_new(&options);
 *
 *	while (!err && next(&record))
 *		err = wait_sums_add(sums, &record);
 *	wait_sums_finish(sums);
 *	for (size_t i = 0; i < wait_sums_count(sums); i++)
 *		use(wait_sums_get(sums, i));
 *
 * The label of a span is known when its record comes, at its end (or its
 * checkpoint), so what open spans waited for is held by their ids until then:
 * memory follows the open spans, the live threads and the different sums, up to
 * a budget. Beyond it, what is new goes to "all others", which each reader
 * shows as such.
 */
#ifndef WAIT_SUMS_H
#define WAIT_SUMS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/syscall_table.h"
#include "analyze/wait/wait_finder.h"
#include "txtrace/log.h"

/* Who waits, or ends a wait. */
enum party_kind {
	PARTY_SPAN = 0,      /* a span, by its label; empty: the log does not tell it */
	PARTY_THREAD = 1,    /* ended it: a thread in no span, by its name; with names_threads also: waited */
	/* ended it: an interrupt of a device, or one that the log does not tell more about */
	PARTY_INTERRUPT = 2,
	PARTY_UNKNOWN = 3,   /* ended it: nobody known; the wakeup says itself that it does not know */
	/* the wakeup is not in the log: neither who ended it nor which span waited is known */
	PARTY_UNSEEN = 4,
	PARTY_NO_SPAN = 5,   /* waited: a thread in no span */
	PARTY_REST = 6,      /* all others: the budget was used up */
	PARTY_TIMER = 7,     /* ended it: a timer */
	PARTY_SOFTIRQ = 8,   /* ended it: a softirq: packets mostly */
	PARTY_KIND_COUNT = 9,
};

/*
 * "span", "thread", "interrupt", "unknown", "unseen", "no_span", "rest",
 * "timer", "softirq": as JSON has them.
 */
extern const char *const party_kind_names[PARTY_KIND_COUNT];

/* Of a wake that says it was an interrupt. */
static inline enum party_kind party_of_interrupt(uint32_t wake_flags)
{
	if (wake_flags & TXTRACE_WAKE_TIMER)
		return PARTY_TIMER;
	return wake_flags & TXTRACE_WAKE_SOFTIRQ ? PARTY_SOFTIRQ : PARTY_INTERRUPT;
}

struct party {
	enum party_kind kind;
	struct txtrace_string name; /* SPAN, THREAD */
};

/* What was waited for, as far as the switch-out tells. */
enum wait_object_kind {
	WAIT_OBJECT_NONE = 0,   /* of a reason alone */
	WAIT_OBJECT_FUTEX = 1,  /* value: its address */
	WAIT_OBJECT_FD = 2,     /* value: a file descriptor; of several that were waited for, the first */
	WAIT_OBJECT_SLEEP = 3,  /* value: how long it asked to sleep, in ns, rounded to two digits */
	WAIT_OBJECT_CALL = 4,   /* value: a system call (no other object is known) */
	WAIT_OBJECT_MEMORY = 5, /* no system call: a page. value: enum wait_fault */
	WAIT_OBJECT_UNKNOWN = 6, /* the log does not tell */
	WAIT_OBJECT_REST = 7,   /* all others: the budget was used up */
	WAIT_OBJECT_KIND_COUNT = 8,
};

/* What a page fault waited for: the numbers of enum block_fault in txtrace/event.h. */
enum wait_fault {
	WAIT_FAULT_UNKNOWN = 0,
	WAIT_FAULT_FILE = 1,
	WAIT_FAULT_ANONYMOUS = 2,
	WAIT_FAULT_SWAP = 3,
	WAIT_FAULT_USERFAULTFD = 4,
	WAIT_FAULT_MMAP_LOCK = 5,
	WAIT_FAULT_MIGRATION = 6,
	WAIT_FAULT_COUNT = 7,
};

extern const char *const wait_fault_names[WAIT_FAULT_COUNT]; /* "unknown", "file", …: as JSON has them */

/* "none", "futex", "fd", "sleep", "syscall", …: as JSON has them */
extern const char *const wait_object_kind_names[WAIT_OBJECT_KIND_COUNT];

struct wait_object {
	/*
	 * of the thread that waited: of another process, the same number is another object. 0: all of a
	 * reason, or REST
	 */
	uint32_t pid;
	uint8_t reason; /* WAIT_REASON_COUNT: of REST */
	enum wait_object_kind kind;
	uint64_t value;
	const char *call; /* CALL: the name, static; NULL: the table does not know it */
	uint32_t more_cnt; /* FD: so many others were waited for, too */
	/* FD: what it refers to at that time; FUTEX: the code that waited for it first; empty: not known */
	struct txtrace_string name;
};

/* What a thread waited for, without rounding, and without a name. */
struct wait_object wait_object_of(const struct syscall_table *syscalls, const struct wait *wait);

/* Numbers are those of wait_sums_party() and wait_sums_object(). Sums saturate. */
struct wait_cell {
	uint32_t object;
	uint32_t waiter;
	uint32_t waker;
	uint64_t cnt;
	uint64_t ns;
	uint64_t max_ns;
};

/* Of all waits in the log: in spans + in no span + unseen = all. */
struct wait_totals {
	uint64_t cnt, ns;
	uint64_t in_span_cnt, in_span_ns;
	uint64_t no_span_cnt, no_span_ns;
	uint64_t unseen_cnt, unseen_ns;
};

struct wait_sums_options {
	uint64_t max_bytes;
	bool is_by_object;   /* or by reason alone */
	/* who waited in no span is PARTY_THREAD by its name, not PARTY_NO_SPAN; both are in_no_span */
	bool names_threads;
	const char *kernel;  /* of struct txtrace_log_info: whose system calls these are */
	/* NULL: all waits count; else those of threads that were in such a span */
	bool (*has_span)(const void *context, bool is_keyed, uint32_t pid, uint64_t span);
	const void *context;
};

struct wait_sums;

struct wait_sums *wait_sums_new(const struct wait_sums_options *options); /* NULL: no memory */
void wait_sums_free(struct wait_sums *sums);

int wait_sums_add(struct wait_sums *sums, const struct txtrace_record *record); /* 0 or -ENOMEM */

/* What follows is of another capture: ids and threads begin anew. 0 or -ENOMEM. */
int wait_sums_begin_capture(struct wait_sums *sums);

/*
 * The log has ended: what is still held by ids has no label. Add nothing after
 * this; then the sums can be asked, the largest first. 0 or -ENOMEM.
 */
int wait_sums_finish(struct wait_sums *sums);
size_t wait_sums_count(const struct wait_sums *sums);
const struct wait_cell *wait_sums_get(const struct wait_sums *sums, size_t idx);

size_t wait_sums_party_count(const struct wait_sums *sums);
size_t wait_sums_object_count(const struct wait_sums *sums);
struct party wait_sums_party(const struct wait_sums *sums, uint32_t number);
const struct wait_object *wait_sums_object(const struct wait_sums *sums, uint32_t number);
const struct wait_totals *wait_sums_totals(const struct wait_sums *sums);
/* the budget was used up: something went to "all others", or to unseen */
bool wait_sums_is_full(const struct wait_sums *sums);

#endif
