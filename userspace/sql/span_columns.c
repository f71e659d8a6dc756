/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of the table of spans: all that JSON Lines has, and one for each part of the ledger. */
#include "sql/sql_table.h"

static void get_wall(const struct sql_row *row, struct sql_value *value)
{
	const struct txtrace_span *span = row->source;

	sql_value_u64(value, span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0);
}

static void get_blocked(const struct sql_row *row, struct sql_value *value)
{
	const struct txtrace_span *span = row->source;

	sql_value_u64(value, txtrace_ledger_blocked_ns(&span->ledger));
}

/* Its bytes are any: SQL's hex() shows them. */
#define SPAN(name, how, member) SQL_COLUMN(name, how, txtrace_span, member)
#define FLAG(name, flag) SQL_COLUMN_FLAG(name, txtrace_span, TXTRACE_SPAN_##flag)
#define BLOCKED(name, reason) SPAN(name "_ns", SQL_U64, ledger.blocked_ns[TXTRACE_BLOCK_##reason])

const struct sql_column sql_span_columns[] = {
	SPAN("id", SQL_ID, id),
	SPAN("pid", SQL_U32, pid),
	SPAN("tid", SQL_U32, tid),
	SPAN("end_tid", SQL_U32_OR_NULL, end_tid),
	SPAN("label", SQL_BYTES, label),
	SPAN("tag", SQL_BYTES, tag),
	SPAN("key", SQL_BYTES, key),
	SPAN("parent", SQL_ID, parent),
	SPAN("begin_ns", SQL_U64, begin_ns),
	SPAN("end_ns", SQL_U64, end_ns),
	SQL_COLUMN_CALL("wall_ns", SQL_INTEGER, get_wall),
	SPAN("work_ns", SQL_U64, work_ns),
	SPAN("on_cpu_ns", SQL_U64, ledger.on_cpu_ns),
	SPAN("runnable_ns", SQL_U64, ledger.runnable_ns),
	SQL_COLUMN_CALL("blocked_ns", SQL_INTEGER, get_blocked),
	BLOCKED("lock", LOCK),
	BLOCKED("disk", DISK),
	BLOCKED("network", NETWORK),
	BLOCKED("sleep", SLEEP),
	BLOCKED("page_fault", PAGE_FAULT),
	BLOCKED("pipe", PIPE),
	BLOCKED("wait", WAIT),
	BLOCKED("stopped", STOPPED),
	BLOCKED("other", OTHER),
	BLOCKED("throttled", THROTTLED),
	BLOCKED("poll", POLL),
	SPAN("detached_ns", SQL_U64, ledger.detached_ns),
	SPAN("unknown_ns", SQL_U64, ledger.unknown_ns),
	SPAN("interrupt_ns", SQL_U64, ledger.interrupt_ns),
	FLAG("lower_bound", LOWER_BOUND),
	FLAG("unfinished", UNFINISHED),
	FLAG("loss", LOSS),
	FLAG("imbalance", IMBALANCE),
	FLAG("keyed", KEYED),
	FLAG("moved", MOVED),
	FLAG("nested", NESTED),
	FLAG("parent_keyed", PARENT_KEYED),
	FLAG("parent_lost", PARENT_LOST),
	SQL_COLUMN_CAPTURE,
	SQL_COLUMN_END,
};
_Static_assert(TXTRACE_BLOCK_REASON_COUNT == 11, "a new reason is a new column of spans");
