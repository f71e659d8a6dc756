/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the wire to the event. The wire comes from our own BPF programs, but
 * what it carries from the traced program may be anything, and a recorded
 * stream may be damaged: sizes are checked.
 */
#ifndef EVENT_DECODE_H
#define EVENT_DECODE_H

#include "event/event.h"

struct label_source {
	/*
	 * Reads a label or name of a process, as the wire has it: an address or a place. 0, or a negative
	 * errno: the event then has an unreadable one.
	 */
	int (*read)(void *context, uint32_t tgid, uint64_t label, struct event_text *text);
	/* From now on that address holds this text, which may be unreadable. NULL: nobody wants to know. */
	int (*note_copy)(void *context, uint32_t tgid, uint64_t address, const struct event_text *text);
	/*
	 * The same for a tag or another string that the kernel side could not copy, because the program had
	 * not touched its page: only a literal, which is what it was when it was passed. NULL: there is
	 * nobody who could.
	 */
	int (*read_literal)(void *context, uint32_t tgid, uint64_t label, struct event_text *text);
	void *context;
};

/*
 * Not sent by the kernel: the reader of the rings makes it from the counters,
 * with header.time_ns of the first loss and kind EVENT_LOSS.
 */
struct wire_loss {
	struct wire_header header;
	uint64_t last_ns;
	uint64_t span_event_cnt;
	uint64_t sched_event_cnt;
	uint64_t kinds; /* a bit for each kind that was lost */
};

/*
 * What becomes of a WIRE_STACK on its way to the merge: kind EVENT_STACK, the
 * rest of the header as it was.
 */
struct wire_stack_number {
	struct wire_header header;
	uint64_t begin_ns;
	uint64_t weight_ns;
	uint32_t id;
	uint32_t what; /* enum wire_stack_what */
};

/*
 * Does this kind of event tell about spans? Those of the program's probes do,
 * and that a thread exits or execs, which ends its stays in spans. The others
 * tell the states of threads only.
 */
bool wire_kind_is_span(uint8_t kind);

/*
 * 0; 1: a LABEL, which is no event, but told the source a text; or -EBADMSG: not
 * a record of the wire. The event refers to the record's bytes and to what the
 * source returned.
 */
int event_decode(const void *record, size_t size, const struct label_source *labels, struct event *event);

/* Whom a record is about; 0: nobody, or it does not matter. */
struct event_subject {
	uint32_t tgid;
	uint32_t tid;
	uint64_t span; /* of tgid */
};

/* A glance at what will be decoded later; the record may be anything. */
struct event_subject event_subject(const void *record, size_t size);

#endif
