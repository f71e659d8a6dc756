/* SPDX-License-Identifier: BSD-2-Clause */
/* The program's events: spans begin, are entered, left and ended; and what is said about them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/attribution_internal.h"
#include "attribute/clocks.h"

static bool is_keyed(const struct event *event)
{
	return event->kind >= EVENT_KEY_BEGIN && event->kind <= EVENT_KEY_INSTANT;
}

static struct span *span_of_event(const struct attribution *attribution, const struct event *event)
{
	if (is_keyed(event))
		return span_table_get_keyed(&attribution->spans, &event->keyed.key);
	return span_table_get(&attribution->spans, event->tgid, event->span.id);
}

/* The two readings of a stay do not belong together: unless something was lost, that is a bug. */
static void judge_stay(struct attribution *attribution, struct span *span, bool is_sane)
{
	if (is_sane)
		return;
	if (!attribution->sched_loss_until_ns)
		count_anomaly(attribution, TXTRACE_ANOMALY_CLOCK_MISMATCH);
	span->record.flags |= TXTRACE_SPAN_LOWER_BOUND;
}

static int put_stay(struct attribution *attribution, const struct stay *stay, uint64_t time_ns)
{
	const struct txtrace_span *span = &stay->span->record;
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_STAY,
		.stay = {
			.enter_ns = stay->enter_ns,
			.exit_ns = time_ns,
			.span = span->id,
			.span_pid = span->pid,
			.pid = stay->thread->tgid,
			.tid = stay->thread->tid,
			.is_keyed = span->flags & TXTRACE_SPAN_KEYED,
		},
	};

	return put_record(attribution, &record);
}

/* Its only stay, and as long as it lasts until the span ends: then the span's own record tells all of it. */
static bool is_told_by_span(const struct stay *stay, uint32_t end_tid)
{
	const struct span *span = stay->span;

	return span->stay_cnt == 1 && stay->thread->tid == (end_tid ? end_tid : span->record.tid) && stay->thread->tgid == span->record.pid;
}

/* Ends a stay of a thread that says nothing itself at this moment: its clocks are read off the replay. */
static void close_stay_from_outside(struct attribution *attribution, struct stay *stay, uint64_t time_ns)
{
	struct span *span = stay->span;
	struct wire_clocks clocks;

	thread_clocks_at(stay->thread, time_ns, &clocks);
	if (attribution->sched_loss_until_ns >= stay->thread->reading_ns && attribution->sched_loss_until_ns)
		mark_lossy(span);
	judge_stay(attribution, span, span_leave(&attribution->spans, stay, time_ns, &clocks));
}

int leave_all(struct attribution *attribution, struct thread *thread, uint64_t time_ns, const struct wire_clocks *clocks)
{
	int err = 0;

	while (thread->stays && !err) {
		struct span *span = thread->stays->span;

		err = put_stay(attribution, thread->stays, time_ns);
		judge_stay(attribution, span, span_leave(&attribution->spans, thread->stays, time_ns, clocks));
	}
	return err;
}

int finish_span(struct attribution *attribution, struct span *span, uint64_t time_ns, uint32_t end_tid)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	int err = 0;

	while (span->stays && !err) {
		if (!is_told_by_span(span->stays, end_tid))
			err = put_stay(attribution, span->stays, time_ns);
		close_stay_from_outside(attribution, span->stays, time_ns);
	}
	if (err)
		return err;
	span_charge_detached(span, time_ns);
	span->record.end_ns = time_ns;
	span->record.end_tid = end_tid;
	if (txtrace_ledger_sum_ns(&span->record.ledger) != span->record.work_ns) {
		span->record.flags |= TXTRACE_SPAN_IMBALANCE;
		count_anomaly(attribution, TXTRACE_ANOMALY_IMBALANCE);
	}
	attribution->stats.span_cnt++;
	if (span->record.flags & TXTRACE_SPAN_LOWER_BOUND)
		attribution->stats.lower_bound_cnt++;
	record.span = span->record;
	err = put_record(attribution, &record);
	span_table_end(&attribution->spans, span);
	return err;
}

static bool is_cut_off(const struct span *span, uint32_t tgid)
{
	return !tgid || (span->record.pid == tgid && !(span->record.flags & TXTRACE_SPAN_KEYED));
}

int cut_off_spans(struct attribution *attribution, uint32_t tgid, uint64_t time_ns)
{
	struct span **list;
	size_t cnt;
	int err;

	if (!attribution->spans.open_cnt)
		return 0;
	err = span_table_list(&attribution->spans, is_cut_off, tgid, &list, &cnt);
	for (size_t i = 0; !err && i < cnt; i++) {
		if (tgid)
			count_anomaly(attribution, TXTRACE_ANOMALY_UNFINISHED);
		list[i]->record.flags |= TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND;
		err = finish_span(attribution, list[i], time_ns, 0);
	}
	free(list);
	return err;
}

