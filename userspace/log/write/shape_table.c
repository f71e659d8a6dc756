/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/write/shape_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/intern.h"

#define SHAPE_BUCKETS (4 * SHAPE_CAPACITY)

/* A shape that fewer records share costs more than it saves. A few shapes are no burden in any case. */
#define WORTHWHILE_RECORDS 16u
#define HARMLESS_SHAPES 256u

/* After so many batches the habits are tried again: what was true may have changed. */
#define PLAN_LIFE_BATCHES 64u

/* ---- plans ---- */

static void make_plan(struct shape_plan *plan, const struct record_kind *of)
{
	memset(plan, 0, sizeof(*plan));
	for (uint8_t i = 0; i < of->log_field_cnt; i++) {
		if (of->habits[i] == HABIT_CATEGORY)
			plan->categories[plan->category_cnt++] = i;
		else
			*(of->habits[i] == HABIT_SPARSE ? &plan->sparse : &plan->values) |= FIELD_BIT(i);
	}
}

static void demote(struct shape_plan *plan, uint32_t category)
{
	plan->values |= FIELD_BIT(plan->categories[category]);
	plan->category_cnt--;
	memmove(&plan->categories[category], &plan->categories[category + 1], plan->category_cnt - category);
}

/* How many different keys the shapes of this kind would have if the plan lacked one of its categories. */
static uint32_t count_without(const struct shape_table *table, uint32_t kind, const struct shape_plan *plan,
			      uint32_t category, uint64_t *seen)
{
	uint32_t cnt = 0;

	memset(seen, 0, SHAPE_BUCKETS * sizeof(*seen));
	for (uint32_t i = 0; i < table->count; i++) {
		const struct shape *shape = &table->shapes[i];
		uint64_t hash = shape->collected;
		uint32_t at;

		if (shape->kind != kind)
			continue;
		for (uint32_t j = 0; j < plan->category_cnt; j++)
			if (j != category)
				hash = hash_number(hash ^ (uint64_t)shape->least[plan->categories[j]]);
		hash |= 1;
		for (at = (uint32_t)(hash >> 40) % SHAPE_BUCKETS; seen[at] && seen[at] != hash;)
			at = (at + 1) % SHAPE_BUCKETS;
		cnt += !seen[at];
		seen[at] = hash;
	}
	return cnt;
}

/* Takes out the category that multiplies the shapes most, until they are few enough for that many records. */
static void replan(struct shape_table *table, uint32_t kind, uint32_t shape_cnt, uint32_t record_cnt)
{
	struct shape_plan *plan = &table->plans[kind];
	uint64_t *seen = malloc(SHAPE_BUCKETS * sizeof(*seen));

	while (seen && plan->category_cnt && shape_cnt > HARMLESS_SHAPES &&
	       record_cnt / shape_cnt < WORTHWHILE_RECORDS) {
		uint32_t best = 0, best_cnt = UINT32_MAX;

		for (uint32_t i = 0; i < plan->category_cnt; i++) {
			uint32_t cnt = count_without(table, kind, plan, i, seen);

			if (cnt < best_cnt) {
				best = i;
				best_cnt = cnt;
			}
		}
		demote(plan, best);
		shape_cnt = best_cnt;
	}
	free(seen);
}

void shape_table_learn(struct shape_table *table)
{
	uint32_t shape_cnts[LOG_KIND_COUNT] = { 0 }, record_cnts[LOG_KIND_COUNT] = { 0 };

	for (uint32_t i = 0; i < table->count; i++) {
		shape_cnts[table->shapes[i].kind]++;
		record_cnts[table->shapes[i].kind] += table->shapes[i].count;
	}
	for (uint32_t kind = 0; kind < LOG_KIND_COUNT; kind++) {
		if (++table->plans[kind].age == PLAN_LIFE_BATCHES)
			make_plan(&table->plans[kind], &record_kinds[kind]);
		else if (shape_cnts[kind])
			replan(table, kind, shape_cnts[kind], record_cnts[kind]);
	}
}

/* ---- finding ---- */

int shape_table_init(struct shape_table *table)
{
	memset(table, 0, sizeof(*table));
	for (uint32_t i = 0; i < LOG_KIND_COUNT; i++)
		make_plan(&table->plans[i], &record_kinds[i]);
	for (uint32_t i = 0; i <= LOG_KNOWN_FIELD_MAX; i++)
		table->multipliers[i] = hash_number(hash_number(i + 1) + 1) | 1;
	table->shapes = malloc(SHAPE_CAPACITY * sizeof(*table->shapes));
	table->buckets = malloc(SHAPE_BUCKETS * sizeof(*table->buckets));
	table->ranking = malloc(SHAPE_CAPACITY * sizeof(*table->ranking));
	if (!table->shapes || !table->buckets || !table->ranking)
		return -ENOMEM;
	shape_table_clear(table);
	return 0;
}

void shape_table_release(struct shape_table *table)
{
	free(table->shapes);
	free(table->buckets);
	free(table->ranking);
}

void shape_table_clear(struct shape_table *table)
{
	memset(table->buckets, 0, SHAPE_BUCKETS * sizeof(*table->buckets));
	table->count = 0;
	table->last = table->shapes[0].next = 0;
}

