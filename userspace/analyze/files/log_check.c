/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/files/log_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/merge_plan.h"
#include "base/array.h"
#include "log/format/record_table.h"
#include "analyze/span_set.h"
#include "base/saturating.h"

/* What is noted of a span, by where it was met. */
enum reference {
	REFERENCE_DEFINED = 1,
	REFERENCE_PARENT = 2,
	REFERENCE_ATTRIBUTE = 4,
	REFERENCE_INSTANT = 8,
	REFERENCE_LINK = 16,
};
#define REFERENCE_MARKS (REFERENCE_ATTRIBUTE | REFERENCE_INSTANT | REFERENCE_LINK)

#define THREAD_TOLD 1
#define THREAD_MISSED 2 /* it was not told of, and that has been said */

struct log_check {
	struct log_check_result results[LOG_CHECK_COUNT];
	struct log_check_problem *problems; /* problem_max for each check */
	size_t problem_max;
	size_t max_bytes;
	bool is_slice;
	bool is_part;
	bool is_continued; /* by the last record */
	struct span_set *spans;
	struct span_set *threads;
	uint64_t record_number;
	uint64_t record_ns;  /* time of the record that is looked at */
	uint64_t ordered_ns; /* greatest time of the records that have an order */
	uint64_t lost_span_event_cnt;
	uint64_t lost_sched_event_cnt;
	uint64_t dropped_cnt;
	uint64_t summary_cnt;
	struct txtrace_summary summary;
};

const char *log_check_name(enum log_check_kind kind)
{
	static const char *const names[LOG_CHECK_COUNT] = {
		[LOG_CHECK_DAMAGE] = "damage",	 [LOG_CHECK_BATCHES] = "batches",
		[LOG_CHECK_BALANCE] = "balance", [LOG_CHECK_WORK] = "work",
		[LOG_CHECK_FLAGS] = "flags",	 [LOG_CHECK_TIMES] = "times",
		[LOG_CHECK_ORDER] = "order",	 [LOG_CHECK_PARENTS] = "parents",
		[LOG_CHECK_MARKS] = "marks",	 [LOG_CHECK_THREADS] = "threads",
		[LOG_CHECK_INDEX] = "index",	 [LOG_CHECK_SUMMARY] = "summary",
	};

	return names[kind];
}

struct log_check *log_check_new(size_t max_bytes, size_t problems_per_check, bool is_slice)
{
	struct log_check *check = calloc(1, sizeof(*check));

	if (!check)
		return NULL;
	check->is_slice = is_slice;
	check->max_bytes = max_bytes;
	check->problem_max = problems_per_check;
	check->problems = calloc(LOG_CHECK_COUNT * problems_per_check + 1, sizeof(*check->problems));
	check->spans = span_set_new(max_bytes - max_bytes / 8);
	check->threads = span_set_new(max_bytes / 8);
	if (check->problems && check->spans && check->threads)
		return check;
	log_check_free(check);
	return NULL;
}

void log_check_free(struct log_check *check)
{
	if (!check)
		return;
	span_set_free(check->spans);
	span_set_free(check->threads);
	free(check->problems);
	free(check);
}

/* ---- problems ---- */

static void checked(struct log_check *check, enum log_check_kind kind)
{
	check->results[kind].checked_cnt++;
}

static void keep_problem(struct log_check *check, enum log_check_kind kind, uint64_t record_number,
			 const char *format, va_list arguments)
{
	uint64_t idx = check->results[kind].problem_cnt++;
	struct log_check_problem *problem;

	if (idx >= check->problem_max)
		return;
	problem = &check->problems[kind * check->problem_max + idx];
	*problem = (struct log_check_problem){ .kind = kind,
					       .record_number = record_number,
					       .time_ns = record_number ? check->record_ns : 0 };
	vsnprintf(problem->what, sizeof(problem->what), format, arguments);
}

__attribute__((format(printf, 3, 4))) static void complain(struct log_check *check, enum log_check_kind kind,
							   const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	keep_problem(check, kind, check->record_number, format, arguments);
	va_end(arguments);
}

void log_check_count(struct log_check *check, enum log_check_kind kind)
{
	checked(check, kind);
}

void log_check_complain(struct log_check *check, enum log_check_kind kind, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	keep_problem(check, kind, 0, format, arguments);
	va_end(arguments);
}

__attribute__((format(printf, 4, 5))) static void complain_of_span(struct log_check *check,
								   enum log_check_kind kind,
								   const struct txtrace_span *span,
								   const char *format, ...)
{
	char what[LOG_CHECK_WHAT_SIZE / 2];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	complain(check, kind, "span %" PRIu64 " of process %" PRIu32 ": %s", span->id, span->pid, what);
}

