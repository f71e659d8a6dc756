/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/span_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attribute/left_out.h"
#include "attribute/sampling.h"
#include "attribute/span_budget.h"
#include "attribute/span_parent.h"
#include "attribute/thread_life.h"
#include "attribute/top_level.h"

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

/* Mostly a thread works for the span that it has entered last. */
static struct span *span_of_own_event(const struct attribution *attribution, const struct event *event,
				      const struct thread *thread)
{
	bool is_top = !is_keyed(event) && thread->top_span == event->span.id && thread->top_span &&
		      !thread->is_top_span_keyed && !thread->is_top_hidden;

	return is_top ? thread->stays->span : span_of_event(attribution, event);
}

static int enter(struct attribution *attribution, struct span *span, const struct event *event,
		 const struct own_event *own)
{
	if (own->is_reading_lost)
		mark_lossy(span);
	if (!budget_enter(attribution, own->thread->process, span)) {
		mark_lossy(span);
		return budget_refuse(attribution, event);
	}
	if (span_enter(&attribution->spans, span, own->thread, own->time_ns, own->reading))
		return -ENOMEM;
	return top_level_enter(attribution, event, own);
}

/*
 * A key names one span at a time: who begins with it again has lost sight of the first one. Ids are given by
 * txtrace.h, once each: a second one is forged.
 */
static int begin_twice(struct attribution *attribution, struct span *span, const struct own_event *own)
{
	count_anomaly(attribution, TXTRACE_ANOMALY_BEGIN_TWICE);
	if (!(span->flags & TXTRACE_SPAN_KEYED))
		return 0;
	span->flags |= TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND;
	return finish_span(attribution, span, own, own->time_ns, 0);
}

/* Lost events may have ended it again, or said something about it. */
static bool may_be_damaged(const struct attribution *attribution, const struct event *event)
{
	return event->time_ns <= attribution->span_loss_until_ns ||
	       (is_keyed(event) && event->time_ns <= attribution->key_loss_until_ns);
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
	int err = read_own_event(attribution, event, &own);

	if (err)
		return err;
	span = span_of_event(attribution, event);
	if (span) {
		err = begin_twice(attribution, span, &own);
		if (err || !begin.key)
			return err;
	}
	if (!begin.key)
		begin.id = event->span.id;
	find_parent(attribution, event, own.thread, &begin);
	begin.is_unsampled =
		sampling_is_on(attribution) && !sampling_wants(attribution, event, own.thread);
	begin.is_left_out = begin.is_unsampled || is_label_left_out(attribution, begin.label);
	if (!budget_begin(attribution, own.thread->process, &begin))
		return budget_refuse(attribution, event);
	if (!begin.key)
		own.thread->process->open_span_cnt++;
	span = span_table_begin(&attribution->spans, &begin);
	if (!span)
		return -ENOMEM;
	if (may_be_damaged(attribution, event))
		mark_lossy(span);
	return event->kind == EVENT_BEGIN_DETACHED ? 0 : enter(attribution, span, event, &own);
}

int attribute_enter(struct attribution *attribution, const struct event *event)
{
	struct own_event own;
	struct span *span;
	struct stay *stay;
	int err = read_own_event(attribution, event, &own);

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
	int err = read_own_event(attribution, event, &own);

	if (err)
		return err;
	span = span_of_own_event(attribution, event, own.thread);
	if (!span) {
		count_anomaly(attribution, TXTRACE_ANOMALY_EXIT_UNKNOWN);
		return 0;
	}
	stay = span_stay_of(span, own.thread);
	if (!stay)
		count_anomaly(attribution, TXTRACE_ANOMALY_EXIT_UNENTERED);
	else if (!--stay->depth)
		err = close_stay(attribution, stay, &own);
	return err;
}

int attribute_end(struct attribution *attribution, const struct event *event)
{
	struct own_event own;
	struct span *span;
	int err;

	if (!is_keyed(event))
		span_table_fetch_slot(&attribution->spans, event->tgid, event->span.id);
	err = read_own_event(attribution, event, &own);
	if (err)
		return err;
	span = span_of_own_event(attribution, event, own.thread);
	if (!span) {
		count_anomaly(attribution, TXTRACE_ANOMALY_END_UNKNOWN);
		return 0;
	}
	/* it ended some time before: until now is the most that it can have taken */
	if (event->kind == EVENT_ABANDON) {
		count_anomaly(attribution, TXTRACE_ANOMALY_UNFINISHED);
		span->flags |= TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND;
	}
	return finish_span(attribution, span, &own, event->time_ns, event->tid);
}

