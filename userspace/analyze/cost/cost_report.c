/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/cost/cost_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"
#include "base/saturating.h"
#include "base/string_pool.h"

#define KEYED UINT64_MAX /* of no process */

/* A span that threads have been in, and whose own record is still to come. */
struct moved_span {
	uint64_t cnts[COST_HISTORY_CLASSES];
	uint64_t enter_ns; /* first stay */
	uint32_t enter_tid;
	uint64_t exit_ns;    /* of the last stays, … */
	uint32_t *exit_tids; /* … of these threads */
	uint32_t exit_cnt;
	uint32_t exit_capacity;
};

struct cost_report {
	uint64_t max_bytes;
	uint64_t used_bytes;
	struct cost_sums sums;
	struct span_programs programs;
	struct id_map threads; /* by tid: struct cost_history */
	struct id_map moved;   /* by process and id: struct moved_span */
	struct string_pool *labels;
	struct cost_row *rows; /* by the label's number; the last one may be the rest */
	size_t row_cnt;
	size_t row_capacity;
	struct cost_row rest;
	struct cost_row **sorted;
	uint64_t lower_bound_cnt;
	uint64_t uncounted_cnt;
	bool is_coarse;
};

struct cost_report *cost_report_new(uint64_t memory_max_bytes)
{
	struct cost_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	report->max_bytes = memory_max_bytes ? memory_max_bytes : COST_REPORT_MEMORY_BYTES;
	report->rest.is_rest = true;
	id_map_init(&report->threads);
	id_map_init(&report->moved);
	span_programs_init(&report->programs);
	report->labels = string_pool_new();
	if (report->labels)
		return report;
	cost_report_free(report);
	return NULL;
}

static size_t moved_bytes(const struct moved_span *moved)
{
	return sizeof(*moved) + 2 * sizeof(struct id_map_slot) +
	       moved->exit_capacity * sizeof(*moved->exit_tids);
}

static void free_moved(struct cost_report *report, struct moved_span *moved)
{
	report->used_bytes -= moved_bytes(moved);
	free(moved->exit_tids);
	free(moved);
}

void cost_report_free(struct cost_report *report)
{
	struct cost_history *history;
	struct moved_span *moved;

	if (!report)
		return;
	for (size_t i = 0; (history = id_map_next(&report->threads, &i));) {
		cost_history_release(history);
		free(history);
	}
	for (size_t i = 0; (moved = id_map_next(&report->moved, &i));)
		free_moved(report, moved);
	id_map_release(&report->threads);
	id_map_release(&report->moved);
	span_programs_release(&report->programs);
	string_pool_free(report->labels);
	free(report->sorted);
	free(report->rows);
	free(report);
}

/* ---- threads ---- */

static bool is_full(const struct cost_report *report)
{
	return report->used_bytes >= report->max_bytes;
}

/* *history is NULL: it has none and there is no room for one. */
static int history_of(struct cost_report *report, uint32_t tid, struct cost_history **history)
{
	int err;

	*history = id_map_get(&report->threads, 0, tid);
	if (*history || is_full(report))
		return 0;
	*history = calloc(1, sizeof(**history));
	if (!*history)
		return -ENOMEM;
	err = id_map_put(&report->threads, 0, tid, *history);
	if (err)
		free(*history);
	else
		report->used_bytes += sizeof(**history) + 2 * sizeof(struct id_map_slot);
	return err;
}

static int add_event(struct cost_report *report, uint32_t tid, uint64_t time_ns, enum cost_class class,
		     int by)
{
	size_t limit = is_full(report) ? 0 : COST_HISTORY_LIMIT;
	struct cost_history *history;
	int err = history_of(report, tid, &history);

	if (err)
		return err;
	if (!history) {
		report->uncounted_cnt++;
		return 0;
	}
	report->used_bytes -= cost_history_bytes(history);
	report->is_coarse |= !limit;
	err = cost_history_add(history, time_ns, class, by, limit);
	report->used_bytes += cost_history_bytes(history);
	return err;
}

static void count_events(const struct cost_report *report, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
			 uint64_t cnts[COST_HISTORY_CLASSES])
{
	const struct cost_history *history = id_map_get(&report->threads, 0, tid);

	if (history && from_ns <= to_ns)
		cost_history_count(history, from_ns, to_ns, cnts);
}

