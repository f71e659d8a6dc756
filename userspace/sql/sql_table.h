/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What SQL sees of a log: a table for each kind of record, and the names,
 * types and values of its columns. A new column is one line in a table of
 * sql_tables.c. Names are those of `txtrace export --format jsonl`; the parts
 * of a ledger are called as `txtrace dump` calls them.
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

#include "txtrace/log.h"

enum sql_type {
	SQL_NULL = 0,
	SQL_INTEGER = 1,
	SQL_REAL = 2,
	SQL_TEXT = 3,
	SQL_ANY = 4, /* of columns only: the value has a type of its own */
};

/* bytes: any, not NUL-terminated; they live as long as the row, or in `room`. */
struct sql_value {
	enum sql_type type;
	int64_t integer;
	double real;
	const char *bytes;
	size_t length;
	char room[24];
};

/* How a value lies in the record. */
enum sql_how {
	SQL_U64 = 1,
	SQL_U64_OR_NULL, /* 0 says that it is not known, or not there */
	SQL_U32,
	SQL_U32_OR_NULL,
	SQL_I32,
	SQL_I64,
	SQL_BOOL,
	SQL_FLAG,  /* a bit, `mask`, of uint32_t flags */
	SQL_ID,	   /* uint64_t; 0: NULL */
	SQL_BYTES, /* struct txtrace_string; empty: NULL */
	SQL_CALL,  /* what `get` says */
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
	uint8_t reason;			   /* enum txtrace_block_reason, or their number: unknown */
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

struct sql_column {
	const char *name;
	enum sql_how how;
	size_t offset;	    /* in the row's source */
	uint32_t mask;	    /* FLAG */
	enum sql_type type; /* CALL: of its values */
	void (*get)(const struct sql_row *row, struct sql_value *value);
};

enum sql_source_kind {
	SQL_OF_RECORDS = 0,  /* of one kind */
	SQL_OF_BLOCKS = 1,   /* struct sql_block */
	SQL_OF_CAPTURES = 2, /* struct txtrace_log_info, one for each capture */
};

struct sql_table {
	const char *name;
	const char *help; /* one line */
	enum sql_source_kind of;
	uint32_t kind;			  /* OF_RECORDS: enum txtrace_record_kind */
	const struct sql_column *columns; /* end with .name = NULL */
	/*
	 * The column with the time by which the log's batches are indexed; NULL: none. Not the time of a
	 * begin: in a hostile log it may be later than the end. OF_BLOCKS has none: a block is found by what
	 * comes before it.
	 */
	const char *finished;
};

/* All of them; ends with .name = NULL. */
extern const struct sql_table sql_tables[];

/* The columns of spans; in a file of their own. */
extern const struct sql_column sql_span_columns[];

enum sql_type sql_column_type(const struct sql_column *column);
void sql_column_get(const struct sql_column *column, const struct sql_row *row, struct sql_value *value);
size_t sql_table_column_cnt(const struct sql_table *table);
int sql_table_column_find(const struct sql_table *table, const char *name); /* -1: there is none */

void sql_value_u64(struct sql_value *value, uint64_t number);
void sql_value_id(struct sql_value *value, uint64_t id);		     /* 0: NULL */
void sql_value_bytes(struct sql_value *value, struct txtrace_string string); /* empty: NULL */
void sql_value_text(struct sql_value *value, const char *text);		     /* static; NULL: NULL */
void sql_value_pointer(struct sql_value *value, uint64_t address);	     /* "0x7f…" */

/* The entries of a table of columns. */
#define SQL_COLUMN(name_, how_, struct_, member_)                                       \
	{                                                                               \
		.name = name_, .how = how_, .offset = offsetof(struct struct_, member_) \
	}
#define SQL_COLUMN_FLAG(name_, struct_, mask_)                                                           \
	{                                                                                                \
		.name = name_, .how = SQL_FLAG, .offset = offsetof(struct struct_, flags), .mask = mask_ \
	}
#define SQL_COLUMN_CALL(name_, type_, get_)                                \
	{                                                                  \
		.name = name_, .how = SQL_CALL, .type = type_, .get = get_ \
	}
#define SQL_COLUMN_CAPTURE SQL_COLUMN_CALL("capture", SQL_INTEGER, sql_get_capture)
#define SQL_COLUMN_END       \
	{                    \
		.name = NULL \
	}

void sql_get_capture(const struct sql_row *row, struct sql_value *value);

#endif
