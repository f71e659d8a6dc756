/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/span_close.h"

#include "attribute/left_out.h"

#include <errno.h>
#include <stdlib.h>

#include "attribute/sampling.h"
#include "attribute/span_budget.h"
#include "attribute/top_level.h"

/* The two readings of a stay do not belong together: unless something was lost, that is a bug. */
static void judge_stay(struct attribution *attribution, struct span *span, bool is_sane)
{
	if (is_sane)
		return;
	if (!attribution->sched_loss_until_ns)
		count_anomaly(attribution, TXTRACE_ANOMALY_CLOCK_MISMATCH);
	span->flags |= TXTRACE_SPAN_LOWER_BOUND;
}

static int put_stay(struct attribution *attribution, const struct stay *stay, uint64_t time_ns)
{
	const struct span *span = stay->span;
	struct txtrace_record record;

	record.kind = TXTRACE_RECORD_STAY;
	record.stay = (struct txtrace_stay){
		.enter_ns = stay->enter_ns,
		.exit_ns = time_ns,
		.span = span->id,
		.span_pid = span->pid,
		.pid = stay->thread->tgid,
		.tid = stay->thread->tid,
		.is_keyed = span->flags & TXTRACE_SPAN_KEYED,
	};
	return put_mark(attribution, stay->span, &record, time_ns);
}

/* The thread says itself that it leaves. */
static void charge_own_stay(struct attribution *attribution, struct stay *stay, const struct own_event *own,
			    struct span_account *account)
{
	struct span *span = stay->span;

	if (own->is_reading_lost)
		mark_lossy(span);
	top_level_leave(attribution, stay, own->time_ns, own->reading);
	budget_leave(attribution, stay);
	judge_stay(attribution, span,
		   span_leave(&attribution->spans, stay, own->time_ns, own->reading, account));
}

/* It says nothing: its clocks are read off the replay. */
static void charge_stay_from_outside(struct attribution *attribution, struct stay *stay, uint64_t time_ns,
				     struct span_account *account)
{
	struct span *span = stay->span;
	struct thread_reading reading;

	thread_replay_at(&attribution->threads, stay->thread, time_ns, &reading);
	if (attribution->sched_loss_until_ns >= stay->thread->reading_ns && attribution->sched_loss_until_ns)
		mark_lossy(span);
	top_level_leave(attribution, stay, time_ns, &reading);
	budget_leave(attribution, stay);
	judge_stay(attribution, span, span_leave(&attribution->spans, stay, time_ns, &reading, account));
}

int close_stay(struct attribution *attribution, struct stay *stay, const struct own_event *own)
{
	struct span_account *account = span_account(&attribution->spans, stay->span);
	int err = account ? put_stay(attribution, stay, own->time_ns) : -ENOMEM;

	if (account)
		charge_own_stay(attribution, stay, own, account);
	return err;
}

int leave_all(struct attribution *attribution, const struct own_event *own)
{
	int err = 0;

	while (own->thread->stays && !err)
		err = close_stay(attribution, own->thread->stays, own);
	return err;
}

/* Its only stay, and as long as it lasts until the span ends: then the span's own record tells all of it. */
static bool is_told_by_span(const struct stay *stay, uint32_t end_tid)
{
	const struct span *span = stay->span;

	return span->stay_cnt == 1 && stay->thread->tid == (end_tid ? end_tid : span->tid) &&
	       stay->thread->tgid == span->pid;
}

static int end_stay(struct attribution *attribution, struct stay *stay, const struct own_event *own,
		    uint64_t time_ns, uint32_t end_tid, struct span_account *account)
{
	int err = is_told_by_span(stay, end_tid) ? 0 : put_stay(attribution, stay, time_ns);

	if (own && stay->thread == own->thread)
		charge_own_stay(attribution, stay, own, account);
	else
		charge_stay_from_outside(attribution, stay, time_ns, account);
	return err;
}