static int add_thread(struct cost_report *report, const struct txtrace_thread *thread)
{
	struct cost_history *history;

	if (!thread->is_exit)
		return history_of(report, thread->tid, &history);
	history = id_map_remove(&report->threads, 0, thread->tid);
	if (history) {
		report->used_bytes -= cost_history_bytes(history) + sizeof(*history) +
				      2 * sizeof(struct id_map_slot);
		cost_history_release(history);
		free(history);
	}
	return 0;
}

/* Who woke pays. Only threads that are traced are in spans. */
static int add_wake(struct cost_report *report, const struct txtrace_wake *wake)
{
	if (!wake->waker_tid || !id_map_get(&report->threads, 0, wake->waker_tid))
		return 0;
	return add_event(report, wake->waker_tid, wake->time_ns, COST_WAKE, 1);
}

/* ---- spans ---- */

static int moved_of(struct cost_report *report, uint64_t process, uint64_t id, struct moved_span **moved)
{
	int err;

	*moved = id_map_get(&report->moved, process, id);
	if (*moved || is_full(report))
		return 0;
	*moved = calloc(1, sizeof(**moved));
	if (!*moved)
		return -ENOMEM;
	err = id_map_put(&report->moved, process, id, *moved);
	if (err)
		free(*moved);
	else
		report->used_bytes += moved_bytes(*moved);
	return err;
}

static int note_exit(struct cost_report *report, struct moved_span *moved, uint64_t exit_ns, uint32_t tid)
{
	if (exit_ns != moved->exit_ns)
		moved->exit_cnt = 0;
	moved->exit_ns = exit_ns;
	if (moved->exit_cnt == moved->exit_capacity) {
		uint32_t capacity = moved->exit_capacity ? moved->exit_capacity * 2 : 2;
		uint32_t *tids = reallocarray(moved->exit_tids, capacity, sizeof(*tids));

		if (!tids)
			return -ENOMEM;
		report->used_bytes += (capacity - moved->exit_capacity) * sizeof(*tids);
		moved->exit_tids = tids;
		moved->exit_capacity = capacity;
	}
	moved->exit_tids[moved->exit_cnt++] = tid;
	return 0;
}

static int add_stay(struct cost_report *report, const struct txtrace_stay *stay)
{
	enum cost_class class = stay->is_keyed ? COST_KEY : COST_SPAN;
	struct moved_span *moved;
	int err = add_event(report, stay->tid, stay->enter_ns, class, 1);

	if (!err)
		err = add_event(report, stay->tid, stay->exit_ns, class, 1);
	if (!err)
		err = moved_of(report, stay->is_keyed ? KEYED : stay->span_pid, stay->span, &moved);
	if (err)
		return err;
	if (!moved) {
		report->uncounted_cnt++;
		return 0;
	}
	count_events(report, stay->tid, stay->enter_ns, stay->exit_ns, moved->cnts);
	if (!moved->enter_tid || stay->enter_ns < moved->enter_ns) {
		moved->enter_ns = stay->enter_ns;
		moved->enter_tid = stay->tid;
	}
	return note_exit(report, moved, stay->exit_ns, stay->tid);
}

/* A stay that ended with its span, which another thread ended: its thread did nothing. */
static int take_back_exits(struct cost_report *report, const struct txtrace_span *span,
			   struct moved_span *moved, enum cost_class class)
{
	int err = 0;

	for (uint32_t i = 0; !err && moved->exit_ns == span->end_ns && i < moved->exit_cnt; i++) {
		if (moved->exit_tids[i] == span->end_tid)
			continue;
		err = add_event(report, moved->exit_tids[i], span->end_ns, class, -1);
		moved->cnts[class] -= moved->cnts[class] > 0;
	}
	return err;
}

static bool has_exit(const struct moved_span *moved, uint64_t time_ns, uint32_t tid)
{
	for (uint32_t i = 0; moved->exit_ns == time_ns && i < moved->exit_cnt; i++)
		if (moved->exit_tids[i] == tid)
			return true;
	return false;
}

static int add_moved(struct cost_report *report, const struct txtrace_span *span, struct moved_span *moved,
		     enum cost_class class, uint64_t cnts[COST_HISTORY_CLASSES])
{
	bool is_begun_inside = moved->enter_ns == span->begin_ns && moved->enter_tid == span->tid;
	uint32_t tag_tid = span->end_tid ? span->end_tid : span->tid;
	bool is_tagged_inside = has_exit(moved, span->end_ns, tag_tid);
	int err = take_back_exits(report, span, moved, class);

