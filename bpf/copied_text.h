/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Strings of the traced program, copied at the probe: struct wire_text. */
#ifndef COPIED_TEXT_H
#define COPIED_TEXT_H

#include "vmlinux.h"
#include "emit.h"
#include "label.h"

#include <bpf/bpf_helpers.h>

struct text_short {
	struct wire_text base;
	char text[WIRE_TEXT_SHORT];
};

struct text_long {
	struct wire_text base;
	char text[WIRE_TEXT_LONG];
};

struct text_source {
	uint64_t id;
	uint64_t name;
	uint64_t type;
	uint64_t value;
	uint64_t address; /* of the text, as is value then; 0: none */
};

static __always_inline void text_fill(struct pt_regs *ctx, struct emit *out, struct wire_text *event,
				      const uint8_t kind, const struct text_source *source, long length,
				      const uint32_t size)
{
	uint16_t flags = 0;

	if (length < 0)
		flags = WIRE_IS_UNREADABLE;
	else if (length >= size) /* with its NUL: it filled the room, so there may be more */
		flags = WIRE_IS_TRUNCATED;
	emit_header(out, &event->header, kind, flags, bpf_get_current_pid_tgid(), bpf_ktime_get_ns());
	event->id = source->id;
	event->name = source->name;
	event->value = length < 0 && ctx ? label_of(ctx, source->address) : source->value;
	event->type = source->type;
	event->text_length = length > 0 ? length - 1 : 0;
	emit_submit(out, event);
}

/*
 * The short size first; a text that fills it is read again into the long one. False: there is no room in the
 * ring, which is counted. ctx: of the probe, to tell where a text lies that cannot be copied; NULL: do not.
 */
static __always_inline bool text_send(struct pt_regs *ctx, const uint8_t kind,
				      const struct text_source *source)
{
	struct text_short *event;
	struct text_long *more;
	struct emit out;
	long length = 0;

	event = emit_reserve(&out, kind, sizeof(*event));
	if (!event)
		return emit_lost(&out, kind, bpf_ktime_get_ns());
	if (source->address)
		length = bpf_probe_read_user_str(event->text, sizeof(event->text), (void *)source->address);
	if (length < (long)sizeof(event->text)) {
		text_fill(ctx, &out, &event->base, kind, source, length, sizeof(event->text));
		return true;
	}
	emit_discard(&out, kind, event);
	more = emit_reserve(&out, kind, sizeof(*more));
	if (!more)
		return emit_lost(&out, kind, bpf_ktime_get_ns());
	length = bpf_probe_read_user_str(more->text, sizeof(more->text), (void *)source->address);
	text_fill(ctx, &out, &more->base, kind, source, length, sizeof(more->text));
	return true;
}

/* So many bytes; source->address is not 0. */
static __always_inline bool bytes_send(const uint8_t kind, const struct text_source *source, uint64_t length)
{
	bool is_longer = length >= WIRE_TEXT_LONG;
	struct text_short *event;
	struct text_long *more;
	struct emit out;
	long err;

	if (length < WIRE_TEXT_SHORT - 1) {
		event = emit_reserve(&out, kind, sizeof(*event));
		if (!event)
			return emit_lost(&out, kind, bpf_ktime_get_ns());
		length &= WIRE_TEXT_SHORT - 1;
		barrier_var(length);
		err = bpf_probe_read_user(event->text, length & (WIRE_TEXT_SHORT - 1),
					  (void *)source->address);
		text_fill(NULL, &out, &event->base, kind, source, err ? -1 : (long)length + 1,
			  sizeof(event->text));
		return true;
	}
	more = emit_reserve(&out, kind, sizeof(*more));
	if (!more)
		return emit_lost(&out, kind, bpf_ktime_get_ns());
	if (is_longer)
		length = WIRE_TEXT_LONG - 1;
	barrier_var(length);
	err = bpf_probe_read_user(more->text, length & (WIRE_TEXT_LONG - 1), (void *)source->address);
	text_fill(NULL, &out, &more->base, kind, source, err ? -1 : (long)length + 1,
		  is_longer ? WIRE_TEXT_LONG : WIRE_TEXT_LONG + 1);
	return true;
}

#endif
