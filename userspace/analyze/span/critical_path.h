/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The critical path of a span: for each moment from its end back to its begin,
 * the one thread whose doing (or waiting) its end depended on.
 * docs/attribution.md, "Critical path". The steps follow each other without gap
 * or overlap: their lengths add up to the span's wall time.
 */
#ifndef CRITICAL_PATH_H
#define CRITICAL_PATH_H

#include "analyze/span/span_window.h"

struct path_step {
	uint64_t from_ns, to_ns;
	uint32_t pid, tid;
	uint8_t state; /* enum window_state */
	/* how many threads waited for this one, one for the other; 0: the thread that ended the span */
	uint32_t depth;
	size_t span;   /* of the window: what the thread worked for; WINDOW_NO_SPAN: nothing that is known */
	/* BLOCKED: why, and why it was not followed; NULL: it is not in the log */
	const struct window_segment *wait;
	/* depth > 0: the wait, of a thread one less deep, that this step was part of */
	const struct window_segment *kept;
};

struct critical_path {
	struct path_step *steps; /* by time */
	size_t cnt;
	/* more than 255 threads waited one for the other: the last one's wait was not followed */
	bool is_cut;
	/* private */
	size_t size;
};

/* Of a finished window with all threads. 0 or -ENOMEM. */
int critical_path_init(struct critical_path *path, const struct span_window *window);
void critical_path_release(struct critical_path *path);

#endif
