/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql/sql_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/fd_names.h"
#include "analyze/wait/wait_sums.h"

#define LOOK_EVERY 4096 /* records between two looks at whether to stop */
#define FINDER_BYTES (128u << 20)
#define NAMES_BYTES (32u << 20)

/* What the table of blocks needs of the records before. */
struct block_state {
	struct wait_finder *finder;
	struct fd_names names;
	struct syscall_table syscalls;
	struct sql_block block;
	bool has_names;
	bool has_begun;
};

struct sql_scan {
	const struct sql_source *source;
	const struct sql_table *table;
	struct sql_reader *reader;
	struct sql_constraint constraints[SQL_CONSTRAINT_MAX];
	size_t constraint_cnt;
	uint64_t to_ns; /* rows that finished later do not match */
	struct sql_row row;
	uint64_t record_cnt;
	bool is_at_end;
	bool has_told_capture; /* OF_CAPTURES: of the capture that is read */
	struct block_state blocks;
};

/* ---- bounds ---- */

/* Later than its begin: what finished before the bound began before it, too. */
static bool is_time(const struct sql_scan *scan, const struct sql_column *column, const char *name)
{
	return name && column == &scan->table->columns[sql_table_column_find(scan->table, name)];
}

static uint64_t find_from_ns(const struct sql_scan *scan)
{
	uint64_t from_ns = 0;

	for (size_t i = 0; i < scan->constraint_cnt; i++) {
		const struct sql_constraint *constraint = &scan->constraints[i];
		bool is_bound = is_time(scan, constraint->column, scan->table->finished) ||
				is_time(scan, constraint->column, scan->table->begun);

		if (!is_bound || constraint->op == SQL_LT || constraint->op == SQL_LE ||
		    constraint->value.integer <= 0)
			continue;
		if ((uint64_t)constraint->value.integer > from_ns)
			from_ns = (uint64_t)constraint->value.integer;
	}
	return from_ns;
}

static uint64_t find_to_ns(const struct sql_scan *scan)
{
	uint64_t to_ns = UINT64_MAX;

	for (size_t i = 0; i < scan->constraint_cnt; i++) {
		const struct sql_constraint *constraint = &scan->constraints[i];

		if (!is_time(scan, constraint->column, scan->table->finished) || constraint->op == SQL_GT ||
		    constraint->op == SQL_GE || constraint->value.integer < 0)
			continue;
		if ((uint64_t)constraint->value.integer < to_ns)
			to_ns = (uint64_t)constraint->value.integer;
	}
	return to_ns;
}

