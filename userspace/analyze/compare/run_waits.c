/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/run_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int waits_on_key(struct run_set *set, enum extra_kind kind, uint8_t reason, const struct party *waker,
			uint32_t *key)
{
	char text[KEY_BYTES_MAX] = { (char)reason, (char)waker->kind };
	size_t length = waker->name.length < KEY_BYTES_MAX - 2 ? waker->name.length : KEY_BYTES_MAX - 2;

	if (length > 0)
		memcpy(text + 2, waker->name.bytes, length);
	return run_set_add_key(set, kind, (struct txtrace_string){ text, length + 2 }, key);
}

/* Of one label and one reason, as the cells come: sorted by label, reason and object. */
struct wanted {
	uint32_t label;
	uint32_t object; /* of the sums */
	uint8_t reason;
	uint64_t ns;
};

static int note_object(const struct run_waits *waits, const struct wanted *best, uint64_t all_ns)
{
	struct compare_label *label = waits->set->by_label[best->label];
	const struct wait_object *object = wait_sums_object(waits->sums, best->object);
	uint64_t span_cnt = waits->span_cnt(waits->context, best->label);
	double per_span = span_cnt ? (double)best->ns / (double)span_cnt : 0;
	struct waited_object *to;
	char *name;

	if (!label->objects)
		label->objects = calloc(TXTRACE_BLOCK_REASON_COUNT, sizeof(*label->objects));
	if (!label->objects)
		return -ENOMEM;
	to = &label->objects[best->reason];
	if (per_span <= to->per_span)
		return 0;
	name = malloc(object->name.length + 1);
	if (!name)
		return -ENOMEM;
	if (object->name.length > 0)
		memcpy(name, object->name.bytes, object->name.length);
	free(to->name);
	*to = (struct waited_object){ *object, name, (double)best->ns / (double)all_ns, per_span };
	to->object.name.bytes = name;
	return 0;
}

static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->label != y->label)
		return x->label < y->label ? -1 : 1;
	if (x->reason != y->reason)
		return x->reason < y->reason ? -1 : 1;
	return x->object < y->object ? -1 : x->object > y->object;
}

static int note_objects(const struct run_waits *waits, struct wanted *wanted, size_t cnt)
{
	int err = 0;

	qsort(wanted, cnt, sizeof(*wanted), compare_wanted);
	for (size_t i = 0; i < cnt && !err;) {
		struct wanted best = { .label = wanted[i].label, .reason = wanted[i].reason };
		uint64_t all_ns = 0;

		while (i < cnt && wanted[i].label == best.label && wanted[i].reason == best.reason) {
			struct wanted one = wanted[i];

			for (i++; i < cnt && compare_wanted(&wanted[i], &one) == 0; i++)
				one.ns += wanted[i].ns;
			all_ns += one.ns;
			if (one.ns > best.ns)
				best = one;
		}
		err = best.ns > 0 && best.reason < TXTRACE_BLOCK_REASON_COUNT
			      ? note_object(waits, &best, all_ns)
			      : 0;
	}
	return err;
}

static uint32_t find_label(const struct run_set *set, const struct party *waiter)
{
	return waiter->kind == PARTY_SPAN
		       ? string_pool_find(set->labels, waiter->name.bytes, waiter->name.length)
		       : STRING_POOL_NONE;
}

static int tell_holds(const struct run_waits *waits)
{
	struct lock_hold hold;
	int err = 0;

	for (size_t i = 0; !err && lock_holds_next(waits->holds, &i, &hold);) {
		uint32_t label = find_label(waits->set, &hold.waiter), key;

		if (label == STRING_POOL_NONE)
			continue;
		err = waits_on_key(waits->set, EXTRA_HELD, TXTRACE_BLOCK_LOCK, &hold.holder, &key);
		err = err ? err : waits->add(waits->context, label, key, (double)hold.on_cpu_ns);
	}
	return err;
}

int run_waits_tell(const struct run_waits *waits)
{
	size_t cnt = wait_sums_count(waits->sums), wanted_cnt = 0;
	struct wanted *wanted = malloc((cnt + 1) * sizeof(*wanted));
	int err = wanted ? 0 : -ENOMEM;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct wait_cell *cell = wait_sums_get(waits->sums, i);
		struct party waiter = wait_sums_party(waits->sums, cell->waiter),
			     waker = wait_sums_party(waits->sums, cell->waker);
		uint8_t reason = wait_sums_object(waits->sums, cell->object)->reason;
		uint32_t label = find_label(waits->set, &waiter), key;

		if (label == STRING_POOL_NONE)
			continue;
		wanted[wanted_cnt++] = (struct wanted){ label, cell->object, reason, cell->ns };
		err = waits_on_key(waits->set, EXTRA_WAITS_ON, reason, &waker, &key);
		err = err ? err : waits->add(waits->context, label, key, (double)cell->ns);
		if (!err && waker.name.length > 0) {
			err = run_set_add_key(waits->set, EXTRA_WAITED, waker.name, &key);
			err = err ? err : waits->add(waits->context, label, key, (double)cell->ns);
		}
	}
	if (!err && waits->wants_objects)
		err = note_objects(waits, wanted, wanted_cnt);
	free(wanted);
	return err ? err : tell_holds(waits);
}