	if (!err && !is_begun_inside)
		err = add_event(report, span->tid, span->begin_ns, class, 1);
	if (!err && span->end_tid && !is_tagged_inside)
		err = add_event(report, span->end_tid, span->end_ns, class, 1);
	if (!err && span->tag.length)
		err = add_event(report, tag_tid, span->end_ns, COST_TEXT, 1);
	memcpy(cnts, moved->cnts, sizeof(moved->cnts));
	cnts[COST_TEXT] += span->tag.length && is_tagged_inside;
	return err;
}

/*
 * One thread was in it, from its begin or later to its end: the rule of docs/attribution.md, "The other
 * records".
 */
static int add_single(struct cost_report *report, const struct txtrace_span *span, enum cost_class class,
		      uint64_t cnts[COST_HISTORY_CLASSES])
{
	uint32_t tid = span->end_tid ? span->end_tid : span->tid;
	uint64_t enter_ns = add_saturating(span->begin_ns, span->ledger.detached_ns);
	bool is_entered = enter_ns < span->end_ns || !span->ledger.detached_ns;
	int err = add_event(report, span->tid, span->begin_ns, class, 1);

	if (!err && is_entered && span->ledger.detached_ns)
		err = add_event(report, tid, enter_ns, class, 1);
	if (!err && span->tag.length)
		err = add_event(report, tid, span->end_ns, COST_TEXT, 1);
	if (!err && span->end_tid)
		err = add_event(report, tid, span->end_ns, class, 1);
	if (is_entered)
		count_events(report, tid, enter_ns, span->end_ns, cnts);
	return err;
}

/* ---- rows ---- */

static int row_of(struct cost_report *report, const struct txtrace_string *label, struct cost_row **row)
{
	uint32_t number = string_pool_find(report->labels, label->bytes, label->length);
	size_t pool_bytes = string_pool_bytes(report->labels);
	int err;

	*row = &report->rest;
	if (number == STRING_POOL_NONE && is_full(report))
		return 0;
	err = string_pool_add(report->labels, label->bytes, label->length, &number);
	if (err)
		return err == -E2BIG ? 0 : err;
	report->used_bytes += string_pool_bytes(report->labels) - pool_bytes;
	if (number >= report->row_capacity) {
		size_t capacity = report->row_capacity ? report->row_capacity * 2 : 64;
		struct cost_row *rows = reallocarray(report->rows, capacity, sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		memset(rows + report->row_capacity, 0, (capacity - report->row_capacity) * sizeof(*rows));
		report->used_bytes += (capacity - report->row_capacity) * sizeof(*rows);
		report->rows = rows;
		report->row_capacity = capacity;
	}
	if (number >= report->row_cnt)
		report->row_cnt = number + 1;
	*row = &report->rows[number];
	(*row)->label.bytes = string_pool_get(report->labels, number, &(*row)->label.length);
	return 0;
}

static int add_span(struct cost_report *report, const struct txtrace_span *span, bool is_wanted)
{
	bool is_keyed = span->flags & TXTRACE_SPAN_KEYED;
	uint64_t cnts[COST_HISTORY_CLASSES] = { 0 };
	struct moved_span *moved = id_map_remove(&report->moved, is_keyed ? KEYED : span->pid, span->id);
	enum cost_class class = is_keyed ? COST_KEY : COST_SPAN;
	struct cost_row *row;
	int err;

	if (moved) {
		err = add_moved(report, span, moved, class, cnts);
		free_moved(report, moved);
	} else {
		err = add_single(report, span, class, cnts);
	}
	if (err || !is_wanted)
		return err;
	if (span->flags & TXTRACE_SPAN_LOWER_BOUND) {
		report->lower_bound_cnt++;
		return 0;
	}
	err = row_of(report, &span->label, &row);
	if (err)
		return err;
	row->span_cnt++;
	row->programs |= span_programs_of(&report->programs, span->pid);
	increase(&row->wall_ns, span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0);
	increase(&row->on_cpu_ns, span->ledger.on_cpu_ns);
	for (unsigned int i = 0; i < COST_HISTORY_CLASSES; i++)
		increase(&row->cnts[i], cnts[i]);
	return 0;
}

int cost_report_begin_capture(struct cost_report *report, const char *command)
{
	return span_programs_begin_capture(&report->programs, command);
}

int cost_report_add(struct cost_report *report, const struct txtrace_record *record, bool is_wanted)
{
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		return add_span(report, &record->span, is_wanted);
	case TXTRACE_RECORD_STAY:
		return add_stay(report, &record->stay);
	case TXTRACE_RECORD_RUN:
		return add_event(report, record->run.tid, record->run.end_ns, COST_SWITCH, 1);
	case TXTRACE_RECORD_WAKE:
		return add_wake(report, &record->wake);
	case TXTRACE_RECORD_PROCESS:
		return span_programs_see(&report->programs, &record->process);
	case TXTRACE_RECORD_THREAD:
		return add_thread(report, &record->thread);
	case TXTRACE_RECORD_ATTRIBUTE:
		return add_event(report, record->attribute.tid, record->attribute.time_ns, COST_TEXT, 1);
	case TXTRACE_RECORD_INSTANT:
		return add_event(report, record->instant.tid, record->instant.time_ns, COST_MARK, 1);
	case TXTRACE_RECORD_COUNTER:
		return add_event(report, record->counter.tid, record->counter.time_ns, COST_MARK, 1);
	case TXTRACE_RECORD_LINK:
		return add_event(report, record->link.tid, record->link.time_ns, COST_MARK, 1);
	case TXTRACE_RECORD_COST:
		cost_sums_add(&report->sums, &record->cost);
		return 0;
	default:
		return 0;
	}
}

