/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What records of all kinds have in common, for what treats them alike: when
 * they were, whose they are, which strings they have.
 */
#ifndef RECORD_PARTS_H
#define RECORD_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include "txtrace/log.h"

#define RECORD_STRINGS_MAX 3

/*
 * Where records of a kind have what: offsets in struct txtrace_record. 0: they
 * have none, since no member that is asked for here stands at its beginning.
 */
struct record_parts {
	uint16_t time;
	uint16_t begin; /* 0: it tells of a moment */
	uint16_t pid;
	uint16_t tid;
	uint16_t strings[RECORD_STRINGS_MAX];
	/* else the first string is a name, one of few (a label, a command); the others are of many */
	bool is_nameless;
	bool is_known;
};

extern const struct record_parts record_parts_of_kinds[TXTRACE_RECORD_KIND_COUNT];

static inline const struct record_parts *record_parts_of(const struct txtrace_record *record)
{
	return &record_parts_of_kinds[record->kind < TXTRACE_RECORD_KIND_COUNT ? record->kind : 0];
}

/* When it began and when it was finished, the same for a moment; false: damage, or an unknown kind. */
static inline bool record_times(const struct txtrace_record *record, uint64_t *begin_ns, uint64_t *end_ns)
{
	const struct record_parts *of = record_parts_of(record);

	if (!of->time)
		return false;
	*end_ns = *(const uint64_t *)((const char *)record + of->time);
	*begin_ns = of->begin ? *(const uint64_t *)((const char *)record + of->begin) : *end_ns;
	return true;
}

/* Its place in the order of the log; 0 of damage and unknown kinds. */
static inline uint64_t record_finished_ns(const struct txtrace_record *record)
{
	const struct record_parts *of = record_parts_of(record);

	return of->time ? *(const uint64_t *)((const char *)record + of->time) : 0;
}

/*
 * When what it tells began; the time itself of records that tell of a moment. A
 * stay on a CPU begins with the wait before it.
 */
uint64_t record_began_ns(const struct txtrace_record *record);

/* The thread that it is about; false: it is about none. */
bool record_thread(const struct txtrace_record *record, uint32_t *pid, uint32_t *tid);

struct record_string {
	struct txtrace_string *string; /* in the record */
	bool is_tag;
	bool is_public; /* the recorder's own word: it tells nothing of who was traced */
};

/*
 * How many strings records of this kind have, the empty ones included; -1: of
 * an unknown kind (and of damage, which is none of a log's).
 */
int record_strings(struct txtrace_record *record, struct record_string strings[RECORD_STRINGS_MAX]);

#endif
