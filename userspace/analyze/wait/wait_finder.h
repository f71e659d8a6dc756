/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The waits of threads: each RUN record that says that its thread was blocked
 * before it, with why (of the RUN before) and the wakeup that ended the block
 * (the first WAKE in it). docs/attribution.md, "Waits", defines them.
 *
 *	while (next(&record)) {
 *		if (wait_finder_add(finder, &record, &wait) > 0)
 *			use(&wait);
 *	}
 *
 * Memory follows the live threads, up to a budget; waits of threads beyond it
 * come without reason and wakeup. Everything in a log may be nonsense: times
 * that can't be are cut to 0, and match nothing.
 */
#ifndef WAIT_FINDER_H
#define WAIT_FINDER_H

#include <stdbool.h>
#include <stddef.h>

#include "txtrace/log.h"

/* the stay on a CPU before the block is not in the log */
#define WAIT_REASON_UNKNOWN TXTRACE_BLOCK_REASON_COUNT
#define WAIT_REASON_COUNT (TXTRACE_BLOCK_REASON_COUNT + 1)

#define WAIT_COMM_MAX 32

struct wait_wake {
	struct txtrace_wake wake; /* its string is in `comm`, clipped */
	char comm[WAIT_COMM_MAX];
	uint32_t waiter, waker; /* the keeper's; 0 when new */
};

struct wait {
	uint32_t pid;
	uint32_t tid;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t blocked_ns; /* what the RUN says; end - begin, unless that is nonsense */
	uint8_t reason; /* enum txtrace_block_reason or WAIT_REASON_UNKNOWN */
	int32_t syscall_nr; /* when the reason is known */
	uint64_t object;
	const struct wait_wake *wake; /* NULL: it is not in the log. Until the next add. */
};

/*
 * Who wants to note something with a wakeup as long as it may come up in a
 * wait: `keep` when it is stored, `drop` for each that was kept.
 */
struct wait_keeper {
	int (*keep)(void *context, struct wait_wake *wake); /* 0 or -ENOMEM */
	void (*drop)(void *context, struct wait_wake *wake);
	void *context;
};

struct wait_finder;

/* keeper: copied; NULL: none. NULL: no memory */
struct wait_finder *wait_finder_new(size_t max_bytes, const struct wait_keeper *keeper);
void wait_finder_free(struct wait_finder *finder); /* drops what is kept */

/* Any record. 1: *wait is filled; 0: no wait; -ENOMEM, or what keep returned. */
int wait_finder_add(struct wait_finder *finder, const struct txtrace_record *record, struct wait *wait);

bool wait_finder_is_full(const struct wait_finder *finder); /* a thread found no room */

#endif
