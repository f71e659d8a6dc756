/* SPDX-License-Identifier: BSD-2-Clause */
#include "event/event_decode.h"

#include <errno.h>
#include <string.h>

struct wire {
	const unsigned char *bytes;
	size_t size;
	const struct label_source *labels;
};

bool wire_kind_is_span(uint8_t kind)
{
	return kind >= WIRE_THREAD_EXIT && kind != WIRE_OTHER && kind != WIRE_MOVE && kind != WIRE_PROCESS &&
	       kind != WIRE_STACK && kind != WIRE_MODE && kind < WIRE_KIND_COUNT;
}

static struct event_text comm_text(const char comm[16])
{
	return (struct event_text){ .bytes = comm, .length = strnlen(comm, 16) };
}

/* Written where it belongs: to hand it over by value costs as much as to read it. The text is all 0. */
static void read_label(const struct wire *wire, const struct event *event, uint64_t address,
		       struct event_text *text)
{
	if (address && wire->labels->read(wire->labels->context, event->tgid, address, text))
		*text = (struct event_text){ .is_unreadable = true };
}

/* What was copied out of the program. What could not be read has no bytes, whatever the record says. */
static struct event_text copied_text(const struct event *event, const void *bytes, uint32_t length)
{
	bool is_unreadable = event->flags & WIRE_IS_UNREADABLE;

	return (struct event_text){
		.bytes = bytes,
		.length = is_unreadable ? 0 : length,
		.is_truncated = event->flags & WIRE_IS_TRUNCATED,
		.is_unreadable = is_unreadable,
	};
}

/* The clocks, if there are any, are the last thing of the record. */
static int decode_clocks(const struct wire *wire, size_t before, struct event *event)
{
	if (!(event->flags & WIRE_HAS_CLOCKS))
		return 0;
	if (wire->size < before + sizeof(struct wire_clocks))
		return -EBADMSG;
	if (!(event->flags & WIRE_NO_CLOCKS))
		event->clocks = (const struct wire_clocks *)(wire->bytes + before);
	return 0;
}

static int decode_switch(const struct wire *wire, struct event *event)
{
	const struct wire_switch *w = (const void *)wire->bytes;

	event->sched.next_tid = w->next_tid;
	event->sched.next_tgid = w->next_tgid;
	if (w->left_as != WIRE_LEFT_UNTRACED) {
		event->sched.object = w->object;
		event->sched.inode = w->inode;
		event->sched.syscall_nr = w->syscall_nr;
	} else if (w->other_ns) {
		event->sched.syscall_nr = -1;
		event->sched.other_ns = w->other_ns;
		event->sched.other_comm = event->tid ? comm_text(w->other_comm) : (struct event_text){ 0 };
	} else {
		event->sched.syscall_nr = -1;
	}
	event->sched.left_as = w->left_as;
	event->sched.reason = w->reason;
	event->sched.next_is_traced = w->next_is_traced;
	event->sched.is_stolen_shared = w->is_stolen_shared;
	event->sched.stolen_ns = w->stolen_ns;
	return w->reason < BLOCK_REASON_COUNT && w->left_as <= WIRE_LEFT_DEAD ? 0 : -EBADMSG;
}

static int decode_other(const struct wire *wire, struct event *event)
{
	const struct wire_other *w = (const void *)wire->bytes;

	event->other.since_ns = w->since_ns;
	event->other.stolen_ns = w->stolen_ns;
	event->other.comm = event->tid ? comm_text(w->comm) : (struct event_text){ 0 };
	return 0;
}

static int decode_move(const struct wire *wire, struct event *event)
{
	const struct wire_move *w = (const void *)wire->bytes;

	event->move.since_ns = w->since_ns;
	event->move.stolen_ns = w->stolen_ns;
	event->move.from_cpu = w->from_cpu;
	event->move.other_tid = w->other_tid;
	event->move.other_tgid = w->other_tgid;
	event->move.is_unknown = w->is_unknown;
	event->move.other_comm = w->other_tid ? comm_text(w->other_comm) : (struct event_text){ 0 };
	return 0;
}

static int decode_wake(const struct wire *wire, struct event *event)
{
	const struct wire_wait_end *end = (const void *)wire->bytes;
	const struct wire_wake *w = &end->wake;

	event->wake.wakee_tid = w->wakee_tid;
	event->wake.wakee_tgid = w->wakee_tgid;
	event->wake.waker_comm = comm_text(w->waker_comm);
	if (!(event->flags & WIRE_HAS_WAIT_END))
		return 0;
	if (wire->size < sizeof(*end) || end->reason >= BLOCK_REASON_COUNT)
		return -EBADMSG;
	event->wake.object = end->object;
	event->wake.inode = end->inode;
	event->wake.reason = end->reason;
	event->wake.has_wait_end = 1;
	return 0;
}