/* ---- the result ---- */

uint64_t cost_report_added_ns(const struct cost_report *report, const struct cost_row *row)
{
	uint64_t ps = 0;

	for (unsigned int of = 0; of < COST_HISTORY_CLASSES; of++)
		increase(&ps, cost_sums_cost_ps(&report->sums, of, row->cnts[of]));
	return ps / 1000;
}

static uint64_t event_cnt(const struct cost_row *row)
{
	uint64_t cnt = 0;

	for (unsigned int of = 0; of < COST_HISTORY_CLASSES; of++)
		increase(&cnt, row->cnts[of]);
	return cnt;
}

/* By cost; where no cost is known, by events; then by label. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct cost_row *left = *(struct cost_row *const *)a, *right = *(struct cost_row *const *)b;
	uint64_t left_ns = cost_report_added_ns(context, left),
		 right_ns = cost_report_added_ns(context, right);
	size_t length = left->label.length < right->label.length ? left->label.length : right->label.length;
	int order;

	if (left_ns == right_ns) {
		left_ns = event_cnt(left);
		right_ns = event_cnt(right);
	}
	if (left_ns != right_ns)
		return left_ns < right_ns ? 1 : -1;
	order = length ? memcmp(left->label.bytes, right->label.bytes, length) : 0;
	return order ? order
		     : (left->label.length > right->label.length) -
			       (left->label.length < right->label.length);
}

void cost_report_sort(struct cost_report *report)
{
	struct cost_row **sorted = reallocarray(report->sorted, report->row_cnt + 1, sizeof(*sorted));

	if (!sorted)
		return;
	report->sorted = sorted;
	for (size_t i = 0; i < report->row_cnt; i++)
		sorted[i] = &report->rows[i];
	sorted[report->row_cnt] = &report->rest;
	qsort_r(sorted, report->row_cnt, sizeof(*sorted), compare_rows, report);
}

size_t cost_report_row_cnt(const struct cost_report *report)
{
	return report->row_cnt + (report->rest.span_cnt > 0);
}

const struct cost_row *cost_report_row(const struct cost_report *report, size_t idx)
{
	if (report->sorted)
		return report->sorted[idx];
	return idx < report->row_cnt ? &report->rows[idx] : &report->rest;
}

void cost_report_see_capture(struct cost_report *report, const struct txtrace_log_info *info)
{
	cost_sums_see_capture(&report->sums, info);
}

const struct span_programs *cost_report_programs(const struct cost_report *report)
{
	return &report->programs;
}

const struct cost_sums *cost_report_sums(const struct cost_report *report)
{
	return &report->sums;
}

uint64_t cost_report_lower_bound_cnt(const struct cost_report *report)
{
	return report->lower_bound_cnt;
}

uint64_t cost_report_uncounted_cnt(const struct cost_report *report)
{
	return report->uncounted_cnt;
}

bool cost_report_is_coarse(const struct cost_report *report)
{
	return report->is_coarse;
}
