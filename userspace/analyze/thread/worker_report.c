/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/thread/worker_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tree/child_lanes.h"
#include "analyze/thread/queue_history.h"
#include "analyze/thread_names.h"
#include "base/array.h"
#include "base/glob.h"
#include "base/id_map.h"
#include "base/saturating.h"

#define OPEN_STAYS_MAX 1000000
#define RECENT_MAX 8
#define KEYED (1ull << 32) /* ids of keyed spans are not those of the program */

struct stretch {
	uint64_t begin_ns;
	uint64_t end_ns;
};

/* A span that ended in the run that goes on. */
struct recent_span {
	struct stretch stay;
	char label[WORKER_LABEL_BYTES];
	size_t label_length;
};

struct worker {
	struct worker_row row;
	uint64_t last_end_ns; /* of its last run */
	uint8_t last_reason;  /* or BLOCK_REASON_UNKNOWN */
	uint64_t period_begin_ns;
	struct stretch *stretches; /* in spans: apart from each other, in order */
	size_t stretch_cnt, stretch_size;
	uint64_t sealed_ns; /* stretches before this are counted, and forgotten */
	struct worker_parked *parked; /* in order; what is in a span that has not ended will be taken out */
	size_t parked_cnt, parked_size;
	struct recent_span *recent;
	size_t recent_cnt;
};

struct worker_report {
	struct id_map by_thread; /* (pid, tid) -> struct worker */
	struct worker **workers;
	size_t worker_cnt, worker_size;
	size_t shown_cnt; /* of them, the first ones, when all is read */
	struct id_map open_stays; /* (pid and KEYED, id) -> struct span_stays of spans that have not ended */
	struct thread_names *names;
	const char *threads; /* which to report; NULL: all */
	struct queue_history *queue;
	size_t top_cnt;
	struct worker_parked *top_parked;
	size_t top_parked_cnt;
	struct worker_run *top_runs;
	size_t top_run_cnt;
	uint64_t hidden_cnt;
	bool is_coarse;
};

struct worker_report *worker_report_new(const char *queue, const char *threads, size_t top_cnt)
{
	struct worker_report *report = calloc(1, sizeof(*report));

	if (!report)
		return NULL;
	id_map_init(&report->by_thread);
	id_map_init(&report->open_stays);
	report->top_cnt = top_cnt;
	report->threads = threads;
	report->names = thread_names_new();
	report->queue = queue ? queue_history_new(queue) : NULL;
	report->top_parked = calloc(top_cnt + 1, sizeof(*report->top_parked));
	report->top_runs = calloc(top_cnt + 1, sizeof(*report->top_runs));
	if (report->names && (report->queue || !queue) && report->top_parked && report->top_runs)
		return report;
	worker_report_free(report);
	return NULL;
}

void worker_report_free(struct worker_report *report)
{
	struct span_stays *stays;

	if (!report)
		return;
	for (size_t i = 0; i < report->worker_cnt; i++) {
		free(report->workers[i]->stretches);
		free(report->workers[i]->parked);
		free(report->workers[i]->recent);
		free(report->workers[i]);
	}
	free(report->workers);
	for (size_t i = 0; (stays = id_map_next(&report->open_stays, &i));)
		free(stays);
	id_map_release(&report->open_stays);
	id_map_release(&report->by_thread);
	thread_names_free(report->names);
	queue_history_free(report->queue);
	free(report->top_parked);
	free(report->top_runs);
	free(report);
}

/* ---- threads ---- */

