/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which rows of a report add up what different programs did, and which programs
 * these are: for its reader, and as JSON.
 */
#ifndef MIXED_PROGRAMS_H
#define MIXED_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/span_programs.h"
#include "base/json.h"
#include "base/text.h"

/* Begins as { .known = ... }. */
struct mixed_programs {
	const struct span_programs *known;
	struct text rows; /* names of the first ones, with commas between */
	size_t row_cnt;
	uint64_t programs;
};

/*
 * name: of a row, as it is shown; programs: what it adds up, as a mask. Rows of
 * one program, or of none that is known, are passed over.
 */
void mixed_programs_add(struct mixed_programs *mixed, const char *name, uint64_t programs);

/*
 * Appends "pay, get and 2 more add up spans of different programs: /opt/shop,
 * /opt/bank"; nothing if no row is mixed. what: "spans". Releases mixed.
 */
void mixed_programs_end(struct mixed_programs *mixed, const char *what, struct text *sentence);

/* The same as a line of its own. 0 or -ENOMEM. */
int mixed_programs_print(struct mixed_programs *mixed, const char *what, FILE *file);

/* A member "programs": their names. */
void mixed_programs_json(struct json *json, const struct span_programs *known, uint64_t programs);

#endif
