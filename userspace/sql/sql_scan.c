/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql/sql_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sql/block_rows.h"

#define LOOK_EVERY 4096 /* records between two looks at whether to stop */

struct sql_scan {
	const struct sql_source *source;
	const struct record_kind *table;
	struct sql_reader *reader;
	struct sql_constraint constraints[SQL_CONSTRAINT_MAX];
	size_t constraint_cnt;
	struct sql_row row;
	uint64_t record_cnt;
	bool is_at_end;
	bool has_told_capture; /* OF_CAPTURES: of the capture that is read */
	struct block_rows blocks;
};

/* ---- bounds ---- */

/*
 * Within what times a row finished that matches; to_ns 0: at any later time. Where captures are to be
 * numbered, each has to be met.
 */
static void find_range(const struct sql_scan *scan, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = *to_ns = 0;
	for (size_t i = 0; i < scan->constraint_cnt && scan->source->is_one_capture; i++) {
		const struct sql_constraint *constraint = &scan->constraints[i];
		int64_t bound = constraint->value.integer;

		if (!scan->table->time || constraint->column->offset != scan->table->time ||
		    constraint->column->type != RECORD_TIME || bound <= 0)
			continue;
		if (constraint->op != SQL_LT && constraint->op != SQL_LE && (uint64_t)bound > *from_ns)
			*from_ns = (uint64_t)bound;
		if (constraint->op != SQL_GT && constraint->op != SQL_GE &&
		    (!*to_ns || (uint64_t)bound < *to_ns))
			*to_ns = (uint64_t)bound;
	}
}

/* ---- constraints ---- */

static bool holds_order(enum sql_operator op, int order)
{
	switch (op) {
	case SQL_EQ:
		return order == 0;
	case SQL_GT:
		return order > 0;
	case SQL_GE:
		return order >= 0;
	case SQL_LT:
		return order < 0;
	case SQL_LE:
		return order <= 0;
	}
	return true;
}

static bool holds(const struct sql_constraint *constraint, const struct sql_row *row)
{
	const struct sql_value *wanted = &constraint->value;
	struct sql_value value;

	sql_column_get(constraint->column, row, &value);
	if (value.type == SQL_NULL)
		return false;
	if (wanted->type == SQL_TEXT)
		return value.length == wanted->length &&
		       memcmp(value.bytes, wanted->bytes, value.length) == 0;
	if (value.type == SQL_REAL) /* above every integer */
		return holds_order(constraint->op, 1);
	return holds_order(constraint->op,
			   (value.integer > wanted->integer) - (value.integer < wanted->integer));
}

static bool is_wanted(const struct sql_scan *scan)
{
	for (size_t i = 0; i < scan->constraint_cnt; i++) {
		if (!holds(&scan->constraints[i], &scan->row))
			return false;
	}
	return true;
}

/* ---- the pass ---- */

int sql_scan_open(struct sql_scan **scan, const struct sql_source *source, const struct record_kind *table,
		  const struct sql_constraint *constraints, size_t cnt)
{
	struct sql_scan *new = calloc(1, sizeof(*new));
	uint64_t from_ns, to_ns;
	int err;

	*scan = NULL;
	if (!new)
		return -ENOMEM;
	new->source = source;
	new->table = table;
	new->row.capture = 1;
	for (; new->constraint_cnt < cnt &&new->constraint_cnt < SQL_CONSTRAINT_MAX; new->constraint_cnt++)
		new->constraints[new->constraint_cnt] = constraints[new->constraint_cnt];
	find_range(new, &from_ns, &to_ns);
	err = source->open(source->context, from_ns, to_ns, &new->reader);
	if (err) {
		free(new);
		return err;
	}
	*scan = new;
	return 0;
}

void sql_scan_close(struct sql_scan *scan)
{
	if (!scan)
		return;
	scan->source->close(scan->reader);
	block_rows_release(&scan->blocks);
	free(scan);
}

/* 1: the record makes a row. */
static int make_row(struct sql_scan *scan)
{
	const struct txtrace_record *record = &scan->reader->record;
	int result = 0;

	scan->row.capture += scan->reader->has_begun_capture;
	if (scan->table == &sql_blocks) {
		scan->row.source = &scan->blocks.block;
		return block_rows_add(&scan->blocks, record, scan->reader->info,
				      scan->reader->has_begun_capture);
	}
	if (scan->table != &sql_captures) {
		scan->row.source = record;
		return scan->table == record_kind_of(record);
	}
	scan->row.source = scan->reader->info;
	if (record->kind == TXTRACE_RECORD_DAMAGE)
		return 0;
	result = !scan->has_told_capture || scan->reader->has_begun_capture;
	scan->has_told_capture = true;
	return result;
}

/* A log without records is of a capture, too. */
static bool has_last_row(struct sql_scan *scan)
{
	bool has = scan->table == &sql_captures && !scan->has_told_capture;

	scan->has_told_capture = true;
	scan->row.source = scan->reader->info;
	return has && is_wanted(scan);
}

int sql_scan_next(struct sql_scan *scan)
{
	const struct sql_source *source = scan->source;
	int result;

	while (!scan->is_at_end && source->next(scan->reader)) {
		if (++scan->record_cnt % LOOK_EVERY == 0 && source->is_stopped &&
		    source->is_stopped(source->context))
			return -ECANCELED;
		result = make_row(scan);
		if (result < 0)
			return result;
		if (result > 0 && is_wanted(scan))
			return 1;
	}
	scan->is_at_end = true;
	return has_last_row(scan);
}

const struct sql_row *sql_scan_row(const struct sql_scan *scan)
{
	return &scan->row;
}