/* Who did it, and the reading of its clocks, NULL if there is none. */
struct own_event {
	struct thread *thread;
	const struct wire_clocks *clocks;
	struct wire_clocks storage;
};

/* Every span event sets the replay of its thread right. */
static int read_event(struct attribution *attribution, const struct event *event, struct own_event *own)
{
	int err = thread_of_own_event(attribution, event, &own->thread);

	if (!err)
		own->clocks = read_clocks(attribution, own->thread, event, &own->storage);
	return err;
}

/* It says that its clocks go on from an earlier reading, and there is none: that was lost. */
static bool is_reading_lost(const struct event *event, const struct own_event *own)
{
	return !own->clocks && !(event->flags & WIRE_NO_CLOCKS);
}

static int enter(struct attribution *attribution, struct span *span, const struct event *event, const struct own_event *own)
{
	if (is_reading_lost(event, own))
		mark_lossy(span);
	return span_enter(&attribution->spans, span, own->thread, event->time_ns, own->clocks);
}

static void leave(struct attribution *attribution, struct stay *stay, const struct event *event, const struct own_event *own)
{
	struct span *span = stay->span;

	if (is_reading_lost(event, own))
		mark_lossy(span);
	judge_stay(attribution, span, span_leave(&attribution->spans, stay, event->time_ns, own->clocks));
}

int attribute_begin(struct attribution *attribution, const struct event *event)
{
	struct span_begin begin = {
		.time_ns = event->time_ns,
		.tgid = event->tgid,
		.tid = event->tid,
		.label = is_keyed(event) ? &event->keyed.name : &event->span.label,
		.key = is_keyed(event) ? &event->keyed.key : NULL,
	};
	struct own_event own;
	struct span *span;
	int err = read_event(attribution, event, &own);

	if (err)
		return err;
	if (span_of_event(attribution, event)) {
		count_anomaly(attribution, TXTRACE_ANOMALY_BEGIN_TWICE);
		return 0;
	}
	if (!is_keyed(event)) {
		begin.id = event->span.id;
		begin.parent = event->span.parent;
	}
	span = span_table_begin(&attribution->spans, &begin);
	if (!span)
		return -ENOMEM;
	if (event->time_ns <= attribution->span_loss_until_ns)
		mark_lossy(span);
	return event->kind == EVENT_BEGIN_DETACHED ? 0 : enter(attribution, span, event, &own);
}

int attribute_enter(struct attribution *attribution, const struct event *event)
{
	struct own_event own;
	struct span *span;
	struct stay *stay;
	int err = read_event(attribution, event, &own);

	if (err)
		return err;
	span = span_of_event(attribution, event);
	if (!span) {
		count_anomaly(attribution, TXTRACE_ANOMALY_ENTER_UNKNOWN);
		return 0;
	}
	stay = span_stay_of(span, own.thread);
	if (!stay)
		return enter(attribution, span, event, &own);
	stay->depth++;
	return 0;
}

int attribute_leave(struct attribution *attribution, const struct event *event)
{
	struct own_event own;
	struct span *span;
	struct stay *stay;
	int err = read_event(attribution, event, &own);

	if (err)
		return err;
	span = span_of_event(attribution, event);
	if (!span) {
		count_anomaly(attribution, TXTRACE_ANOMALY_EXIT_UNKNOWN);
		return 0;
	}
	stay = span_stay_of(span, own.thread);
	if (!stay)
		count_anomaly(attribution, TXTRACE_ANOMALY_EXIT_UNENTERED);
	else if (!--stay->depth) {
		err = put_stay(attribution, stay, event->time_ns);
		leave(attribution, stay, event, &own);
	}
	return err;
}

int attribute_end(struct attribution *attribution, const struct event *event)
{
	struct own_event own;
	struct span *span;
	struct stay *stay;
	int err = read_event(attribution, event, &own);

	if (err)
		return err;
	span = span_of_event(attribution, event);
	if (!span) {
		count_anomaly(attribution, TXTRACE_ANOMALY_END_UNKNOWN);
		return 0;
	}
	if (event->kind == EVENT_ABANDON) { /* it ended some time before: until now is the most that it can have taken */
		count_anomaly(attribution, TXTRACE_ANOMALY_UNFINISHED);
		span->record.flags |= TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND;
	}
	stay = span_stay_of(span, own.thread);
	if (stay && !is_told_by_span(stay, event->tid))
		err = put_stay(attribution, stay, event->time_ns);
	if (stay)
		leave(attribution, stay, event, &own);
	return err ? err : finish_span(attribution, span, event->time_ns, event->tid);
}