struct shape_key {
	uint64_t words[1 + LOG_KNOWN_FIELD_MAX];
	uint64_t hash; /* of words that don't wait for each other */
	uint32_t length;
};

/* Which fields of this record are collected; the key gets what names its shape. */
static inline void make_key(const struct shape_table *table, uint32_t kind, const uint64_t *fields,
			    struct shape_key *key)
{
	const struct shape_plan *plan = &table->plans[kind];
	uint64_t collected = plan->values;

	for (uint64_t left = plan->sparse; left; left &= left - 1)
		collected |= fields[__builtin_ctzll(left)] ? left & -left : 0;
	key->words[0] = collected << 8 | kind;
	key->hash = key->words[0] * table->multipliers[0];
	for (uint32_t i = 0; i < plan->category_cnt; i++) {
		uint64_t value = fields[plan->categories[i]];

		key->words[1 + i] = value;
		key->hash += value * table->multipliers[1 + i];
	}
	key->length = 1 + plan->category_cnt;
}

static void init_shape(struct shape *shape, const struct shape_key *key, const uint64_t *fields)
{
	memset(shape, 0, sizeof(*shape));
	memcpy(shape->key, key->words, key->length * sizeof(key->words[0]));
	shape->hash = key->hash;
	shape->kind = (uint8_t)key->words[0];
	shape->collected = key->words[0] >> 8;
	for (uint32_t i = 0; i < record_kinds[shape->kind].log_field_cnt; i++) {
		shape->least[i] = shape->collected & FIELD_BIT(i) ? INT64_MAX : (int64_t)fields[i];
		shape->greatest[i] = shape->collected & FIELD_BIT(i) ? INT64_MIN : (int64_t)fields[i];
	}
}

static inline bool has_key(const struct shape *shape, const struct shape_key *key)
{
	uint64_t difference = shape->hash ^ key->hash;

	for (uint32_t i = 0; !difference && i < key->length; i++)
		difference = shape->key[i] ^ key->words[i];
	return !difference;
}

static struct shape *look_up(struct shape_table *table, const struct shape_key *key, const uint64_t *fields)
{
	uint32_t at;

	for (at = (uint32_t)(key->hash >> 40) % SHAPE_BUCKETS; table->buckets[at];
	     at = (at + 1) % SHAPE_BUCKETS)
		if (has_key(&table->shapes[table->buckets[at] - 1], key))
			return &table->shapes[table->buckets[at] - 1];
	init_shape(&table->shapes[table->count], key, fields);
	table->buckets[at] = (uint16_t)++table->count;
	return &table->shapes[table->count - 1];
}

/* Often the shape that followed the last one before follows it again. */
struct shape *shape_table_find(struct shape_table *table, uint32_t kind, const uint64_t *fields)
{
	struct shape *last = &table->shapes[table->last], *shape = &table->shapes[last->next];
	struct shape_key key;

	make_key(table, kind, fields, &key);
	if (!table->count || !has_key(shape, &key))
		shape = look_up(table, &key, fields);
	last->next = table->last = (uint16_t)(shape - table->shapes);
	return shape;
}

/* ---- settling ---- */

/* Fields that never differ need no column; a least value that few records share is not worth its bytes. */
static void settle_shape(struct shape *shape)
{
	shape->variable = shape->collected;
	for (uint64_t left = shape->collected; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);

		if (shape->least[i] == shape->greatest[i] && (shape->count > 1 || !shape->least[i]))
			shape->variable &= ~FIELD_BIT(i);
		else if (shape->count < 4 && shape->least[i] > 0)
			shape->least[i] = 0;
	}
}

static int by_count(const void *a, const void *b, void *context)
{
	const struct shape *shapes = context;
	uint32_t count_a = shapes[*(const uint16_t *)a].count, count_b = shapes[*(const uint16_t *)b].count;

	if (count_a != count_b)
		return count_a > count_b ? -1 : 1;
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

static int by_key(const void *a, const void *b, void *context)
{
	const struct shape *shapes = context;

	return memcmp(shapes[*(const uint16_t *)a].key, shapes[*(const uint16_t *)b].key,
		      sizeof(shapes->key));
}

/*
 * The most frequent ones get the codes of one byte; among those, and among the rest, like stands beside like.
 */
void shape_table_settle(struct shape_table *table)
{
	uint32_t short_cnt = table->count < LOG_ORDER_SHORT ? table->count : LOG_ORDER_SHORT;

	for (uint32_t i = 0; i < table->count; i++) {
		settle_shape(&table->shapes[i]);
		table->ranking[i] = (uint16_t)i;
	}
	qsort_r(table->ranking, table->count, sizeof(*table->ranking), by_count, table->shapes);
	qsort_r(table->ranking, short_cnt, sizeof(*table->ranking), by_key, table->shapes);
	qsort_r(table->ranking + short_cnt, table->count - short_cnt, sizeof(*table->ranking), by_key,
		table->shapes);
	for (uint32_t i = 0; i < table->count; i++)
		table->shapes[table->ranking[i]].code = (uint16_t)i;
}
