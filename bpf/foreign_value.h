/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values that a program has where a probe was hit, by the places that the
 * recorder has found them at (struct foreign_value): read, and sent as tags.
 */
#ifndef FOREIGN_VALUE_H
#define FOREIGN_VALUE_H

#include "vmlinux.h"
#include "emit.h"
#include "txtrace/foreign.h"

#include <bpf/bpf_helpers.h>

static __always_inline uint64_t register_at(const void *ctx, uint16_t offset)
{
	uint64_t value = 0;

	if (offset != FOREIGN_NO_REGISTER)
		bpf_probe_read_kernel(&value, sizeof(value), ctx + offset);
	return value;
}

/* 0 and the value, or -1: its memory cannot be read. */
static __always_inline int value_read(const void *ctx, const struct foreign_value *place, uint64_t *value)
{
	uint32_t size = place->size_bytes, unused;
	uint64_t address;

	*value = (uint64_t)place->offset;
	if (place->source == FOREIGN_CONSTANT)
		return 0;
	if (place->source == FOREIGN_TID) {
		*value = (uint32_t)bpf_get_current_pid_tgid();
		return 0;
	}
	*value = register_at(ctx, place->register_offset);
	if (place->source == FOREIGN_MEMORY) {
		address = *value + (uint64_t)place->offset;
		if (place->index_offset != FOREIGN_NO_REGISTER)
			address += register_at(ctx, place->index_offset) << (place->index_shift & 3);
		*value = 0;
		if (size > sizeof(*value) || bpf_probe_read_user(value, size, (void *)address))
			return -1;
	}
	unused = (64 - size * 8) & 63;
	*value <<= unused;
	*value = place->is_signed ? (uint64_t)((int64_t)*value >> unused) : *value >> unused;
	return 0;
}

struct value_short {
	struct wire_text base;
	char text[WIRE_TEXT_SHORT];
};

struct value_long {
	struct wire_text base;
	char text[WIRE_TEXT_LONG];
};

static __always_inline int send_value(struct emit *out, struct wire_text *event, uint64_t id,
				      const struct foreign_value *place, uint64_t value, long length,
				      const uint32_t size)
{
	uint16_t flags = 0;

	if (length < 0)
		flags = WIRE_IS_UNREADABLE;
	else if (length >= size)
		flags = WIRE_IS_TRUNCATED;
	emit_header(out, &event->header, WIRE_VALUE, flags, bpf_get_current_pid_tgid(), bpf_ktime_get_ns());
	event->id = id;
	event->name = place->name;
	event->value = value;
	event->type = place->is_string ? ATTR_STRING : place->is_signed ? ATTR_INT : ATTR_UINT;
	event->text_length = length > 0 ? length - 1 : 0;
	emit_submit(out, event);
	return 0;
}

/*
 * How much room a string takes, its NUL included, which it need not have; where
 * nobody says how long it is, any.
 */
static __always_inline uint64_t string_room(const void *ctx, const struct foreign_value *place)
{
	uint64_t length;

	if (place->source == FOREIGN_NOTHING || value_read(ctx, place, &length))
		return WIRE_TEXT_LONG;
	return length < WIRE_TEXT_LONG ? length + 1 : WIRE_TEXT_LONG;
}

static __always_inline long read_string(char *text, const uint32_t size, uint64_t room, uint64_t address)
{
	barrier_var(room); /* the verifier wants to see the bound where it is used */
	if (room > size)
		room = size;
	return bpf_probe_read_user_str(text, room, (void *)address);
}

/* The short size first, as for a tag of the program's. */
static __always_inline int tag_span(const void *ctx, uint64_t id, const struct foreign_value *place,
				    const struct foreign_value *length_place)
{
	struct value_short *event;
	struct value_long *more;
	struct emit out;
	uint64_t value, room;
	long length = value_read(ctx, place, &value);

	event = emit_reserve(&out, WIRE_VALUE, sizeof(*event));
	if (!event)
		return emit_lost(&out, WIRE_VALUE, bpf_ktime_get_ns());
	room = string_room(ctx, length_place);
	if (place->is_string && !length)
		length = read_string(event->text, sizeof(event->text), room, value);
	if (length < (long)sizeof(event->text))
		return send_value(&out, &event->base, id, place, value, length, sizeof(event->text));
	emit_discard(&out, WIRE_VALUE, event);
	more = emit_reserve(&out, WIRE_VALUE, sizeof(*more));
	if (!more)
		return emit_lost(&out, WIRE_VALUE, bpf_ktime_get_ns());
	length = read_string(more->text, sizeof(more->text), room, value);
	return send_value(&out, &more->base, id, place, value, length, sizeof(more->text));
}

#endif
