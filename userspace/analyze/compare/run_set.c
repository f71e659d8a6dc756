/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/run_set.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define WINDOWS_WANTED 12 /* of a side */
#define FEW_RUNS 2
#define SPANS_ABOVE 5

int run_set_init(struct run_set *set)
{
	*set = (struct run_set){ .labels = string_pool_new(), .keys = string_pool_new() };
	return set->labels && set->keys ? 0 : -ENOMEM;
}

static void free_label(struct compare_label *label)
{
	for (int side = 0; side < 4; side++) {
		for (size_t i = 0; i < label->unit_cnt[side]; i++) {
			free(label->units[side][i].percentiles);
			free(label->units[side][i].extras);
		}
		free(label->units[side]);
	}
	for (size_t i = 0; label->objects && i < TXTRACE_BLOCK_REASON_COUNT; i++)
		free(label->objects[i].name);
	free(label->objects);
	free(label);
}

void run_set_release(struct run_set *set)
{
	for (size_t i = 0; i < set->label_cnt; i++)
		free_label(set->by_label[i]);
	free(set->by_label);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < set->run_cnt[side]; i++)
			free(set->runs[side][i].path);
		free(set->runs[side]);
	}
	string_pool_free(set->labels);
	string_pool_free(set->keys);
	*set = (struct run_set){ 0 };
}

int run_set_want(struct run_set *set, unsigned int value, double percentile)
{
	set->has_percentiles[value] = true;
	if (run_set_percentile(set, percentile) >= 0)
		return 0;
	if (set->percentile_cnt == COMPARE_PERCENTILES_MAX)
		return -E2BIG;
	set->percentiles[set->percentile_cnt++] = percentile;
	return 0;
}

int run_set_percentile(const struct run_set *set, double percentile)
{
	for (size_t i = 0; i < set->percentile_cnt; i++) {
		if (fabs(set->percentiles[i] - percentile) < 1e-9)
			return (int)i;
	}
	return -1;
}

uint64_t spans_needed(double percentile)
{
	return (uint64_t)ceil(SPANS_ABOVE / (1 - percentile) - 1e-6);
}

void run_set_divide(struct run_set *set, const size_t run_cnt[2])
{
	size_t least = run_cnt[0] < run_cnt[1] ? run_cnt[0] : run_cnt[1];

	set->is_windowed = least <= FEW_RUNS;
	for (int side = 0; side < 2; side++)
		set->window_cnt[side] = !set->is_windowed || run_cnt[side] >= WINDOWS_WANTED
						? 1
						: WINDOWS_WANTED /
							  (run_cnt[side] ? (uint32_t)run_cnt[side] : 1);
}

int run_set_add_run(struct run_set *set, enum compare_side side, const char *path, uint32_t window_cnt,
		    struct compare_run **run)
{
	struct compare_run *grown = reallocarray(set->runs[side], set->run_cnt[side] + 1, sizeof(*grown));
	char *copy = strdup(path);

	if (grown)
		set->runs[side] = grown;
	if (!grown || !copy) {
		free(copy);
		return -ENOMEM;
	}
	*run = &grown[set->run_cnt[side]++];
	**run = (struct compare_run){ .path = copy,
				      .first_unit = set->unit_cnt[side],
				      .unit_cnt = window_cnt };
	set->unit_cnt[side] += window_cnt;
	return 0;
}

/* ---- keys ---- */

static size_t spell_key(char text[1 + KEY_BYTES_MAX], enum extra_kind kind, struct txtrace_string name)
{
	size_t length = name.length < KEY_BYTES_MAX ? name.length : KEY_BYTES_MAX;

	text[0] = (char)kind;
	if (length > 0)
		memcpy(text + 1, name.bytes, length);
	return length + 1;
}

int run_set_add_key(struct run_set *set, enum extra_kind kind, struct txtrace_string name, uint32_t *key)
{
	char text[1 + KEY_BYTES_MAX];

	return string_pool_add(set->keys, text, spell_key(text, kind, name), key) ? -ENOMEM : 0;
}

uint32_t run_set_find_key(const struct run_set *set, enum extra_kind kind, struct txtrace_string name)
{
	char text[1 + KEY_BYTES_MAX];

	return string_pool_find(set->keys, text, spell_key(text, kind, name));
}

enum extra_kind run_set_key(const struct run_set *set, uint32_t key, struct txtrace_string *name)
{
	size_t length;
	const char *text = string_pool_get(set->keys, key, &length);

	*name = (struct txtrace_string){ text + 1, length - 1 };
	return (enum extra_kind)text[0];
}

