/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a log does not tell everything: lost events of the scheduler, dropped
 * records, damage. All of a log's, so this takes a reading of its own. More
 * than 65,536 gaps grow together.
 */
#ifndef TIME_GAPS_H
#define TIME_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtrace/log.h"

struct time_gap {
	uint64_t first_ns;
	uint64_t last_ns;
};

struct time_gaps {
	struct time_gap *gaps;
	size_t cnt, size;
	uint64_t seen_ns; /* the greatest time of a record so far */
	bool is_damaged;  /* since then */
};

void time_gaps_init(struct time_gaps *gaps);
void time_gaps_release(struct time_gaps *gaps);

int time_gaps_add(struct time_gaps *gaps, const struct txtrace_record *record); /* 0 or -ENOMEM */
/* after the last record; the same */
int time_gaps_finish(struct time_gaps *gaps);

/* The first gap that overlaps this time, its ends included; NULL: none does. */
const struct time_gap *time_gaps_find(const struct time_gaps *gaps, uint64_t from_ns, uint64_t to_ns);

#endif