/* All that comes is later, too. Captures may overlap. */
static bool is_past(const struct sql_scan *scan)
{
	struct txtrace_batch batch;

	return scan->to_ns < UINT64_MAX && scan->source->is_one_capture &&
	       txtrace_log_batch(scan->reader->log, &batch) && batch.first_ns > scan->to_ns;
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

/* ---- blocks ---- */

static void blocks_release(struct block_state *state)
{
	wait_finder_free(state->finder);
	if (state->has_names)
		fd_names_release(&state->names);
	state->finder = NULL;
	state->has_names = false;
}

/* Threads and descriptors of another capture are others. */
static int blocks_begin(struct block_state *state, const struct txtrace_log_info *info)
{
	int err;

	blocks_release(state);
	state->finder = wait_finder_new(FINDER_BYTES, NULL);
	err = fd_names_init(&state->names, NAMES_BYTES);
	state->has_names = true;
	state->has_begun = true;
	syscall_table_init(&state->syscalls, info->kernel);
	return state->finder ? err : -ENOMEM;
}

static void describe_block(struct block_state *state, const struct wait *wait)
{
	struct wait_object object = wait_object_of(&state->syscalls, wait);
	bool is_known = wait->reason != WAIT_REASON_UNKNOWN;
	const struct syscall_row *call = is_known && wait->syscall_nr >= 0
						 ? syscall_table_get(&state->syscalls, wait->syscall_nr)
						 : NULL;
	struct sql_block *block = &state->block;

	*block = (struct sql_block){
		.begin_ns = wait->begin_ns,
		.end_ns = wait->end_ns,
		.blocked_ns = wait->blocked_ns,
		.object = wait->object,
		.pid = wait->pid,
		.tid = wait->tid,
		.syscall_nr = wait->syscall_nr,
		.reason = wait->reason,
		.object_kind = (uint8_t)object.kind,
		.has_wake = wait->wake != NULL,
	};
	if (call)
		block->syscall = (struct txtrace_string){ call->name, strlen(call->name) };
	if (object.kind == WAIT_OBJECT_FD)
		block->object_name = fd_names_get(&state->names,
						  fd_names_find(&state->names, object.pid, object.value));
	if (wait->wake)
		block->wake = wait->wake->wake;
}

/* 1: a block is told. */
static int blocks_add(struct block_state *state, const struct sql_reader *reader)
{
	struct wait wait;
	int result = 0;

	if (reader->record.kind == TXTRACE_RECORD_DAMAGE)
		return 0;
	if (!state->has_begun || reader->has_begun_capture)
		result = blocks_begin(state, reader->info);
	if (!result && reader->record.kind == TXTRACE_RECORD_OBJECT)
		result = fd_names_add(&state->names, &reader->record.object);
	if (!result)
		result = wait_finder_add(state->finder, &reader->record, &wait);
	if (result > 0)
		describe_block(state, &wait);
	return result;
}

/* ---- the pass ---- */

int sql_scan_open(struct sql_scan **scan, const struct sql_source *source, const struct sql_table *table,
		  const struct sql_constraint *constraints, size_t cnt)
{
	struct sql_scan *new = calloc(1, sizeof(*new));
	int err;

	*scan = NULL;
	if (!new)
		return -ENOMEM;
	new->source = source;
	new->table = table;
	new->row.capture = 1;
	for (; new->constraint_cnt < cnt &&new->constraint_cnt < SQL_CONSTRAINT_MAX; new->constraint_cnt++)
		new->constraints[new->constraint_cnt] = constraints[new->constraint_cnt];
	new->to_ns = find_to_ns(new);
	err = source->open(source->context, find_from_ns(new), &new->reader);
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
	blocks_release(&scan->blocks);
	free(scan);
}

/* 1: the record makes a row. */
static int make_row(struct sql_scan *scan)
{
	const struct txtrace_record *record = &scan->reader->record;
	int result = 0;

	scan->row.capture += scan->reader->has_begun_capture;
	switch (scan->table->of) {
	case SQL_OF_RECORDS:
		scan->row.source = &record->span; /* all begin at the same place */
		return record->kind == scan->table->kind;
	case SQL_OF_BLOCKS:
		scan->row.source = &scan->blocks.block;
		return blocks_add(&scan->blocks, scan->reader);
	case SQL_OF_CAPTURES:
		scan->row.source = scan->reader->info;
		if (record->kind == TXTRACE_RECORD_DAMAGE)
			return 0;
		result = !scan->has_told_capture || scan->reader->has_begun_capture;
		scan->has_told_capture = true;
	}
	return result;
}

/* A log without records is of a capture, too. */
static bool has_last_row(struct sql_scan *scan)
{
	bool has = scan->table->of == SQL_OF_CAPTURES && !scan->has_told_capture;

	scan->has_told_capture = true;
	scan->row.source = scan->reader->info;
	return has && is_wanted(scan);
}

int sql_scan_next(struct sql_scan *scan)
{
	const struct sql_source *source = scan->source;
	int result;

	while (!scan->is_at_end && source->next(scan->reader)) {
		if (++scan->record_cnt % LOOK_EVERY == 0) {
			if (source->is_stopped && source->is_stopped(source->context))
				return -ECANCELED;
			if (is_past(scan))
				break;
		}
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