/* ---- spans ---- */

static void check_ledger(struct log_check *check, const struct txtrace_span *span)
{
	uint64_t sum_ns = txtrace_ledger_sum_ns(&span->ledger), wall_ns = span->end_ns - span->begin_ns;

	if (span->flags & TXTRACE_SPAN_IMBALANCE) {
		checked(check, LOG_CHECK_BALANCE);
		complain_of_span(check, LOG_CHECK_BALANCE, span,
				 "the recorder found that its ledger does not add up");
		return;
	}
	if (span->flags & TXTRACE_SPAN_LOWER_BOUND)
		return;
	checked(check, LOG_CHECK_BALANCE);
	if (sum_ns != span->work_ns)
		complain_of_span(check, LOG_CHECK_BALANCE, span,
				 "its ledger sums up to %" PRIu64 " ns, its work is %" PRIu64 " ns", sum_ns,
				 span->work_ns);
	if (span->end_ns < span->begin_ns)
		return;
	checked(check, LOG_CHECK_WORK);
	if (span->work_ns < wall_ns)
		complain_of_span(check, LOG_CHECK_WORK, span,
				 "its work is %" PRIu64 " ns, less than its wall time of %" PRIu64 " ns",
				 span->work_ns, wall_ns);
	else if (span->work_ns > wall_ns && !(span->flags & TXTRACE_SPAN_MOVED))
		complain_of_span(check, LOG_CHECK_WORK, span,
				 "one thread worked for it, %" PRIu64 " ns in a wall time of %" PRIu64 " ns",
				 span->work_ns, wall_ns);
}

static void check_flags(struct log_check *check, const struct txtrace_span *span)
{
	bool is_lower_bound = span->flags & TXTRACE_SPAN_LOWER_BOUND,
	     is_unfinished = span->flags & TXTRACE_SPAN_UNFINISHED;

	checked(check, LOG_CHECK_FLAGS);
	if (is_unfinished && !is_lower_bound)
		complain_of_span(check, LOG_CHECK_FLAGS, span,
				 "it is unfinished and not marked as a lower bound");
	else if (span->flags & TXTRACE_SPAN_LOSS && !is_lower_bound)
		complain_of_span(check, LOG_CHECK_FLAGS, span,
				 "losses touched it and it is not marked as a lower bound");
	else if (is_unfinished && span->end_tid)
		complain_of_span(check, LOG_CHECK_FLAGS, span,
				 "it is unfinished and thread %" PRIu32 " ended it", span->end_tid);
	else if (!is_unfinished && !span->end_tid)
		complain_of_span(check, LOG_CHECK_FLAGS, span,
				 "no thread ended it and it is not marked as unfinished");
	else if (span->key.length > 0 && !(span->flags & TXTRACE_SPAN_KEYED))
		complain_of_span(check, LOG_CHECK_FLAGS, span, "it has a key and is not marked as keyed");
}

/* ---- references ---- */

static void refer(struct log_check *check, uint32_t pid, uint64_t id, enum reference reference)
{
	struct span_note *note;

	if (id == 0)
		return;
	if (reference != REFERENCE_DEFINED)
		checked(check, reference == REFERENCE_PARENT ? LOG_CHECK_PARENTS : LOG_CHECK_MARKS);
	note = span_set_add(check->spans, pid, id);
	if (note)
		note->flags |= reference;
}

#define NO_PROCESS 0 /* as a parent, a keyed span is of none */

static void define(struct log_check *check, uint32_t pid, uint64_t id, uint64_t parent, uint32_t flags)
{
	refer(check, pid, id, REFERENCE_DEFINED);
	if (flags & TXTRACE_SPAN_KEYED)
		refer(check, NO_PROCESS, id, REFERENCE_DEFINED);
	refer(check, flags & TXTRACE_SPAN_PARENT_KEYED ? NO_PROCESS : pid, parent, REFERENCE_PARENT);
}

/* A thread is named once, at the first record that needs it. */
static void check_thread(struct log_check *check, uint32_t pid, uint32_t tid, const char *does)
{
	struct span_note *note = span_set_get(check->threads, pid, tid);

	checked(check, LOG_CHECK_THREADS);
	if (note || span_set_is_full(check->threads))
		return;
	note = span_set_add(check->threads, pid, tid);
	if (!note)
		return;
	note->flags = THREAD_MISSED;
	complain(check, LOG_CHECK_THREADS,
		 "thread %" PRIu32 " of process %" PRIu32 " %s, but no earlier record names it", tid, pid,
		 does);
}

