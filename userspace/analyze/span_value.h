/* SPDX-License-Identifier: BSD-2-Clause */
/* The times of a span, by name: its wall time, its work, the parts of its ledger. */
#ifndef SPAN_VALUE_H
#define SPAN_VALUE_H

#include "txtrace/log.h"

enum span_value {
	SPAN_VALUE_WALL = 0,
	SPAN_VALUE_WORK = 1,
	SPAN_VALUE_ON_CPU = 2,
	SPAN_VALUE_RUNNABLE = 3,
	SPAN_VALUE_BLOCKED = 4, /* for all reasons */
	SPAN_VALUE_DETACHED = 5,
	SPAN_VALUE_UNKNOWN = 6,
	SPAN_VALUE_REASON = 7, /* that for reason 0; the others follow */
	SPAN_VALUE_INTERRUPT = SPAN_VALUE_REASON + TXTRACE_BLOCK_REASON_COUNT,
	SPAN_VALUE_STOLEN,
	SPAN_VALUE_COUNT,
};

/* It is time that was blocked for one reason. */
static inline bool span_value_is_reason(unsigned int value)
{
	return value >= SPAN_VALUE_REASON && value < SPAN_VALUE_REASON + TXTRACE_BLOCK_REASON_COUNT;
}

extern const char *const span_value_names[]; /* by the numbers above; ends with NULL */

uint64_t span_value_ns(const struct txtrace_span *span, unsigned int value);

#endif