static int make_worker(struct worker_report *report, uint32_t pid, uint32_t tid, struct worker **made)
{
	struct worker *worker, **grown;

	grown = array_grow(report->workers, &report->worker_size, report->worker_cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	report->workers = grown;
	worker = calloc(1, sizeof(*worker));
	if (!worker || id_map_put(&report->by_thread, pid, tid, worker)) {
		free(worker);
		return -ENOMEM;
	}
	worker->row.pid = pid;
	worker->row.tid = tid;
	worker->last_reason = BLOCK_REASON_UNKNOWN;
	report->workers[report->worker_cnt++] = worker;
	*made = worker;
	return 0;
}

/* *found is NULL when there are too many. */
static int find_worker(struct worker_report *report, uint32_t pid, uint32_t tid, struct worker **found)
{
	*found = id_map_get(&report->by_thread, pid, tid);
	if (*found || report->worker_cnt == WORKER_THREAD_MAX)
		return 0;
	return make_worker(report, pid, tid, found);
}

static bool is_reported(const struct worker_report *report, const struct worker *worker)
{
	struct txtrace_string name;

	if (!report->threads)
		return true;
	name = thread_names_get(report->names, worker->row.pid, worker->row.tid);
	return glob_matches(report->threads, name.bytes, name.length);
}

static bool is_worker(const struct worker_report *report, const struct worker *worker)
{
	return report->threads ? is_reported(report, worker) : worker->row.stay_cnt > 0;
}

/* ---- parked ---- */

/* It was no part of a span: that is certain now. */
static void count_parked(struct worker_report *report, struct worker *worker,
			 const struct worker_parked *parked)
{
	size_t at = report->top_parked_cnt;

	worker->row.parked_cnt++;
	increase(&worker->row.parked_ns, parked->queued_ns);
	for (; at > 0 && report->top_parked[at - 1].queued_ns < parked->queued_ns; at--)
		report->top_parked[at] = report->top_parked[at - 1];
	report->top_parked[at] = *parked; /* there is room for one more than are kept */
	if (report->top_parked_cnt < report->top_cnt)
		report->top_parked_cnt++;
}

static void measure_queue(const struct worker_report *report, struct worker_parked *parked)
{
	parked->queued_ns = queue_history_positive_ns(report->queue, parked->pid, parked->begin_ns,
						      parked->end_ns, &parked->mean_depth);
}

/*
 * A span that ended in the sleep, or that it was in. Those that the thread was in when it had woken do not
 * matter.
 */
static void leave_out_stretches(const struct worker *worker, struct worker_parked *parked)
{
	for (size_t i = worker->stretch_cnt; i-- > 0 && worker->stretches[i].end_ns > parked->begin_ns;) {
		const struct stretch *stretch = &worker->stretches[i];

		if (stretch->end_ns < parked->end_ns)
			parked->begin_ns = stretch->end_ns;
		else if (stretch->begin_ns < parked->end_ns)
			parked->end_ns = stretch->begin_ns;
	}
}

static int note_parked(struct worker_report *report, struct worker *worker, struct worker_parked parked)
{
	struct worker_parked *grown;

	leave_out_stretches(worker, &parked);
	measure_queue(report, &parked);
	if (parked.queued_ns == 0)
		return 0;
	if (worker->parked_cnt == WORKER_PARKED_MAX) { /* it may be in a span that is very long */
		if (is_worker(report, worker))
			count_parked(report, worker, &worker->parked[0]);
		report->is_coarse = true;
		memmove(worker->parked, worker->parked + 1, --worker->parked_cnt * sizeof(*worker->parked));
	}
	grown = array_grow(worker->parked, &worker->parked_size, worker->parked_cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	worker->parked = grown;
	worker->parked[worker->parked_cnt++] = parked;
	return 0;
}

/* What lies in the span was no parking. */
static void take_out_parked(struct worker_report *report, struct worker *worker, const struct stretch *stay)
{
	while (worker->parked_cnt > 0) {
		struct worker_parked *last = &worker->parked[worker->parked_cnt - 1];

		if (last->end_ns <= stay->begin_ns)
			return;
		last->end_ns = stay->begin_ns;
		if (last->begin_ns < last->end_ns) {
			measure_queue(report, last);
			if (last->queued_ns > 0)
				return;
		}
		worker->parked_cnt--;
	}
}

/* ---- in spans ---- */

/* Stays come in the order of their ends: so only what was last can be a part of this one. */
static int add_stretch(struct worker_report *report, struct worker *worker, struct stretch stay)
{
	struct stretch *grown;

	while (worker->stretch_cnt > 0 &&
	       worker->stretches[worker->stretch_cnt - 1].end_ns >= stay.begin_ns) {
		struct stretch *last = &worker->stretches[--worker->stretch_cnt];

		worker->row.in_spans_ns -= last->end_ns - last->begin_ns;
		stay.begin_ns = last->begin_ns < stay.begin_ns ? last->begin_ns : stay.begin_ns;
		stay.end_ns = last->end_ns > stay.end_ns ? last->end_ns : stay.end_ns;
	}
	/* what is there already is counted already, mostly */
	if (worker->stretch_cnt == 0 && stay.begin_ns < worker->sealed_ns) {
		stay.begin_ns = worker->sealed_ns;
		stay.end_ns = stay.end_ns > stay.begin_ns ? stay.end_ns : stay.begin_ns;
		report->is_coarse = true;
	}
	if (worker->stretch_cnt == WORKER_STRETCH_MAX) { /* the older half stays as it is, whatever comes */
		worker->stretch_cnt = WORKER_STRETCH_MAX / 2;
		worker->sealed_ns = worker->stretches[worker->stretch_cnt - 1].end_ns;
		memmove(worker->stretches, worker->stretches + WORKER_STRETCH_MAX / 2,
			worker->stretch_cnt * sizeof(*worker->stretches));
	}
	grown = array_grow(worker->stretches, &worker->stretch_size, worker->stretch_cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	worker->stretches = grown;
	worker->stretches[worker->stretch_cnt++] = stay;
	increase(&worker->row.in_spans_ns, stay.end_ns - stay.begin_ns);
	return 0;
}

static int add_stay(struct worker_report *report, uint32_t pid, uint32_t tid, uint64_t enter_ns,
		    uint64_t exit_ns)
{
	struct stretch stay = { enter_ns, exit_ns > enter_ns ? exit_ns : enter_ns };
	struct worker *worker;
	int err = find_worker(report, pid, tid, &worker);

	if (err || !worker)
		return err;
	worker->row.stay_cnt++;
	if (report->queue)
		take_out_parked(report, worker, &stay);
	return add_stretch(report, worker, stay);
}

static int note_stay(struct worker_report *report, const struct txtrace_stay *stay)
{
	uint64_t space = stay->span_pid | (stay->is_keyed ? KEYED : 0);
	struct span_stays *stays = id_map_get(&report->open_stays, space, stay->span);

	if (!stays && report->open_stays.cnt < OPEN_STAYS_MAX) {
		stays = calloc(1, sizeof(*stays));
		if (!stays || id_map_put(&report->open_stays, space, stay->span, stays)) {
			free(stays);
			return -ENOMEM;
		}
	}
	if (stays)
		span_stays_add(stays, stay);
	return add_stay(report, stay->pid, stay->tid, stay->enter_ns, stay->exit_ns);
}

/* ---- long runs ---- */

/*
 * The span that covers most of the run gives it its label; of equal ones the one that ended first, which is
 * the innermost.
 */
static void label_run(struct worker_run *top, const struct recent_span *span)
{
	uint64_t begin_ns = span->stay.begin_ns > top->run.begin_ns ? span->stay.begin_ns : top->run.begin_ns;
	uint64_t end_ns = span->stay.end_ns < top->run.end_ns ? span->stay.end_ns : top->run.end_ns;

	if (begin_ns >= end_ns || end_ns - begin_ns <= top->in_span_ns)
		return;
	top->in_span_ns = end_ns - begin_ns;
	memcpy(top->label, span->label, span->label_length);
	top->label_length = span->label_length;
}

static uint64_t run_ns(const struct txtrace_run *run)
{
	return run->end_ns > run->begin_ns ? run->end_ns - run->begin_ns : 0;
}

static void rank_run(struct worker_report *report, const struct worker *worker, const struct txtrace_run *run)
{
	struct worker_run top = { .run = *run };
	size_t at = report->top_run_cnt;

	if (report->top_cnt == 0 || !is_reported(report, worker) ||
	    (at == report->top_cnt && run_ns(&report->top_runs[at - 1].run) >= run_ns(run)))
		return;
	for (size_t i = 0; i < worker->recent_cnt; i++)
		label_run(&top, &worker->recent[i]);
	for (; at > 0 && run_ns(&report->top_runs[at - 1].run) < run_ns(run); at--)
		report->top_runs[at] = report->top_runs[at - 1];
	report->top_runs[at] = top; /* there is room for one more than are kept */
	if (report->top_run_cnt < report->top_cnt)
		report->top_run_cnt++;
}

/*
 * The longest spans that ended since the thread's last run are kept: the run that they were in comes later.
 */
static int note_recent(struct worker *worker, const struct recent_span *span)
{
	size_t at = worker->recent_cnt;

	if (!worker->recent)
		worker->recent = calloc(RECENT_MAX, sizeof(*worker->recent));
	if (!worker->recent)
		return -ENOMEM;
	if (at == RECENT_MAX) {
		at = 0;
		for (size_t i = 1; i < RECENT_MAX; i++) {
			if (worker->recent[i].stay.end_ns - worker->recent[i].stay.begin_ns <
			    worker->recent[at].stay.end_ns - worker->recent[at].stay.begin_ns)
				at = i;
		}
		if (span->stay.end_ns - span->stay.begin_ns <=
		    worker->recent[at].stay.end_ns - worker->recent[at].stay.begin_ns)
			return 0;
		memmove(worker->recent + at, worker->recent + at + 1,
			(RECENT_MAX - 1 - at) * sizeof(*worker->recent));
		at = RECENT_MAX - 1;
	} else {
		worker->recent_cnt++;
	}
	worker->recent[at] = *span;
	return 0;
}

static int label_runs(struct worker_report *report, const struct txtrace_span *span,
		      const struct span_stays *stays)
{
	struct recent_span recent = { .stay = { stays->enter_ns, stays->exit_ns } };
	struct worker *worker;
	int err;

	if (stays->has_threads || stays->exit_ns < stays->enter_ns)
		return 0;
	err = find_worker(report, stays->pid, stays->tid, &worker);
	if (err || !worker)
		return err;
	recent.label_length = span->label.length < WORKER_LABEL_BYTES ? span->label.length
								      : WORKER_LABEL_BYTES;
	if (recent.label_length > 0)
		memcpy(recent.label, span->label.bytes, recent.label_length);
	for (size_t i = 0; i < report->top_run_cnt; i++) {
		struct worker_run *top = &report->top_runs[i];

		if (top->run.pid == stays->pid && top->run.tid == stays->tid)
			label_run(top, &recent);
	}
	return note_recent(worker, &recent);
}

/* ---- records ---- */

static int add_span(struct worker_report *report, const struct txtrace_span *span)
{
	uint64_t space = span->pid | (span->flags & TXTRACE_SPAN_KEYED ? KEYED : 0);
	struct span_stays *known = id_map_remove(&report->open_stays, space, span->id), stays = { 0 };
	int err = 0;

	if (known)
		stays = *known;
	free(known);
	if (stays.cnt == 0) {
		span_stays_complete(&stays, span);
		if (stays.enter_ns < stays.exit_ns) /* if it was detached to the end, nobody was in it */
			err = add_stay(report, stays.pid, stays.tid, stays.enter_ns, stays.exit_ns);
	}
	return err ? err : label_runs(report, span, &stays);
}

void worker_report_begin_capture(struct worker_report *report)
{
	struct span_stays *stays;

	for (size_t i = 0; (stays = id_map_next(&report->open_stays, &i));)
		free(stays);
	id_map_release(&report->open_stays);
}

static void end_period(struct worker *worker, uint64_t end_ns)
{
	uint64_t ns = end_ns > worker->period_begin_ns ? end_ns - worker->period_begin_ns : 0;

	if (ns > worker->row.longest_period_ns)
		worker->row.longest_period_ns = ns;
}

static int add_sleep(struct worker_report *report, struct worker *worker, const struct txtrace_run *run,
		     bool is_next)
{
	struct worker_parked parked = { .pid = run->pid,
					.tid = run->tid,
					.end_ns = run->begin_ns - run->runnable_ns };

	parked.begin_ns = parked.end_ns - run->blocked_ns;
	parked.reason = is_next ? worker->last_reason : BLOCK_REASON_UNKNOWN;
	if (run->has_wait_end && run->wait_reason < TXTRACE_BLOCK_REASON_COUNT)
		parked.reason = run->wait_reason;
	end_period(worker, worker->last_end_ns);
	worker->row.period_cnt++;
	worker->period_begin_ns = parked.end_ns;
	return report->queue && parked.begin_ns < parked.end_ns ? note_parked(report, worker, parked) : 0;
}

static int add_run(struct worker_report *report, const struct txtrace_run *run)
{
	uint64_t waited_ns = add_saturating(run->blocked_ns, run->runnable_ns);
	uint64_t from_ns = run->begin_ns > waited_ns ? run->begin_ns - waited_ns : 0;
	struct worker *worker;
	struct worker_row *row;
	int err = find_worker(report, run->pid, run->tid, &worker);

	if (err || !worker) {
		report->hidden_cnt += !worker;
		return err;
	}
	row = &worker->row;
	if (row->run_cnt++ == 0) {
		row->from_ns = from_ns;
		row->period_cnt = run->blocked_ns == 0;
		worker->period_begin_ns = worker->last_end_ns = from_ns;
	}
	if (run->blocked_ns > 0 && waited_ns <= run->begin_ns)
		err = add_sleep(report, worker, run, worker->last_end_ns == from_ns);
	increase(&row->on_cpu_ns, run_ns(run));
	increase(&row->runnable_ns, run->runnable_ns);
	increase(&row->blocked_ns, run->blocked_ns);
	row->to_ns = run->end_ns > row->to_ns ? run->end_ns : row->to_ns;
	rank_run(report, worker, run);
	worker->recent_cnt = 0;
	worker->last_end_ns = run->end_ns;
	worker->last_reason = run->left_as == TXTRACE_LEFT_BLOCKED && run->reason < TXTRACE_BLOCK_REASON_COUNT
				      ? run->reason
				      : BLOCK_REASON_UNKNOWN;
	return err;
}

int worker_report_add(struct worker_report *report, const struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_THREAD:
		thread_names_add(report->names, &record->thread);
		return 0;
	case TXTRACE_RECORD_RUN:
		return add_run(report, &record->run);
	case TXTRACE_RECORD_STAY:
		return note_stay(report, &record->stay);
	case TXTRACE_RECORD_SPAN:
		return add_span(report, &record->span);
	case TXTRACE_RECORD_COUNTER:
		return report->queue ? queue_history_add(report->queue, &record->counter) : 0;
	default:
		return 0;
	}
}

/* ---- reading ---- */

static int compare_workers(const void *a, const void *b)
{
	const struct worker_row *x = &(*(struct worker *const *)a)->row,
				*y = &(*(struct worker *const *)b)->row;

	if (x->on_cpu_ns != y->on_cpu_ns)
		return (x->on_cpu_ns < y->on_cpu_ns) - (x->on_cpu_ns > y->on_cpu_ns);
	return x->pid != y->pid ? (x->pid > y->pid) - (x->pid < y->pid)
				: (x->tid > y->tid) - (x->tid < y->tid);
}

/* The threads that are not asked for go behind the others. */
static void leave_out_others(struct worker_report *report)
{
	for (size_t i = 0; i < report->worker_cnt; i++) {
		struct worker *worker = report->workers[i];

		if (!is_reported(report, worker))
			continue;
		report->workers[i] = report->workers[report->shown_cnt];
		report->workers[report->shown_cnt++] = worker;
	}
}

void worker_report_finish(struct worker_report *report)
{
	for (size_t i = 0; i < report->worker_cnt; i++) {
		struct worker *worker = report->workers[i];
		struct txtrace_string name = thread_names_get(report->names, worker->row.pid,
							      worker->row.tid);

		end_period(worker, worker->last_end_ns);
		for (size_t j = 0; is_worker(report, worker) && j < worker->parked_cnt; j++)
			count_parked(report, worker, &worker->parked[j]);
		worker->row.name_length = name.length < WORKER_NAME_BYTES ? name.length : WORKER_NAME_BYTES;
		if (worker->row.name_length > 0)
			memcpy(worker->row.name, name.bytes, worker->row.name_length);
	}
	leave_out_others(report);
	if (report->shown_cnt > 0)
		qsort(report->workers, report->shown_cnt, sizeof(*report->workers), compare_workers);
}

uint64_t worker_row_unknown_ns(const struct worker_row *row)
{
	uint64_t known_ns = add_saturating(row->on_cpu_ns, add_saturating(row->runnable_ns, row->blocked_ns));
	uint64_t watched_ns = row->to_ns > row->from_ns ? row->to_ns - row->from_ns : 0;

	return watched_ns > known_ns ? watched_ns - known_ns : 0;
}

size_t worker_report_row_count(const struct worker_report *report)
{
	return report->shown_cnt;
}

const struct worker_row *worker_report_row(const struct worker_report *report, size_t idx)
{
	return &report->workers[idx]->row;
}

const struct worker_row *worker_report_find(const struct worker_report *report, uint32_t pid, uint32_t tid)
{
	const struct worker *worker = id_map_get(&report->by_thread, pid, tid);

	return worker ? &worker->row : NULL;
}

size_t worker_report_parked_count(const struct worker_report *report)
{
	return report->top_parked_cnt;
}

const struct worker_parked *worker_report_parked(const struct worker_report *report, size_t idx)
{
	return &report->top_parked[idx];
}

size_t worker_report_run_count(const struct worker_report *report)
{
	return report->top_run_cnt;
}

const struct worker_run *worker_report_run(const struct worker_report *report, size_t idx)
{
	return &report->top_runs[idx];
}

uint64_t worker_report_hidden_count(const struct worker_report *report)
{
	return report->hidden_cnt;
}

bool worker_report_is_coarse(const struct worker_report *report)
{
	return report->is_coarse;
}

uint64_t worker_report_queue_count(const struct worker_report *report)
{
	return report->queue ? queue_history_count(report->queue) : 0;
}
