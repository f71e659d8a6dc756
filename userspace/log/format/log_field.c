/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/format/log_field.h"

#define C HABIT_CATEGORY
#define S HABIT_SPARSE
#define V HABIT_VALUE

const struct kind_fields kind_fields[LOG_KIND_COUNT] = {
	[TXTRACE_RECORD_SPAN] = { SPAN_FIELD_COUNT, { V, C, C, C, C, S, S, C, V, C, S, C, S, S, C, S,
						      S, S, S, S, S, S, S, S, S, S, S, S, S, C, S, S } },
	[TXTRACE_RECORD_RUN] = { RUN_FIELD_COUNT, { V, C, C, C, S, S, S, C, C, C, C, S, C, S, C, C, S } },
	[TXTRACE_RECORD_WAKE] = { WAKE_FIELD_COUNT, { V, C, C, C, C, C, C, S, C, S } },
	[TXTRACE_RECORD_THREAD] = { THREAD_FIELD_COUNT, { V, V, C, S } },
	[TXTRACE_RECORD_ATTRIBUTE] = { ATTRIBUTE_FIELD_COUNT, { V, C, C, C, C, C, S, S, S } },
	[TXTRACE_RECORD_INSTANT] = { INSTANT_FIELD_COUNT, { V, C, C, C, S } },
	[TXTRACE_RECORD_COUNTER] = { COUNTER_FIELD_COUNT, { V, C, C, C, S } },
	[TXTRACE_RECORD_LINK] = { LINK_FIELD_COUNT, { V, C, C, C, S, C, S } },
	[TXTRACE_RECORD_LOSS] = { LOSS_FIELD_COUNT, { V, V, C, V, V } },
	[TXTRACE_RECORD_OPEN_SPAN] = { OPEN_SPAN_FIELD_COUNT, { V, C, C, S, V, C, S, C, S, C } },
	[TXTRACE_RECORD_SUMMARY] = { SUMMARY_FIELD_COUNT,
				     { V, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S } },
	[TXTRACE_RECORD_DROPPED] = { DROPPED_FIELD_COUNT, { V, V, V, S, S, S, S, S, S, S, S, S, S,
							    S, S, S, S, S, S, S, S, S, S, S, S, S } },
	[TXTRACE_RECORD_CONTINUED] = { CONTINUED_FIELD_COUNT, { V, V } },
	[TXTRACE_RECORD_OBJECT] = { OBJECT_FIELD_COUNT, { V, C, C, V, V } },
	[TXTRACE_RECORD_OTHER_RUN] = { OTHER_RUN_FIELD_COUNT, { V, C, C, C, C, C, C, S } },
	[TXTRACE_RECORD_COST] = { COST_FIELD_COUNT, { V, V, V, S, S, S, S, C, V, V, V, V, S, S, S } },
	[TXTRACE_RECORD_PROCESS] = { PROCESS_FIELD_COUNT, { V, V, C, C, V, V, V, S, S, S } },
	[TXTRACE_RECORD_TRIGGER] = { TRIGGER_FIELD_COUNT, { V, C, C, S, C, C, S, S, S } },
	[TXTRACE_RECORD_STACK] = { STACK_FIELD_COUNT, { V, C, C, V, V, C, C, S, S, C } },
	[TXTRACE_RECORD_FRAMES] = { FRAMES_FIELD_COUNT, { V, V, V } },
	[TXTRACE_RECORD_OVERLAP] = { OVERLAP_FIELD_COUNT,
				     { V, C, C, C, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S } },
	[TXTRACE_RECORD_STAY] = { STAY_FIELD_COUNT, { V, C, V, S, C, C, S, C } },
};
