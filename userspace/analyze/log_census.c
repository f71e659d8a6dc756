/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/log_census.h"

#include <string.h>

#include "analyze/merge_plan.h"
#include "base/saturating.h"

/* Hostile logs may have an end before its begin. */
static inline void see_times(struct log_census *census, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t least_ns = begin_ns < end_ns ? begin_ns : end_ns,
		 greatest_ns = begin_ns < end_ns ? end_ns : begin_ns;

	census->first_ns = !census->has_time || least_ns < census->first_ns ? least_ns : census->first_ns;
	/* 0 before the first */
	census->last_ns = greatest_ns > census->last_ns ? greatest_ns : census->last_ns;
	census->has_time = true;
}

static void add_span(struct log_census *census, const struct txtrace_span *span)
{
	bool is_lower_bound = span->flags & TXTRACE_SPAN_LOWER_BOUND;

	census->lower_bound_cnt += is_lower_bound;
	census->unfinished_cnt += !!(span->flags & TXTRACE_SPAN_UNFINISHED);
	census->touched_by_loss_cnt += !!(span->flags & TXTRACE_SPAN_LOSS);
	census->keyed_cnt += !!(span->flags & TXTRACE_SPAN_KEYED);
	census->moved_cnt += !!(span->flags & TXTRACE_SPAN_MOVED);
	if ((span->flags & TXTRACE_SPAN_IMBALANCE) ||
	    (!is_lower_bound && txtrace_ledger_sum_ns(&span->ledger) != span->work_ns))
		census->unbalanced_cnt++;
}

static void add_loss(struct log_census *census, const struct txtrace_loss *loss)
{
	bool is_first = census->record_cnt[TXTRACE_RECORD_LOSS] == 1;

	increase(&census->lost_span_event_cnt, loss->span_event_cnt);
	increase(&census->lost_sched_event_cnt, loss->sched_event_cnt);
	if (is_first || loss->first_ns < census->first_lost_ns)
		census->first_lost_ns = loss->first_ns;
	if (is_first || loss->last_ns > census->last_lost_ns)
		census->last_lost_ns = loss->last_ns;
}

static void add_dropped(struct log_census *census, const struct txtrace_dropped *dropped)
{
	bool is_first = census->record_cnt[TXTRACE_RECORD_DROPPED] == 1;

	increase(&census->dropped_span_cnt, dropped->record_cnt[TXTRACE_RECORD_SPAN]);
	for (unsigned int kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		increase(&census->dropped_record_cnt, dropped->record_cnt[kind]);
	if (is_first || dropped->first_ns < census->first_dropped_ns)
		census->first_dropped_ns = dropped->first_ns;
	if (is_first || dropped->last_ns > census->last_dropped_ns)
		census->last_dropped_ns = dropped->last_ns;
	see_times(census, dropped->first_ns, dropped->last_ns);
}

static void add_damage(struct log_census *census, const struct txtrace_damage *damage)
{
	increase(&census->damaged_bytes, damage->length_bytes);
	increase(&census->damaged_record_cnt, damage->record_cnt);
}

void log_census_begin_capture(struct log_census *census)
{
	census->earlier_capture_cnt++;
	census->unclosed_capture_cnt += !census->has_summary && !census->is_continued;
	census->earlier_summary = census->summary;
	census->has_summary = census->is_continued = false;
}

/* The census is copied, and the record does not live on: no pointers. */
static size_t keep_string(char *room, size_t size, const struct txtrace_string *string)
{
	size_t length = string->length < size ? string->length : size;

	if (length)
		memcpy(room, string->bytes, length);
	return length;
}

static void keep_trigger(struct log_census *census, const struct txtrace_trigger *trigger)
{
	census->trigger = *trigger;
	census->trigger.rule = (struct txtrace_string){
		NULL, keep_string(census->trigger_rule, sizeof(census->trigger_rule), &trigger->rule)
	};
	census->trigger.label = (struct txtrace_string){
		NULL, keep_string(census->trigger_label, sizeof(census->trigger_label), &trigger->label)
	};
}

void log_census_add(struct log_census *census, const struct txtrace_record *record)
{
	bool is_known = record->kind < TXTRACE_RECORD_KIND_COUNT;
	uint64_t begin_ns, end_ns;

	census->record_cnt[is_known ? record->kind : 0]++;
	census->is_continued = record->kind == TXTRACE_RECORD_CONTINUED;
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		add_span(census, &record->span);
		see_times(census, record->span.begin_ns, record->span.end_ns);
		return;
	case TXTRACE_RECORD_LOSS:
		add_loss(census, &record->loss);
		break;
	case TXTRACE_RECORD_SUMMARY:
		census->has_summary = true;
		census->summary = census->earlier_summary;
		merge_summary_add(&census->summary, &record->summary);
		break;
	case TXTRACE_RECORD_DROPPED:
		add_dropped(census, &record->dropped);
		return; /* it is written later than that was */
	case TXTRACE_RECORD_COST:
		/* it tells of the time since the one before */
		see_times(census, record->cost.time_ns, record->cost.time_ns);
		return;
	case TXTRACE_RECORD_TRIGGER:
		keep_trigger(census, &record->trigger);
		break;
	case TXTRACE_RECORD_DAMAGE:
		add_damage(census, &record->damage);
		break;
	default:
		break;
	}
	if (record_times(record, &begin_ns, &end_ns))
		see_times(census, begin_ns, end_ns);
}

bool log_census_is_complete(const struct log_census *census)
{
	return (census->has_summary || census->is_continued) && census->unclosed_capture_cnt == 0 &&
	       census->record_cnt[TXTRACE_RECORD_DAMAGE] == 0;
}

uint64_t log_census_lost_cnt(const struct log_census *census)
{
	uint64_t told = add_saturating(census->lost_span_event_cnt, census->lost_sched_event_cnt);

	return census->has_summary && census->summary.lost_cnt > told ? census->summary.lost_cnt : told;
}

bool log_census_is_balanced(const struct log_census *census)
{
	const struct txtrace_summary *summary = &census->summary;

	return !census->has_summary ||
	       summary->sent_cnt == add_saturating(summary->received_cnt, summary->lost_cnt);
}
