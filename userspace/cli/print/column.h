/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of a table. One definition gives the cell of the table, the field
 * of --csv, the member of --json and the key of --sort:
 *
 *	static const struct column columns[] = {
 *		{ "label", "label", NULL, COLUMN_STRING, .get = get_label },
 *		COLUMN_OF("max_ns", "max", NULL, COLUMN_DURATION, struct blocked_row, max_ns),
 *		COLUMN_END,
 *	};
 *
 * A row is whatever the getters take; the context is what they need besides.
 */
#ifndef COLUMN_H
#define COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/screen.h"
#include "txtrace/log.h"

enum column_type {
	COLUMN_COUNT = 0,    /* 12,345 */
	COLUMN_DURATION = 1, /* ns: 1.23 ms */
	COLUMN_MOMENT = 2,   /* ns: seconds since the context's begin */
	COLUMN_ID = 3,	     /* a number that names something: 12345 */
	COLUMN_SHARE = 4,    /* number / whole: 12.3 %; CSV and JSON have percent */
	COLUMN_REAL = 5,     /* 1.23 */
	COLUMN_SIGNED = 6,   /* ns, more or less: +1.23 ms */
	COLUMN_STRING = 7,   /* bytes of a traced program */
	COLUMN_WORDS = 8,    /* our words, fit for a terminal */
	COLUMN_GAS = 9,	     /* milligas, may be negative: 1,234.567 */
};

enum column_flag {
	COLUMN_HIDDEN = 1,     /* there only if --columns names it, and in JSON */
	COLUMN_TABLE_ONLY = 2, /* not in the objects of the JSON document */
	COLUMN_DOT = 4,	       /* 0 is a dot, so that the eye finds what is something */
	COLUMN_BLANK = 8,      /* 0, or what is unknown, is an empty cell */
	COLUMN_U32 = 16,       /* the field has 32 bits */
	COLUMN_KEY = 32,       /* what rows are: its title may be another one */
};

struct column;

/* What a getter fills in: all zero before, but for the first two; `words` is empty. */
struct cell {
	const void *context;
	const struct column *column;
	bool is_unknown; /* an empty field, null; in a table a dot, or `words` */
	uint64_t number;
	uint64_t whole;
	double real;
	int64_t difference;
	struct txtrace_string string;
	struct text words; /* WORDS; of a STRING that is empty or shortened, what a table says instead */
	bool is_shortened; /* a table shows `words` instead of the string */
	const char *bound; /* ">=" before it, in a table */
	const char *style;
};

struct column {
	const char *name;  /* as --columns, --sort, CSV and JSON have it; ends a table when it is NULL */
	const char *title; /* NULL: the name */
	const char *group; /* stands above neighbours that have the same pointer */
	enum column_type type;
	unsigned int flags;
	/* if there is no getter: in the row, of the number, a uint64_t or, of SIGNED and GAS, an int64_t */
	size_t offset;
	void (*get)(const void *row, struct cell *cell);
	/* the members of the JSON document, if they are not just the value */
	void (*json)(const void *context, const void *row, struct json *json);
	const char *style;
	unsigned int decimals; /* of REAL; 0: 2 */
	unsigned int variants; /* bits: the kinds of rows that have it; 0: all */
};

#define COLUMN_OF(name_, title_, group_, type_, struct_, member_, ...)          \
	{                                                                       \
		.name = name_, .title = title_, .group = group_, .type = type_, \
		.offset = offsetof(struct_, member_), ##__VA_ARGS__             \
	}
#define COLUMN_END           \
	{                    \
		.name = NULL \
	}

#define COLUMNS_MAX 64

/* Some of a table's columns, in the order in which they are shown. */
struct column_choice {
	const struct column *columns[COLUMNS_MAX];
	size_t cnt;
	const char *key_title; /* of a COLUMN_KEY; NULL: its own */
};

/* Whether rows of this kind have it. */
bool column_is_of(const struct column *column, unsigned int variant);

/*
 * "label,max_ns", where "_ns" and "_milligas" may be left out: 0; or -EINVAL
 * and a sentence with all that there are.
 */
int column_choose(struct column_choice *choice, const struct column *columns, unsigned int variant,
		  const char *names, struct text *complaint);

/*
 * --sort NAME: the largest first, or, of words, in their order; "-NAME": the
 * other way round. Rows that are equal stay in their order, unknown ones come
 * last. NULL: there is no such column, and complaint has a sentence.
 */
const struct column *column_of_sort(const struct column *columns, unsigned int variant, const char *sort,
				    struct text *complaint);

/* 0 or -ENOMEM. */
int column_sort(const struct column *column, bool is_reversed, const void *context, const void **rows,
		size_t cnt);

/* The table of these rows. begin_ns: what MOMENTs are counted from. As screen_print_table(). */
int column_print_table(const struct column_choice *choice, const void *context, const void *const *rows,
		       size_t cnt, uint64_t begin_ns, const struct screen *screen);

/* One cell, for tables that have more than these rows. */
void column_add_cell(const struct column *column, const void *context, const void *row, uint64_t begin_ns,
		     struct table *table);

/* The titles: for table_new(). */
void column_titles(const struct column_choice *choice, struct table_column titles[COLUMNS_MAX]);

/* A line of CSV, as of RFC 4180 but with \n: the names, or a row. Write errors stay in the file. */
void column_print_csv_names(const struct column_choice *choice, FILE *file);
int column_print_csv(const struct column_choice *choice, const void *context, const void *row, FILE *file);

/* "name": value, a member of the object that is open. */
void column_member_json(const struct column *column, const void *context, const void *row, struct json *json);

#endif
