/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/log_field.h"

#include "log/varint.h"

#define C HABIT_CATEGORY
#define S HABIT_SPARSE
#define V HABIT_VALUE

const struct kind_fields kind_fields[LOG_KIND_COUNT] = {
	[TXTRACE_RECORD_SPAN] = { SPAN_FIELD_COUNT, { V, C, C, C, C, S, S, C, V, C, S, C, S, S, C, S, S, S, S, S, S, S, S, S, S, S, S, S } },
	[TXTRACE_RECORD_RUN] = { RUN_FIELD_COUNT, { V, C, C, C, S, S, S, C, C, C, C } },
	[TXTRACE_RECORD_WAKE] = { WAKE_FIELD_COUNT, { V, C, C, C, C, C, C, S, C, S } },
	[TXTRACE_RECORD_THREAD] = { THREAD_FIELD_COUNT, { V, V, C, S } },
	[TXTRACE_RECORD_ATTRIBUTE] = { ATTRIBUTE_FIELD_COUNT, { V, C, C, C, C, C, S, S, S } },
	[TXTRACE_RECORD_INSTANT] = { INSTANT_FIELD_COUNT, { V, C, C, C, S } },
	[TXTRACE_RECORD_COUNTER] = { COUNTER_FIELD_COUNT, { V, C, C, C, S } },
	[TXTRACE_RECORD_LINK] = { LINK_FIELD_COUNT, { V, C, C, C, S, C, S } },
	[TXTRACE_RECORD_LOSS] = { LOSS_FIELD_COUNT, { V, V, C, V, V } },
	[TXTRACE_RECORD_OPEN_SPAN] = { OPEN_SPAN_FIELD_COUNT, { V, C, C, S, V, C, S, C, S } },
	[TXTRACE_RECORD_SUMMARY] = { SUMMARY_FIELD_COUNT, { V, S, S, S, S, S, S, S, S, S, S, S, S, S, S } },
	[TXTRACE_RECORD_DROPPED] = { DROPPED_FIELD_COUNT, { V, V, V, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S } },
	[TXTRACE_RECORD_CONTINUED] = { CONTINUED_FIELD_COUNT, { V, V } },
	[TXTRACE_RECORD_OBJECT] = { OBJECT_FIELD_COUNT, { V, C, C, V, V } },
	[TXTRACE_RECORD_STAY] = { STAY_FIELD_COUNT, { V, C, V, S, C, C, S } },
};

#define SMALL(n) { 0, (n), 0 }
#define SMALL4(n) SMALL(n), SMALL((n) + 1), SMALL((n) + 2), SMALL((n) + 3)
#define SMALL16(n) SMALL4(n), SMALL4((n) + 4), SMALL4((n) + 8), SMALL4((n) + 12)
#define TWO(n) { 0xff, SPLIT_TWO + ((n) << 8), 1 }
#define TWO4(n) TWO(n), TWO((n) + 1), TWO((n) + 2), TWO((n) + 3)
#define TWO16(n) TWO4(n), TWO4((n) + 4), TWO4((n) + 8), TWO4((n) + 12)
#define THREE(n) { 0xffff, SPLIT_TWO + ((SPLIT_THREE - SPLIT_TWO) << 8) + ((n) << 16), 2 }
#define THREE4(n) THREE(n), THREE((n) + 1), THREE((n) + 2), THREE((n) + 3)
#define LONG(n) { UINT64_MAX >> (64 - 8 * (n)), 0, (n) }
#define NONE { 0, 0, SPLIT_NO_REST }

const struct split_class split_classes[256] = {
	SMALL16(0), SMALL16(16), SMALL16(32), SMALL16(48), SMALL16(64), SMALL16(80),
	SMALL16(96), SMALL16(112), SMALL16(128), SMALL16(144), SMALL16(160),
	TWO16(0), TWO16(16), TWO16(32), TWO16(48),
	THREE4(0), THREE4(4),
	LONG(3), LONG(4), LONG(5), LONG(6), LONG(7), LONG(8), NONE, NONE,
};
