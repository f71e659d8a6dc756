/* SPDX-License-Identifier: BSD-2-Clause */
/* What records of all kinds have in common, for what treats them alike: when they were, whose they are, which strings they have. */
#ifndef RECORD_PARTS_H
#define RECORD_PARTS_H

#include <stdbool.h>

#include "txtrace/log.h"

/* Its place in the order of the log; 0 of damage and unknown kinds. */
uint64_t record_finished_ns(const struct txtrace_record *record);

/* When what it tells began; the time itself of records that tell of a moment. A stay on a CPU begins with the wait before it. */
uint64_t record_began_ns(const struct txtrace_record *record);

/* The thread that it is about; false: it is about none. */
bool record_thread(const struct txtrace_record *record, uint32_t *pid, uint32_t *tid);

#define RECORD_STRINGS_MAX 3

struct record_string {
	struct txtrace_string *string; /* in the record */
	bool is_tag;
	bool is_public; /* the recorder's own word: it tells nothing of who was traced */
};

/* How many strings records of this kind have, the empty ones included; -1: of an unknown kind (and of damage, which is none of a log's). */
int record_strings(struct txtrace_record *record, struct record_string strings[RECORD_STRINGS_MAX]);

#endif
