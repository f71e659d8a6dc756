/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What SQL sees of a log: a table for each kind of record, as the table of
 * records says, and two more. A column is a field, under its name, in its order;
 * the last column of each table is the number of the capture.
 *
 * What a record does not have, or does not know, is NULL. Ids are text, as in
 * JSON: they may be above 2^63. Other numbers above that come as floating-point
 * numbers, since SQL's integers end there.
 */
#ifndef SQL_TABLE_H
#define SQL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/format/record_table.h"
#include "txtrace/log.h"

enum sql_type {
	SQL_NULL = 0,
	SQL_INTEGER = 1,
	SQL_REAL = 2,
	SQL_TEXT = 3,
	SQL_ANY = 4, /* of columns only: the value has a type of its own */
	SQL_BLOB = 5,
};

/* bytes: any, not NUL-terminated; they live as long as the row, or in `room`. */
struct sql_value {
	enum sql_type type;
	int64_t integer;
	double real;
	const char *bytes;
	size_t length;
	char room[48];
};

/* One block of a thread: a wait, and what is known of it. */
struct sql_block {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t blocked_ns;
	uint64_t object;
	uint32_t pid;
	uint32_t tid;
	int32_t syscall_nr;
	uint8_t reason;			   /* enum txtrace_block_reason */
	bool has_reason;		   /* it is known: reason, syscall_nr and object say something */
	uint8_t object_kind;		   /* enum wait_object_kind */
	struct txtrace_string syscall;	   /* empty: none, or unknown */
	struct txtrace_string object_name; /* what a descriptor refers to; empty: unknown */
	bool has_wake;			   /* the wakeup is in the log: wake is filled */
	struct txtrace_wake wake;
};

/* A row. source: the record, the block or the header, as the table says. */
struct sql_row {
	const void *source;
	uint64_t capture; /* 1, 2, …: of those that were read, in order */
};

/*
 * A table is a struct record_kind: its `plural` is the name, its `time` the field
 * that the log's batches are indexed by. (Not a begin: in a hostile log that may
 * be later than the end.) A column is a struct record_field.
 *
 * Rows of struct sql_block, and of struct txtrace_log_info, one for each
 * capture. A block has no time of the index: it is found by what comes before.
 */
extern const struct record_kind sql_blocks, sql_captures;

/* Index 0, 1, … until NULL. */
const struct record_kind *sql_table_at(size_t index);
const struct record_kind *sql_table_find(const char *name); /* NULL: there is none */

size_t sql_column_cnt(const struct record_kind *table);
const struct record_field *sql_column_at(const struct record_kind *table, size_t index);

enum sql_type sql_column_type(const struct record_field *column);
void sql_column_get(const struct record_field *column, const struct sql_row *row, struct sql_value *value);

#endif
