/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a record of random bytes one that may be handed on: its bools are 0 or 1, its strings have memory. */
#ifndef RANDOM_BYTES_RECORD_H
#define RANDOM_BYTES_RECORD_H

#include <stddef.h>
#include <string.h>

#include "log/format/record_table.h"

/* The strings come from new_string, with the context. */
static inline void random_bytes_become_valid(struct txtrace_record *record,
					     struct txtrace_string (*new_string)(void *context),
					     void *context)
{
	const struct record_kind *kind = record_kind_of(record);
	struct record_string strings[RECORD_STRINGS_MAX];
	int cnt = record_strings(record, strings);

	for (unsigned int i = 0; i < kind->field_cnt; i++)
		if (kind->fields[i].type == RECORD_BOOL)
			*((unsigned char *)record + kind->fields[i].offset) &= 1;
	if (record->kind == TXTRACE_RECORD_RUN)
		*(unsigned char *)&record->run.has_wait_end &= 1;
	for (int i = 0; i < cnt; i++)
		*strings[i].string = new_string(context);
	if (record->kind == TXTRACE_RECORD_DAMAGE)
		record->damage.reason = record->damage.offset_bytes & 1 ? "a reason" : NULL;
}

#endif
