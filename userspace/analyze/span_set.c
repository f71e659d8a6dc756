/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/span_set.h"

#include <stdlib.h>
#include <sys/random.h>

#define FIRST_SLOTS 1024

struct span_set {
	struct span_note *slots;
	size_t slot_cnt; /* a power of two */
	size_t slot_max; /* the same; it fits into the budget together with half of it, from which it grows */
	size_t cnt;
	uint64_t seed;
	bool is_full;
};

struct span_set *span_set_new(size_t max_bytes)
{
	struct span_set *set = calloc(1, sizeof(*set));

	if (!set)
		return NULL;
	set->slot_cnt = set->slot_max = FIRST_SLOTS;
	while (set->slot_max <= max_bytes / sizeof(*set->slots) / 3)
		set->slot_max *= 2;
	set->slots = calloc(set->slot_cnt, sizeof(*set->slots));
	if (!set->slots) {
		free(set);
		return NULL;
	}
	/* Without entropy (early boot) it works all the same, only guessable. */
	if (getrandom(&set->seed, sizeof(set->seed), GRND_NONBLOCK) != sizeof(set->seed))
		set->seed = (uint64_t)(uintptr_t)set;
	return set;
}

void span_set_free(struct span_set *set)
{
	if (!set)
		return;
	free(set->slots);
	free(set);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Its slot, or the free one where it belongs. */
static struct span_note *find(const struct span_set *set, uint32_t pid, uint64_t id)
{
	uint64_t hash = mix(mix(id ^ set->seed, 0x9e3779b97f4a7c15u) ^ pid ^ set->seed >> 32,
			    0xe7037ed1a0b428dbu);
	size_t i = hash & (set->slot_cnt - 1);

	while (set->slots[i].is_used && (set->slots[i].id != id || set->slots[i].pid != pid))
		i = (i + 1) & (set->slot_cnt - 1);
	return &set->slots[i];
}

static bool grow(struct span_set *set)
{
	struct span_note *old = set->slots, *slots;
	size_t old_cnt = set->slot_cnt;

	slots = old_cnt < set->slot_max ? calloc(old_cnt * 2, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	set->slots = slots;
	set->slot_cnt = old_cnt * 2;
	for (size_t i = 0; i < old_cnt; i++) {
		if (old[i].is_used)
			*find(set, old[i].pid, old[i].id) = old[i];
	}
	free(old);
	return true;
}

struct span_note *span_set_get(const struct span_set *set, uint32_t pid, uint64_t id)
{
	struct span_note *note = find(set, pid, id);

	return note->is_used ? note : NULL;
}

struct span_note *span_set_add(struct span_set *set, uint32_t pid, uint64_t id)
{
	struct span_note *note = find(set, pid, id);

	if (note->is_used)
		return note;
	if (set->cnt >= set->slot_cnt / 4 * 3) {
		if (!grow(set)) {
			set->is_full = true;
			return NULL;
		}
		note = find(set, pid, id);
	}
	*note = (struct span_note){ .id = id, .pid = pid, .is_used = true };
	set->cnt++;
	return note;
}

bool span_set_is_full(const struct span_set *set)
{
	return set->is_full;
}

size_t span_set_count(const struct span_set *set)
{
	return set->cnt;
}

struct span_note *span_set_next(const struct span_set *set, size_t *position)
{
	while (*position < set->slot_cnt) {
		struct span_note *note = &set->slots[(*position)++];

		if (note->is_used)
			return note;
	}
	return NULL;
}