static int decode_thread(const struct wire *wire, struct event *event)
{
	const struct wire_thread *w = (const void *)wire->bytes;

	event->thread.born_ns = w->born_ns;
	event->thread.comm = comm_text(w->comm);
	event->thread.state = w->state;
	event->thread.reason = w->reason;
	event->thread.parent_tgid = w->parent_tgid;
	return w->reason < BLOCK_REASON_COUNT && w->state <= WIRE_THREAD_BLOCKED ? 0 : -EBADMSG;
}

static int decode_thread_end(const struct wire *wire, struct event *event)
{
	const struct wire_thread_end *w = (const void *)wire->bytes;

	event->end.old_tid = w->old_tid;
	return decode_clocks(wire, sizeof(*w), event);
}

static int decode_span(const struct wire *wire, struct event *event)
{
	const struct wire_span *w = (const void *)wire->bytes;

	event->span.id = w->id;
	event->span.parent = w->parent;
	read_label(wire, event, w->label, &event->span.label);
	return decode_clocks(wire, sizeof(*w), event);
}

static int decode_mark(const struct wire *wire, struct event *event)
{
	const struct wire_mark *w = (const void *)wire->bytes;

	event->mark.id = w->id;
	event->mark.value = w->value;
	read_label(wire, event, w->name, &event->mark.name);
	return 0;
}

static bool has_string(const struct wire_text *w)
{
	return w->header.kind == WIRE_TAG || w->type == ATTR_STRING;
}

/*
 * What the kernel side could not copy and somebody reads from the program's file after all is as readable as
 * the rest.
 */
static void read_literal(const struct wire *wire, const struct wire_text *w, struct event *event)
{
	struct event_text text = { 0 };

	if (!event->mark.text.is_unreadable || !has_string(w) || !w->value || !wire->labels->read_literal ||
	    wire->labels->read_literal(wire->labels->context, event->tgid, w->value, &text) ||
	    text.is_unreadable)
		return;
	event->mark.text = text;
	event->flags &= ~WIRE_IS_UNREADABLE;
}

static int decode_text(const struct wire *wire, struct event *event)
{
	const struct wire_text *w = (const void *)wire->bytes;

	if (w->text_length > wire->size - sizeof(*w))
		return -EBADMSG;
	event->mark.id = w->id;
	event->mark.value = w->value;
	event->mark.type = w->type;
	read_label(wire, event, w->name, &event->mark.name);
	event->mark.text = copied_text(event, w + 1, w->text_length);
	read_literal(wire, w, event);
	return 0;
}

/* Without memory for it the source says of what is read next that it is unreadable. */
static int decode_label(const struct wire *wire, struct event *event)
{
	const struct wire_text *w = (const void *)wire->bytes;
	struct event_text text;

	if (w->text_length > wire->size - sizeof(*w))
		return -EBADMSG;
	text = copied_text(event, w + 1, w->text_length);
	if (wire->labels->note_copy)
		wire->labels->note_copy(wire->labels->context, event->tgid, w->value, &text);
	return 1;
}

static int decode_key(const struct wire *wire, struct event *event)
{
	const struct wire_key *w = (const void *)wire->bytes;

	if (w->key_length > WIRE_KEY_MAX)
		return -EBADMSG;
	event->keyed.key = copied_text(event, w->key, w->key_length);
	read_label(wire, event, w->name, &event->keyed.name);
	return decode_clocks(wire, sizeof(*w), event);
}

static int decode_process(const struct wire *wire, struct event *event)
{
	const struct wire_process *w = (const void *)wire->bytes;

	if (w->path_length > sizeof(w->path) || w->change < WIRE_PROCESS_JOINED ||
	    w->change > WIRE_PROCESS_EXITED)
		return -EBADMSG;
	event->process.start_ns = w->start_ns;
	event->process.code_start = w->code_start;
	event->process.parent_tgid = w->parent_tgid;
	event->process.inner_pid = w->inner_pid;
	event->process.thread_cnt = w->thread_cnt;
	event->process.reasons = w->reasons;
	event->process.change = w->change;
	event->process.comm = comm_text(w->comm);
	event->process.path = copied_text(event, w->path, w->path_length);
	return 0;
}

static int decode_stack(const struct wire *wire, struct event *event)
{
	const struct wire_stack_number *w = (const void *)wire->bytes;

	event->stack.begin_ns = w->begin_ns;
	event->stack.weight_ns = w->weight_ns;
	event->stack.id = w->id;
	event->stack.what = w->what;
	return w->what == WIRE_STACK_OFF_CPU || w->what == WIRE_STACK_ON_CPU ? 0 : -EBADMSG;
}