static void tell_thread(struct log_check *check, const struct txtrace_thread *thread)
{
	struct span_note *note = span_set_add(check->threads, thread->pid, thread->tid);

	if (note)
		note->flags |= THREAD_TOLD;
}

/* ---- records ---- */

/* Checkpoints, losses, what was dropped, triggers and the summary are written when they become known. */
static bool has_an_order(uint32_t kind)
{
	return kind != TXTRACE_RECORD_OPEN_SPAN && kind != TXTRACE_RECORD_LOSS &&
	       kind != TXTRACE_RECORD_DROPPED && kind != TXTRACE_RECORD_TRIGGER &&
	       kind != TXTRACE_RECORD_SUMMARY;
}

static void check_times(struct log_check *check, const struct txtrace_record *record, uint64_t begin_ns)
{
	checked(check, LOG_CHECK_TIMES);
	if (begin_ns > check->record_ns)
		complain(check, LOG_CHECK_TIMES, "a record of kind %s ends %" PRIu64 " ns before it begins",
			 txtrace_record_kind_name(record->kind), begin_ns - check->record_ns);
}

static void check_order(struct log_check *check, const struct txtrace_record *record)
{
	if (check->summary_cnt > 0 && record->kind != TXTRACE_RECORD_SUMMARY)
		complain(check, LOG_CHECK_SUMMARY, "a record of kind %s follows the summary",
			 txtrace_record_kind_name(record->kind));
	if (!has_an_order(record->kind))
		return;
	checked(check, LOG_CHECK_ORDER);
	if (check->record_ns < check->ordered_ns)
		complain(check, LOG_CHECK_ORDER, "a record of kind %s stands %" PRIu64 " ns too late",
			 txtrace_record_kind_name(record->kind), check->ordered_ns - check->record_ns);
	else
		check->ordered_ns = check->record_ns;
}

static void add_loss(struct log_check *check, const struct txtrace_loss *loss)
{
	increase(&check->lost_span_event_cnt, loss->span_event_cnt);
	increase(&check->lost_sched_event_cnt, loss->sched_event_cnt);
}

static void add_summary(struct log_check *check, const struct txtrace_summary *summary)
{
	merge_summary_add(&check->summary, summary);
	checked(check, LOG_CHECK_SUMMARY);
	if (check->summary_cnt++ > 0)
		complain(check, LOG_CHECK_SUMMARY, "there is more than one summary");
	else if (summary->sent_cnt != add_saturating(summary->received_cnt, summary->lost_cnt))
		complain(check, LOG_CHECK_SUMMARY,
			 "%" PRIu64 " events were sent, %" PRIu64 " received and %" PRIu64
			 " lost: that does not add up",
			 summary->sent_cnt, summary->received_cnt, summary->lost_cnt);
}

static void add_damage(struct log_check *check, const struct txtrace_damage *damage)
{
	complain(check, LOG_CHECK_DAMAGE, "at byte %" PRIu64 ": %s; %" PRIu64 " bytes are skipped",
		 damage->offset_bytes, damage->reason, damage->length_bytes);
}

static void check_span(struct log_check *check, const struct txtrace_span *span)
{
	check_ledger(check, span);
	check_flags(check, span);
	check_thread(check, span->pid, span->tid, "begins a span");
	define(check, span->pid, span->id, span->parent, span->flags);
}

static void check_kind(struct log_check *check, const struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		check_times(check, record, record->span.begin_ns);
		check_span(check, &record->span);
		break;
	case TXTRACE_RECORD_RUN:
		check_times(check, record, record->run.begin_ns);
		check_thread(check, record->run.pid, record->run.tid, "runs");
		break;
	case TXTRACE_RECORD_WAKE:
		check_thread(check, record->wake.pid, record->wake.tid, "is woken");
		break;
	case TXTRACE_RECORD_THREAD:
		tell_thread(check, &record->thread);
		break;
	case TXTRACE_RECORD_ATTRIBUTE:
		refer(check, record->attribute.pid, record->attribute.span, REFERENCE_ATTRIBUTE);
		break;
	case TXTRACE_RECORD_INSTANT:
		refer(check, record->instant.pid, record->instant.span, REFERENCE_INSTANT);
		break;
	case TXTRACE_RECORD_LINK:
		refer(check, record->link.pid, record->link.from, REFERENCE_LINK);
		break;
	case TXTRACE_RECORD_LOSS:
		check_times(check, record, record->loss.first_ns);
		add_loss(check, &record->loss);
		break;
	case TXTRACE_RECORD_OPEN_SPAN:
		check_times(check, record, record->open_span.begin_ns);
		define(check, record->open_span.pid, record->open_span.id, record->open_span.parent,
		       record->open_span.flags | (record->open_span.key.length ? TXTRACE_SPAN_KEYED : 0));
		break;
	case TXTRACE_RECORD_SUMMARY:
		add_summary(check, &record->summary);
		break;
	case TXTRACE_RECORD_STAY:
		check_times(check, record, record->stay.enter_ns);
		check_thread(check, record->stay.pid, record->stay.tid, "is in a span");
		break;
	case TXTRACE_RECORD_DROPPED:
		check_times(check, record, record->dropped.first_ns);
		check_times(check, record, record->dropped.last_ns);
		check->dropped_cnt++;
		break;
	case TXTRACE_RECORD_OTHER_RUN:
		check_times(check, record, record->other_run.begin_ns);
		break;
	case TXTRACE_RECORD_COST:
		check_times(check, record, record->cost.since_ns);
		break;
	default:
		break;
	}
}

