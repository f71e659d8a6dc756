/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether this program marks in shared memory by now. Until it does, the probe `ring` reports its marks. */
#ifndef SHARED_MEMORY_H
#define SHARED_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "txtrace.h"

static inline bool marks_in_memory(void)
{
	return txtrace_object_ && txtrace_object_ != TXTRACE_NO_OBJECT_ && txtrace_object_->pool &&
	       txtrace_object_->pool->accepted;
}

/* There is none, and no mark will try again. */
static inline bool has_no_memory(void)
{
	return txtrace_object_ == TXTRACE_NO_OBJECT_ ||
	       (txtrace_object_ && txtrace_object_->state == TXTRACE_GUARD_FAILED_);
}

/* Where the test records with --marks ring: marks a counter until one of the two is so. */
static inline void wait_for_memory(void)
{
	const char *marks = getenv("TXTRACE_MARKS");

	while (marks && !strcmp(marks, "ring") && TXTRACE_ENABLED() && !marks_in_memory() &&
	       !has_no_memory()) {
		TXTRACE_COUNTER("waits", 1);
		usleep(1000);
	}
}

#endif
