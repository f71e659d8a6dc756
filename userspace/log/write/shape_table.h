/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shapes of a batch while the writer fills it: which fields of a record go
 * into columns, and which, taking few values, choose its shape. A field that
 * turns out to take many values, such as the thread where there are thousands,
 * is put into a column from the next batch on.
 */
#ifndef SHAPE_TABLE_H
#define SHAPE_TABLE_H

#include <stdbool.h>

#include "log/format/log_field.h"

#define SHAPE_CAPACITY 4096u

struct shape {
	uint64_t hash; /* of the key */
	uint64_t key[1 + LOG_KNOWN_FIELD_MAX]; /* kind and `collected`, then the other fields' values */
	/* bit set of the fields whose values are collected; the others are the same in all records */
	uint64_t collected;
	uint64_t variable;  /* those of them that go into columns */
	uint32_t count;     /* records */
	uint16_t code;      /* what stands for it */
	uint16_t next;      /* the shape that followed it last */
	uint8_t kind;
	int64_t least[LOG_KNOWN_FIELD_MAX]; /* or the value, if it is always the same */
	int64_t greatest[LOG_KNOWN_FIELD_MAX];
	/* for the encoder: where the values of the variable fields go */
	uint16_t columns[LOG_KNOWN_FIELD_MAX];
};

/* What is done with the fields of a kind. */
struct shape_plan {
	uint64_t values; /* bit sets of fields */
	uint64_t sparse;
	uint32_t category_cnt;
	uint8_t categories[LOG_KNOWN_FIELD_MAX];
	uint32_t age; /* batches since the plan was made from the habits */
};

struct shape_table {
	struct shape_plan plans[LOG_KIND_COUNT];
	uint64_t multipliers[1 + LOG_KNOWN_FIELD_MAX]; /* of the words of a key, whose hash is the sum */
	struct shape *shapes;
	uint32_t count;
	uint16_t last;     /* the shape of the last record */
	uint16_t *buckets; /* shape + 1, or 0 */
	uint16_t *ranking; /* shapes by code, once they are ranked */
};

int shape_table_init(struct shape_table *table); /* 0 or -ENOMEM; to be released in any case */
void shape_table_release(struct shape_table *table);

/* A new batch. What has been learned stays. */
void shape_table_clear(struct shape_table *table);

/*
 * The shape of a record with these fields; there must be room for a new one.
 * Its caller counts the record and keeps least and greatest.
 */
struct shape *shape_table_find(struct shape_table *table, uint32_t kind, const uint64_t *fields);

/* No more records: decides which fields are variable, and gives out the codes. */
void shape_table_settle(struct shape_table *table);

/* After a batch: looks whether the shapes were worth it, and makes other plans if not. */
void shape_table_learn(struct shape_table *table);

#endif