/* What is said about a span that is not open is kept all the same: the link to an ended span is one that a reader can follow. */
static struct span *marked_span(struct attribution *attribution, const struct event *event, uint64_t id)
{
	struct span *span = span_table_get(&attribution->spans, event->tgid, id);

	if (!span)
		count_anomaly(attribution, TXTRACE_ANOMALY_MARK_UNKNOWN);
	return span;
}

int attribute_tag(struct attribution *attribution, const struct event *event)
{
	struct span *span = marked_span(attribution, event, event->mark.id);

	return span ? span_add_tag(span, &event->mark.text) : 0;
}

/* Its value as NAME=VALUE: what could not be read is ?. */
int attribute_value(struct attribution *attribution, const struct event *event)
{
	struct span *span = marked_span(attribution, event, event->mark.id);
	const struct event_text *string = &event->mark.text;
	char text[256 + WIRE_TEXT_LONG + 24];
	size_t length = event->mark.name.length < 256 ? event->mark.name.length : 256;
	struct event_text tag = { .bytes = text };

	if (!span)
		return 0;
	if (length)
		memcpy(text, event->mark.name.bytes, length);
	text[length++] = '=';
	if (event->flags & WIRE_IS_UNREADABLE) {
		text[length++] = '?';
	} else if (event->mark.type == ATTR_STRING) {
		size_t room = string->length < WIRE_TEXT_LONG ? string->length : WIRE_TEXT_LONG;

		if (room)
			memcpy(text + length, string->bytes, room);
		length += room;
	} else {
		const char *format = event->mark.type == ATTR_INT ? "%" PRId64 : "%" PRIu64;

		length += (size_t)snprintf(text + length, 24, format, event->mark.value);
	}
	tag.length = (uint32_t)length;
	return span_add_tag(span, &tag);
}

int attribute_attr(struct attribution *attribution, const struct event *event)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_ATTRIBUTE,
		.attribute = {
			.time_ns = event->time_ns,
			.span = event->mark.id,
			.pid = event->tgid,
			.tid = event->tid,
			.type = event->mark.type,
			.is_truncated = event->mark.text.is_truncated,
			.value = event->mark.value,
			.name = string_of(&event->mark.name),
			.string = string_of(&event->mark.text),
		},
	};

	if (event->mark.type < ATTR_BOOL || event->mark.type > ATTR_POINTER)
		return 0; /* the program called the probe itself, with a type that does not exist */
	marked_span(attribution, event, event->mark.id);
	if (event->mark.type == ATTR_STRING)
		record.attribute.value = 0; /* the address means nothing to a reader */
	return put_record(attribution, &record);
}

static int put_instant(struct attribution *attribution, const struct event *event, uint64_t id, const struct event_text *name)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_INSTANT,
		.instant = {
			.time_ns = event->time_ns,
			.span = id,
			.pid = event->tgid,
			.tid = event->tid,
			.name = string_of(name),
		},
	};

	return put_record(attribution, &record);
}

int attribute_instant(struct attribution *attribution, const struct event *event)
{
	marked_span(attribution, event, event->mark.id);
	return put_instant(attribution, event, event->mark.id, &event->mark.name);
}

int attribute_key_instant(struct attribution *attribution, const struct event *event)
{
	struct own_event own;
	struct span *span;
	int err = read_event(attribution, event, &own);

	if (err)
		return err;
	span = span_of_event(attribution, event);
	if (!span)
		count_anomaly(attribution, TXTRACE_ANOMALY_MARK_UNKNOWN);
	return put_instant(attribution, event, span ? span->record.id : 0, &event->keyed.name);
}

int attribute_counter(struct attribution *attribution, const struct event *event)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_COUNTER,
		.counter = {
			.time_ns = event->time_ns,
			.value = (int64_t)event->mark.value,
			.pid = event->tgid,
			.tid = event->tid,
			.name = string_of(&event->mark.name),
		},
	};

	return put_record(attribution, &record);
}

int attribute_link(struct attribution *attribution, const struct event *event)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_LINK,
		.link = {
			.time_ns = event->time_ns,
			.from = event->mark.id,
			.to = event->mark.value,
			.pid = event->tgid,
			.tid = event->tid,
			.name = string_of(&event->mark.name),
		},
	};

	marked_span(attribution, event, event->mark.id); /* what it leads to may be over, or yet to come */
	return put_record(attribution, &record);
}