void log_check_add(struct log_check *check, const struct txtrace_record *record)
{
	check->record_number++;
	check->record_ns = record_finished_ns(record);
	if (record->kind == TXTRACE_RECORD_DAMAGE) {
		add_damage(check, &record->damage);
		return;
	}
	check->is_continued = record->kind == TXTRACE_RECORD_CONTINUED;
	checked(check, LOG_CHECK_DAMAGE);
	check_order(check, record);
	check_kind(check, record);
}

/* ---- the end ---- */

/*
 * A forked process may go on with a span of its parent: that span is in the log, under the process that began
 * it. Ids are no small numbers, so the same one elsewhere is the same span. Returns the ids that were looked
 * for, those found being DEFINED; NULL: no memory.
 */
static struct span_set *look_elsewhere(const struct log_check *check)
{
	struct span_set *wanted = span_set_new(check->max_bytes / 8);
	struct span_note *note, *found;

	if (!wanted)
		return NULL;
	for (size_t i = 0; (note = span_set_next(check->spans, &i));) {
		if (!(note->flags & REFERENCE_DEFINED))
			span_set_add(wanted, 0, note->id);
	}
	for (size_t i = 0; (note = span_set_next(check->spans, &i));) {
		found = note->flags & REFERENCE_DEFINED ? span_set_get(wanted, 0, note->id) : NULL;
		if (found)
			found->flags |= REFERENCE_DEFINED;
	}
	return wanted;
}

static const char *who_names(unsigned int flags)
{
	return flags & REFERENCE_ATTRIBUTE ? "an attribute"
	       : flags & REFERENCE_INSTANT ? "an instant"
					   : "a link";
}

static int compare_notes(const void *a, const void *b)
{
	const struct span_note *const *left = a, *const *right = b;

	if ((*left)->pid != (*right)->pid)
		return (*left)->pid < (*right)->pid ? -1 : 1;
	return (*left)->id < (*right)->id ? -1 : (*left)->id > (*right)->id;
}

/* Those that are nowhere, by process and id: the set has no order. *cnt of them; NULL: no memory. */
static struct span_note **collect_unresolved(const struct log_check *check, const struct span_set *elsewhere,
					     size_t *cnt)
{
	struct span_note **list = NULL, **grown, *note;
	size_t room = 0;

	*cnt = 0;
	for (size_t i = 0; (note = span_set_next(check->spans, &i));) {
		const struct span_note *found = span_set_get(elsewhere, 0, note->id);

		if (note->flags & REFERENCE_DEFINED || (found && found->flags & REFERENCE_DEFINED))
			continue;
		grown = array_grow(list, &room, *cnt, sizeof(*list));
		if (!grown) {
			free(list);
			return NULL;
		}
		list = grown;
		list[(*cnt)++] = note;
	}
	if (*cnt > 0)
		qsort(list, *cnt, sizeof(*list), compare_notes);
	return list;
}

static void find_unresolved(struct log_check *check)
{
	struct span_set *elsewhere = look_elsewhere(check);
	struct span_note **list = NULL;
	size_t cnt = 0;

	if (elsewhere)
		list = collect_unresolved(check, elsewhere, &cnt);
	for (size_t i = 0; list && i < cnt; i++) {
		const struct span_note *note = list[i];

		if (note->flags & REFERENCE_PARENT)
			complain(check, LOG_CHECK_PARENTS,
				 "span %" PRIu64 " of process %" PRIu32 " is a parent, and is not in the log",
				 note->id, note->pid);
		if (note->flags & REFERENCE_MARKS)
			complain(check, LOG_CHECK_MARKS,
				 "span %" PRIu64 " of process %" PRIu32
				 " is named by %s, and is not in the log",
				 note->id, note->pid, who_names(note->flags));
	}
	if (!elsewhere || (cnt > 0 && !list))
		check->results[LOG_CHECK_PARENTS].unchecked = check->results[LOG_CHECK_MARKS].unchecked =
			"there is not enough memory";
	free(list);
	span_set_free(elsewhere);
}

