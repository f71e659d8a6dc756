/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The context of a thread as Node.js has it under dd-trace: the variable leads to V8's present
 * AsyncContextFrame, a map, in which the value of one key has the address of the record. Here are such a map,
 * with other keys in the same bucket, and the objects around it.
 */
#ifndef OTEL_NODEJS_H
#define OTEL_NODEJS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "otel_context.h"

#define OBJECT(address) ((uint64_t)(uintptr_t)(address) + 1)
#define NUMBER(value) ((uint64_t)(uint32_t)(value) << 32)
#define RECORD_AT 32

struct nodejs_variable {
	uint64_t frame;
	uint64_t key;
	int32_t hash;
	uint8_t record;
	uint8_t padding[3];
	uint64_t undefined;
};

/* Counts, 4 buckets, 6 entries of { key, value, next }. */
struct nodejs_table {
	uint64_t map, length, there, deleted, buckets;
	uint64_t heads[4];
	uint64_t entries[6][3];
};

struct nodejs_world {
	uint64_t nothing[2]; /* an object: undefined */
	uint64_t key[4];     /* an object */
	uint64_t others[6][2];
	uint64_t value[8];
	uint64_t frame[4]; /* an object: map, properties, elements, table */
	struct nodejs_table table;
	uint64_t frame_slot, key_slot;
};

__attribute__((visibility("default"))) __thread struct nodejs_variable otel_thread_ctx_nodejs_v1;

static __thread struct nodejs_world *nodejs_world;

/* Our key is the last one of a chain of four, in the bucket of its hash. */
static void nodejs_fill_table(struct nodejs_world *world)
{
	struct nodejs_table *table = &world->table;

	*table = (struct nodejs_table){ .length = NUMBER(25),
					.there = NUMBER(5),
					.deleted = NUMBER(1),
					.buckets = NUMBER(4),
					.heads = { NUMBER(-1), NUMBER(5), NUMBER(-1), NUMBER(-1) } };
	for (int i = 0; i < 6; i++) {
		table->entries[i][0] = OBJECT(world->others[i]);
		table->entries[i][1] = OBJECT(world->nothing);
		table->entries[i][2] = NUMBER(-1);
	}
	table->entries[5][2] = NUMBER(3);
	table->entries[3][2] = NUMBER(4);
	table->entries[4][2] = NUMBER(1);
	table->entries[1][0] = OBJECT(world->key);
	table->entries[1][1] = OBJECT(world->value);
}

static void nodejs_begin(void)
{
	struct nodejs_world *world = calloc(1, sizeof(*world));

	nodejs_fill_table(world);
	world->frame[3] = OBJECT(&world->table);
	world->frame_slot = OBJECT(world->frame);
	world->key_slot = OBJECT(world->key);
	nodejs_world = world;
	otel_thread_ctx_nodejs_v1 = (struct nodejs_variable){
		.key = (uint64_t)(uintptr_t)&world->key_slot,
		.hash = 0x7651,
		.record = RECORD_AT,
		.undefined = OBJECT(world->nothing),
		.frame = (uint64_t)(uintptr_t)&world->frame_slot,
	};
}

struct otel_record **otel_variable(void)
{
	if (!nodejs_world)
		nodejs_begin();
	return (struct otel_record **)(void *)&nodejs_world->value[RECORD_AT / 8];
}

#endif
