/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables that a fleet's logs go to: some of those of sql/sql_table.h, with
 * the same columns, and before them what says where a row is from. A row is
 * made as ClickHouse's RowBinary.
 *
 * What a record does not have, or does not know, is 0 or empty: a column that
 * may be NULL takes a byte more for each row.
 */
#ifndef FLEET_TABLE_H
#define FLEET_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "log/format/record_table.h"

/* Goes up when a column is added, removed or means something else. */
#define FLEET_VERSION 1

/* Whether a server knows LowCardinality and codecs: ClickHouse 20.3 and later does. */
struct fleet_dialect {
	bool is_modern;
};

struct fleet_table {
	const char *name;
	const struct record_kind *kind; /* NULL: of files; its columns are `own` */
	bool has_container;		/* and pod: columns of spans */
	const char *const *own; /* "name Type" each, behind the columns of the place; ends with NULL */
};

enum fleet_table_index {
	FLEET_SPANS = 0,
	FLEET_BLOCKS = 1,
	FLEET_ATTRIBUTES = 2,
	FLEET_PROCESSES = 3,
	FLEET_LOSSES = 4,
	FLEET_FILES = 5, /* a row for each log file that is there as a whole, or was removed unsent */
	FLEET_TABLE_CNT = 6,
};

extern const struct fleet_table fleet_tables[FLEET_TABLE_CNT];

/* Where rows are from. batch: of one attempt to send a file; rows of others do not count. */
struct fleet_place {
	const char *host;
	const char *capture; /* 32 hexadecimal digits */
	uint32_t part;
	uint64_t batch;
};

/* "host, capture, …": all columns, for INSERT. */
void fleet_table_append_names(struct text *text, const struct fleet_table *table);

/* The statement that makes the table under this name. */
void fleet_table_append_create(struct text *text, const struct fleet_table *table, const char *name,
			       struct fleet_dialect dialect);

/* The first columns of a row: the place, which is the same for all rows of a file, */
void fleet_append_file(struct text *row, const struct fleet_place *place);
/* and when what the row is about finished, of the wall clock. */
void fleet_append_time(struct text *row, uint64_t unix_ns);

/* Those of the source: a record, or a struct sql_block. */
void fleet_append_fields(struct text *row, const struct record_kind *kind, const void *source);

void fleet_append_u32(struct text *row, uint32_t value);
void fleet_append_u64(struct text *row, uint64_t value);
void fleet_append_string(struct text *row, const char *bytes, size_t length);

#endif
