/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the fields of the log to the record in memory: the way back from
 * record_pack.h. Any fields may come; what can't be is refused.
 */
#ifndef RECORD_UNPACK_H
#define RECORD_UNPACK_H

#include <stdbool.h>

#include "log/format/log_model.h"

/* The dictionary of a batch. The strings' bytes belong to the batch. */
struct record_unpacker {
	struct model model;
	uint32_t thread_cnt;
	uint32_t slot_cnt;
	uint32_t name_cnt;
	uint32_t text_cnt;
	uint32_t object_cnt;
	const struct txtrace_string *names;
	const struct txtrace_string *texts;
	const uint64_t *objects;
};

/*
 * Fills *record from record_kinds[kind].log_field_cnt fields, the first of which, the
 * time, is in the model already; kind is one that has fields. False: they refer
 * to something that is not there.
 */
bool record_unpack(struct record_unpacker *unpacker, uint32_t kind, const uint64_t *fields,
		   struct txtrace_record *record);

#endif