/*
 * What is said about a span that is not open is kept all the same: the link to an ended span is one that a
 * reader can follow.
 */
static struct span *marked_span(struct attribution *attribution, const struct event *event, uint64_t id)
{
	struct span *span = span_table_get(&attribution->spans, event->tgid, id);

	/* with --sample it may be of a transaction that is not written */
	if (!span && !sampling_is_on(attribution))
		count_anomaly(attribution, TXTRACE_ANOMALY_MARK_UNKNOWN);
	return span;
}

static int add_tag(struct attribution *attribution, const struct event *event, struct span *span,
		   const struct event_text *text)
{
	if (budget_tag(attribution, span, text))
		return span_add_tag(span, text);
	mark_lossy(span);
	return budget_refuse(attribution, event);
}

int attribute_tag(struct attribution *attribution, const struct event *event)
{
	struct span *span = marked_span(attribution, event, event->mark.id);

	return span ? add_tag(attribution, event, span, &event->mark.text) : 0;
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
	return add_tag(attribution, event, span, &tag);
}

int attribute_attr(struct attribution *attribution, const struct event *event)
{
	struct txtrace_record record;
	struct span *span;

	record.kind = TXTRACE_RECORD_ATTRIBUTE;
	record.attribute = (struct txtrace_attribute){
		.time_ns = event->time_ns,
		.span = event->mark.id,
		.pid = event->tgid,
		.tid = event->tid,
		.type = event->mark.type,
		.is_truncated = event->mark.text.is_truncated,
		.value = event->mark.value,
		.name = string_of(&event->mark.name),
		.string = string_of(&event->mark.text),
	};
	if (event->mark.type < ATTR_BOOL || event->mark.type > ATTR_BYTES)
		return 0; /* the program called the probe itself, with a type that does not exist */
	span = marked_span(attribution, event, event->mark.id);
	if (event->mark.type == ATTR_STRING || event->mark.type == ATTR_BYTES)
		record.attribute.value = 0; /* the address means nothing to a reader */
	return put_mark(attribution, span, &record, event->time_ns);
}

static int put_instant(struct attribution *attribution, const struct event *event, struct span *span,
		       uint64_t id, const struct event_text *name)
{
	struct txtrace_record record;

	record.kind = TXTRACE_RECORD_INSTANT;
	record.instant = (struct txtrace_instant){
		.time_ns = event->time_ns,
		.span = id,
		.pid = event->tgid,
		.tid = event->tid,
		.name = string_of(name),
	};
	return put_mark(attribution, span, &record, event->time_ns);
}

int attribute_instant(struct attribution *attribution, const struct event *event)
{
	return put_instant(attribution, event, marked_span(attribution, event, event->mark.id),
			   event->mark.id, &event->mark.name);
}

int attribute_key_instant(struct attribution *attribution, const struct event *event)
{
	struct own_event own;
	struct span *span;
	int err = read_own_event(attribution, event, &own);

	if (err)
		return err;
	span = span_of_event(attribution, event);
	if (!span)
		count_anomaly(attribution, TXTRACE_ANOMALY_MARK_UNKNOWN);
	return put_instant(attribution, event, span, span ? span->id : 0, &event->keyed.name);
}

int attribute_counter(struct attribution *attribution, const struct event *event)
{
	struct txtrace_record record;

	record.kind = TXTRACE_RECORD_COUNTER;
	record.counter = (struct txtrace_counter){
		.time_ns = event->time_ns,
		.value = (int64_t)event->mark.value,
		.pid = event->tgid,
		.tid = event->tid,
		.name = string_of(&event->mark.name),
	};
	return put_record(attribution, &record);
}

int attribute_link(struct attribution *attribution, const struct event *event)
{
	struct txtrace_record record;
	struct span *span;

	record.kind = TXTRACE_RECORD_LINK;
	record.link = (struct txtrace_link){
		.time_ns = event->time_ns,
		.from = event->mark.id,
		.to = event->mark.value,
		.pid = event->tgid,
		.tid = event->tid,
		.name = string_of(&event->mark.name),
	};
	/* what it leads to may be over, or yet to come */
	span = marked_span(attribution, event, event->mark.id);
	return put_mark(attribution, span, &record, event->time_ns);
}
