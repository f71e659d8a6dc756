/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a record of random bytes one that may be handed on: its bools are 0 or 1, its strings have memory. */
#ifndef RANDOM_BYTES_RECORD_H
#define RANDOM_BYTES_RECORD_H

#include <stddef.h>
#include <string.h>

#include "log/format/record_parts.h"

/* The members that are a bool; the compiler may not read another value than 0 or 1 from them. */
static const struct {
	uint32_t kind;
	size_t offset;
} bools_of_records[] = {
	{ TXTRACE_RECORD_RUN, offsetof(struct txtrace_record, run.has_wait_end) },
	{ TXTRACE_RECORD_OVERLAP, offsetof(struct txtrace_record, overlap.is_keyed) },
	{ TXTRACE_RECORD_STAY, offsetof(struct txtrace_record, stay.is_keyed) },
	{ TXTRACE_RECORD_THREAD, offsetof(struct txtrace_record, thread.is_seed) },
	{ TXTRACE_RECORD_THREAD, offsetof(struct txtrace_record, thread.is_exit) },
	{ TXTRACE_RECORD_ATTRIBUTE, offsetof(struct txtrace_record, attribute.is_truncated) },
	{ TXTRACE_RECORD_TRIGGER, offsetof(struct txtrace_record, trigger.is_keyed) },
	{ TXTRACE_RECORD_STACK, offsetof(struct txtrace_record, stack.is_keyed) },
	{ TXTRACE_RECORD_STACK, offsetof(struct txtrace_record, stack.is_repeat) },
	{ TXTRACE_RECORD_PROCESS, offsetof(struct txtrace_record, process.is_seed) },
	{ TXTRACE_RECORD_PROCESS, offsetof(struct txtrace_record, process.is_exit) },
};

/* The strings come from new_string, with the context. */
static inline void random_bytes_become_valid(struct txtrace_record *record,
					     struct txtrace_string (*new_string)(void *context),
					     void *context)
{
	struct record_string strings[RECORD_STRINGS_MAX];
	int cnt = record_strings(record, strings);

	for (size_t i = 0; i < sizeof(bools_of_records) / sizeof(bools_of_records[0]); i++)
		if (bools_of_records[i].kind == record->kind)
			*((unsigned char *)record + bools_of_records[i].offset) &= 1;
	for (int i = 0; i < cnt; i++)
		*strings[i].string = new_string(context);
	if (record->kind == TXTRACE_RECORD_DAMAGE)
		record->damage.reason = record->damage.offset_bytes & 1 ? "a reason" : NULL;
}

#endif