static int decode_loss(const struct wire *wire, struct event *event)
{
	const struct wire_loss *w = (const void *)wire->bytes;

	event->loss.last_ns = w->last_ns;
	event->loss.span_event_cnt = w->span_event_cnt;
	event->loss.sched_event_cnt = w->sched_event_cnt;
	event->loss.kinds = w->kinds;
	return 0;
}

static const struct {
	size_t size; /* of the kind's struct */
	int (*decode)(const struct wire *wire, struct event *event);
} kinds[] = {
	[WIRE_SWITCH] = { sizeof(struct wire_switch), decode_switch },
	[WIRE_WAKE] = { sizeof(struct wire_wake), decode_wake },
	[WIRE_THREAD] = { sizeof(struct wire_thread), decode_thread },
	[WIRE_THREAD_EXIT] = { sizeof(struct wire_thread_end), decode_thread_end },
	[WIRE_EXEC] = { sizeof(struct wire_thread_end), decode_thread_end },
	[WIRE_OTHER] = { sizeof(struct wire_other), decode_other },
	[WIRE_MOVE] = { sizeof(struct wire_move), decode_move },
	[WIRE_BEGIN] = { sizeof(struct wire_span), decode_span },
	[WIRE_BEGIN_DETACHED] = { sizeof(struct wire_span), decode_span },
	[WIRE_ENTER] = { sizeof(struct wire_span), decode_span },
	[WIRE_LEAVE] = { sizeof(struct wire_span), decode_span },
	[WIRE_END] = { sizeof(struct wire_span), decode_span },
	[WIRE_TAG] = { sizeof(struct wire_text), decode_text },
	[WIRE_ATTR] = { sizeof(struct wire_text), decode_text },
	[WIRE_INSTANT] = { sizeof(struct wire_mark), decode_mark },
	[WIRE_COUNTER] = { sizeof(struct wire_mark), decode_mark },
	[WIRE_LINK] = { sizeof(struct wire_mark), decode_mark },
	[WIRE_KEY_BEGIN] = { sizeof(struct wire_key), decode_key },
	[WIRE_KEY_ENTER] = { sizeof(struct wire_key), decode_key },
	[WIRE_KEY_LEAVE] = { sizeof(struct wire_key), decode_key },
	[WIRE_KEY_END] = { sizeof(struct wire_key), decode_key },
	[WIRE_KEY_INSTANT] = { sizeof(struct wire_key), decode_key },
	[WIRE_PROCESS] = { sizeof(struct wire_process), decode_process },
	[WIRE_VALUE] = { sizeof(struct wire_text), decode_text },
	[WIRE_ABANDON] = { sizeof(struct wire_span), decode_span },
	[WIRE_LABEL] = { sizeof(struct wire_text), decode_label },
	[EVENT_STACK] = { sizeof(struct wire_stack_number), decode_stack },
	[EVENT_LOSS] = { sizeof(struct wire_loss), decode_loss },
};

int event_decode(const void *record, size_t size, const struct label_source *labels, struct event *event)
{
	const struct wire_header *header = record;
	struct wire wire = { .bytes = record, .size = size, .labels = labels };

	if (size < sizeof(*header) || header->kind >= sizeof(kinds) / sizeof(kinds[0]) ||
	    !kinds[header->kind].decode || size < kinds[header->kind].size)
		return -EBADMSG;
	memset(event, 0, sizeof(*event));
	event->time_ns = header->time_ns;
	event->tid = header->tid;
	event->tgid = header->tgid;
	event->cpu = header->cpu;
	event->kind = header->kind;
	event->flags = header->flags & WIRE_FLAGS;
	return kinds[header->kind].decode(&wire, event);
}

struct event_subject event_subject(const void *record, size_t size)
{
	const struct wire_header *header = record;
	const struct wire_switch *left = record;
	const struct wire_wake *wake = record;
	const struct wire_span *span = record;
	struct event_subject subject = { 0 };

	if (size < sizeof(*header))
		return subject;
	subject.tgid = header->tgid;
	subject.tid = header->tid;
	if (header->kind == WIRE_SWITCH && size >= sizeof(*left)) {
		if (left->left_as == WIRE_LEFT_UNTRACED)
			subject.tid = left->next_tid;
	} else if (header->kind == WIRE_WAKE && size >= sizeof(*wake)) {
		subject.tid = wake->wakee_tid;
	} else if (header->kind >= WIRE_BEGIN && header->kind <= WIRE_END && size >= sizeof(*span)) {
		subject.span = span->id;
	}
	return subject;
}