double label_unit_extra(const struct label_unit *unit, uint32_t key)
{
	size_t low = 0, high = unit->extra_cnt;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (unit->extras[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < unit->extra_cnt && unit->extras[low].key == key ? unit->extras[low].per_span : 0;
}

/* ---- labels ---- */

static int add_label(struct run_set *set, struct txtrace_string name, uint32_t *number)
{
	struct compare_label **grown = set->by_label, *label;
	int err;

	grown = array_grow(set->by_label, &set->label_size, set->label_cnt, sizeof(struct compare_label *));
	if (!grown)
		return -ENOMEM;
	set->by_label = grown;
	grown[set->label_cnt] = calloc(1, sizeof(**grown));
	if (!grown[set->label_cnt])
		return -ENOMEM;
	if (string_pool_add(set->labels, name.bytes, name.length, number)) {
		free(grown[set->label_cnt]);
		return -ENOMEM;
	}
	label = grown[*number];
	label->name.bytes = string_pool_get(set->labels, *number, &label->name.length);
	set->label_cnt++;
	err = run_set_add_key(set, EXTRA_CALLS, label->name, &label->call_key);
	return err ? err : run_set_add_key(set, EXTRA_CHILDREN, label->name, &label->child_key);
}

int run_set_label(struct run_set *set, struct txtrace_string name, uint32_t *number)
{
	*number = string_pool_find(set->labels, name.bytes, name.length);
	if (*number != STRING_POOL_NONE)
		return 0;
	*number = LABELS_MAX;
	return set->label_cnt < LABELS_MAX ? add_label(set, name, number) : 0;
}

struct compare_label *run_set_find_label(const struct run_set *set, struct txtrace_string name)
{
	uint32_t number = string_pool_find(set->labels, name.bytes, name.length);

	return number == STRING_POOL_NONE ? NULL : set->by_label[number];
}

struct label_unit *run_set_add_unit(struct run_set *set, uint32_t number, int side, uint32_t unit)
{
	struct compare_label *label = set->by_label[number];
	struct label_unit *grown = label->units[side];

	grown = array_grow(label->units[side], &label->unit_size[side], label->unit_cnt[side],
			   sizeof(*grown));
	if (!grown)
		return NULL;
	label->units[side] = grown;
	grown += label->unit_cnt[side]++;
	*grown = (struct label_unit){ .unit = unit };
	return grown;
}

/* ---- pairs ---- */

struct started {
	uint64_t start_ns;
	enum compare_side side;
	uint32_t run;
};

static int compare_started(const void *a, const void *b)
{
	const struct started *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static bool is_alternating(const struct run_set *set, struct started *order)
{
	size_t cnt = 0;

	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < set->run_cnt[side]; i++) {
			const struct txtrace_log_info *info = &set->runs[side][i].info;

			if (memcmp(info->boot_id, set->runs[0][0].info.boot_id, sizeof(info->boot_id)) != 0)
				return false;
			order[cnt++] = (struct started){ info->start_monotonic_ns, (enum compare_side)side,
							 (uint32_t)i };
		}
	}
	qsort(order, cnt, sizeof(*order), compare_started);
	for (size_t i = 0; i < cnt; i++) {
		if ((i % 2 && order[i].side == order[i - 1].side) ||
		    (i > 0 && order[i].start_ns == order[i - 1].start_ns))
			return false;
	}
	return true;
}

/* Units are runs here: the n-th run of a side becomes unit rank[n]. */
static void renumber(struct run_set *set, const uint32_t *rank[2])
{
	for (size_t number = 0; number < set->label_cnt; number++) {
		for (int side = 0; side < 2; side++) {
			struct compare_label *label = set->by_label[number];

			for (size_t i = 0; i < label->unit_cnt[side]; i++)
				label->units[side][i].unit = rank[side][label->units[side][i].unit];
		}
	}
}

int run_set_pair(struct run_set *set, bool is_forced)
{
	size_t cnt = set->run_cnt[0];
	struct started *order;
	uint32_t *rank;

	set->is_paired = is_forced;
	if (is_forced || set->is_windowed || cnt != set->run_cnt[1] || cnt == 0)
		return 0;
	order = malloc(2 * cnt * sizeof(*order));
	rank = malloc(2 * cnt * sizeof(*rank));
	if (order && rank && is_alternating(set, order)) {
		set->is_paired = true;
		for (size_t i = 0; i < 2 * cnt; i++)
			rank[(order[i].side == SIDE_NEW ? cnt : 0) + order[i].run] = (uint32_t)(i / 2);
		renumber(set, (const uint32_t *[]){ rank, rank + cnt });
	}
	free(order);
	free(rank);
	return order && rank ? 0 : -ENOMEM;
}