/* Of the one who ends it first. */
static int end_stays(struct attribution *attribution, struct span *span, const struct own_event *own,
		     uint64_t time_ns, uint32_t end_tid, struct span_account *account)
{
	struct stay *stay = own ? span_stay_of(span, own->thread) : NULL;
	int err = stay ? end_stay(attribution, stay, own, time_ns, end_tid, account) : 0;

	while (span->stays && !err)
		err = end_stay(attribution, span->stays, own, time_ns, end_tid, account);
	return err;
}

/* In front of the span's own record. */
static int put_overlap(struct attribution *attribution, const struct span *span, uint64_t end_ns,
		       const struct span_account *account)
{
	struct txtrace_record record;

	if (!span->overlap)
		return 0;
	record.kind = TXTRACE_RECORD_OVERLAP;
	record.overlap = (struct txtrace_overlap){
		.time_ns = end_ns,
		.span = span->id,
		.pid = span->pid,
		.tid = span->tid,
		.is_keyed = span->flags & TXTRACE_SPAN_KEYED,
		.ledger = top_level_overlap(attribution, span, &account->ledger),
	};
	return put_record(attribution, &record);
}

static int put_span(struct attribution *attribution, const struct span *span, uint64_t end_ns,
		    uint32_t end_tid, const struct span_account *account)
{
	struct txtrace_record record;

	record.kind = TXTRACE_RECORD_SPAN;
	record.span = (struct txtrace_span){
		.id = span->id,
		.parent = span->parent,
		.pid = span->pid,
		.tid = span->tid,
		.end_tid = end_tid,
		.flags = span->flags,
		.begin_ns = span->begin_ns,
		.end_ns = end_ns,
		.work_ns = account->work_ns,
		.ledger = account->ledger,
		.stolen_max_ns = account->stolen_doubt_ns
					 ? account->ledger.stolen_ns + account->stolen_doubt_ns
					 : 0,
		.label = span_label(span),
		.tag = span_tag(span),
		.key = span_key(span),
	};
	return put_record(attribution, &record);
}

int finish_span(struct attribution *attribution, struct span *span, const struct own_event *own,
		uint64_t time_ns, uint32_t end_tid)
{
	struct span_account account;
	bool is_written;
	int err;

	span_read_account(&attribution->spans, span, &account);
	err = end_stays(attribution, span, own, time_ns, end_tid, &account);
	if (err)
		return err;
	span_charge_detached(span, time_ns, &account);
	if (txtrace_ledger_sum_ns(&account.ledger) != account.work_ns) {
		span->flags |= TXTRACE_SPAN_IMBALANCE;
		count_anomaly(attribution, TXTRACE_ANOMALY_IMBALANCE);
	}
	attribution->stats.span_cnt++;
	if (span->flags & TXTRACE_SPAN_LOWER_BOUND)
		attribution->stats.lower_bound_cnt++;
	if (own && !(span->flags & TXTRACE_SPAN_KEYED))
		own->thread->process->open_span_cnt--;
	err = settle_marks(attribution, span, time_ns, &is_written);
	if (!err)
		err = sampling_end(attribution, span);
	if (!err && is_written)
		err = put_overlap(attribution, span, time_ns, &account);
	if (!err && is_written)
		err = put_span(attribution, span, time_ns, end_tid, &account);
	budget_end(attribution, span, own ? own->thread : NULL);
	span_table_end(&attribution->spans, span);
	return err;
}

static bool is_cut_off(const struct span *span, uint32_t tgid)
{
	return !tgid || (span->pid == tgid && !(span->flags & TXTRACE_SPAN_KEYED));
}

int cut_off_spans(struct attribution *attribution, struct process *process, uint64_t time_ns)
{
	struct span **list;
	size_t cnt;
	int err;

	if (process ? !process->open_span_cnt : !attribution->spans.open_cnt)
		return 0;
	err = span_table_list(&attribution->spans, is_cut_off, process ? process->tgid : 0, &list, &cnt);
	for (size_t i = 0; !err && i < cnt; i++) {
		if (process)
			count_anomaly(attribution, TXTRACE_ANOMALY_UNFINISHED);
		list[i]->flags |= TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND;
		err = finish_span(attribution, list[i], NULL, time_ns, 0);
	}
	if (process)
		process->open_span_cnt = 0;
	free(list);
	return err;
}
