/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the record in memory to the fields of the log, and the dictionary of a
 * batch that this fills. record_unpack.h is the way back.
 */
#ifndef RECORD_PACK_H
#define RECORD_PACK_H

#include <stdbool.h>

#include "log/format/intern.h"
#include "log/format/log_model.h"

/* A batch has at most as many names. */
#define RECORD_NAME_CAPACITY 8192u

struct record_packer {
	struct model model;
	struct intern_numbers threads; /* tid << 32 | pid */
	struct intern_strings names;   /* labels, names, commands: few */
	struct intern_strings texts;   /* tags, keys, values: many */
	struct intern_numbers objects; /* what a RUN blocked on */
	struct intern_numbers slots;
	uint32_t cpu_cnt; /* that have been seen, of the first SEARCHED_CPUS */
};

int record_packer_init(struct record_packer *packer); /* 0 or -ENOMEM; to be released in any case */
void record_packer_release(struct record_packer *packer);

/* Forgets everything: a new batch. */
void record_packer_reset(struct record_packer *packer);

/*
 * 0: the record can be packed; -ENOSPC: not in this batch any more; -E2BIG: a
 * string is too long; -EINVAL: no such kind.
 */
int record_packer_check(const struct record_packer *packer, const struct txtrace_record *record);

/* Fills record_kinds[record->kind].log_field_cnt fields and moves the model on. The record has passed the check. */
void record_pack(struct record_packer *packer, const struct txtrace_record *record,
		 uint64_t fields[LOG_KNOWN_FIELD_MAX]);

#endif