static void check_has_summary(struct log_check *check)
{
	if (check->summary_cnt > 0)
		return;
	if (check->is_continued)
		check->is_part = true;
	else
		complain(check, LOG_CHECK_SUMMARY,
			 "there is none: recording did not end cleanly, or is still going on");
}

static void excuse(struct log_check *check)
{
	static const char *const part = "they may be in other parts of the capture";
	static const char *const slice = "it is a slice: they may have been skipped on purpose";
	const struct txtrace_summary *summary = &check->summary;
	const uint64_t *anomaly_cnt = summary->anomaly_cnt;
	bool has_gaps = check->results[LOG_CHECK_DAMAGE].problem_cnt > 0 ||
			(check->summary_cnt == 0 && !check->is_continued);
	const char *missing = has_gaps ? "parts of the log are missing" : NULL, *strange = NULL;
	bool has_untold_losses = summary->lost_cnt >
				 add_saturating(check->lost_span_event_cnt, check->lost_sched_event_cnt);
	bool has_lost_spans = check->lost_span_event_cnt > 0 || has_untold_losses;
	bool has_lost_threads = check->lost_sched_event_cnt > 0 || has_untold_losses;
	const char *dropped = check->dropped_cnt > 0 ? "the disk did not keep up, and records were dropped"
						     : missing;
	const char *lost = has_lost_spans ? "events were lost" : dropped;

	if (anomaly_cnt[TXTRACE_ANOMALY_END_UNKNOWN] || anomaly_cnt[TXTRACE_ANOMALY_ENTER_UNKNOWN] ||
	    anomaly_cnt[TXTRACE_ANOMALY_EXIT_UNKNOWN] || anomaly_cnt[TXTRACE_ANOMALY_MARK_UNKNOWN])
		strange = "the program named spans that were not open, as the summary counts";
	check->results[LOG_CHECK_PARENTS].excuse = check->results[LOG_CHECK_MARKS].excuse = check->is_slice
												    ? slice
											    : check->is_part
												    ? part
											    : lost ? lost
												   : strange;
	check->results[LOG_CHECK_THREADS].excuse = check->is_slice ? slice :
						    check->is_part ? part :
						    has_lost_threads ? "events were lost" : dropped;
	if (summary->late_cnt > 0)
		check->results[LOG_CHECK_ORDER].excuse = "events came late, as the summary counts";
}

void log_check_finish(struct log_check *check)
{
	static const char *const full = "there are more than fit into memory, --max-memory allows more";

	check->record_number = check->record_ns = 0;
	if (span_set_is_full(check->spans))
		check->results[LOG_CHECK_PARENTS].unchecked = check->results[LOG_CHECK_MARKS].unchecked =
			full;
	else
		find_unresolved(check);
	if (span_set_is_full(check->threads))
		check->results[LOG_CHECK_THREADS].unchecked = full;
	check_has_summary(check);
	excuse(check);
}

void log_check_begin_capture(struct log_check *check)
{
	uint64_t record_number = check->record_number;

	check->record_number = check->record_ns = check->ordered_ns = 0;
	check_has_summary(check);
	check->record_number = record_number;
	check->summary_cnt = 0;
	check->is_continued = false;
}

void log_check_excuse_parts(struct log_check *check)
{
	check->is_part = true;
}

const struct log_check_result *log_check_result(const struct log_check *check, enum log_check_kind kind)
{
	return &check->results[kind];
}

bool log_check_is_sound(const struct log_check *check)
{
	for (unsigned int kind = 0; kind < LOG_CHECK_COUNT; kind++) {
		if (check->results[kind].problem_cnt > 0 && !check->results[kind].excuse)
			return false;
	}
	return true;
}

const struct log_check_problem *log_check_problem(const struct log_check *check, size_t idx)
{
	for (size_t kind = 0; kind < LOG_CHECK_COUNT; kind++) {
		uint64_t problem_cnt = check->results[kind].problem_cnt;
		size_t kept = problem_cnt < check->problem_max ? (size_t)problem_cnt : check->problem_max;

		if (idx < kept)
			return &check->problems[kind * check->problem_max + idx];
		idx -= kept;
	}
	return NULL;
}
