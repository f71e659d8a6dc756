/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A set of spans (or threads) by process and id, with what its user notes of
 * each: 16 bytes an entry, as many as fit into a budget. Hashed with a random
 * seed, so that ids chosen by somebody else can't make it slow.
 */
#ifndef SPAN_SET_H
#define SPAN_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span_note {
	uint64_t id;
	uint32_t pid;
	uint16_t flags; /* the user's; 0 when new */
	bool is_used;   /* the set's own */
};

struct span_set;

struct span_set *span_set_new(size_t max_bytes); /* NULL: no memory */
void span_set_free(struct span_set *set);

/* NULL: it is not in the set. Valid until the next add. */
struct span_note *span_set_get(const struct span_set *set, uint32_t pid, uint64_t id);

/*
 * The entry, made if it is new; NULL: it is new and the budget (or the memory)
 * is used up, which span_set_is_full() tells from then on.
 */
struct span_note *span_set_add(struct span_set *set, uint32_t pid, uint64_t id);
bool span_set_is_full(const struct span_set *set);

size_t span_set_count(const struct span_set *set);

/*
 * Visits all, in no order: for (size_t i = 0; (note = span_set_next(set,
 * &i));). Nothing may be added meanwhile.
 */
struct span_note *span_set_next(const struct span_set *set, size_t *position);

#endif
