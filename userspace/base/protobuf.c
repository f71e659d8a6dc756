/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/protobuf.h"

#include <endian.h>
#include <string.h>

#define VARINT_MAX 10

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_LENGTH = 2,
	WIRE_FIXED32 = 5,
};

/* Behind the number. */
static uint8_t *pack_varint(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static uint8_t *pack_tag(uint8_t *at, unsigned int field, enum wire_type type)
{
	return pack_varint(at, (uint64_t)field << 3 | type);
}

/* Of a field, all but the bytes that a length announces. */
static void put_head(struct text *text, unsigned int field, enum wire_type type, uint64_t value)
{
	uint8_t bytes[2 * VARINT_MAX];
	uint8_t *end = pack_varint(pack_tag(bytes, field, type), value);

	text_append_few(text, bytes, (size_t)(end - bytes));
}

static void put_fixed(struct text *text, unsigned int field, enum wire_type type, const void *value,
		      size_t length)
{
	uint8_t bytes[VARINT_MAX];

	text_append_few(text, bytes, (size_t)(pack_tag(bytes, field, type) - bytes));
	text_append_few(text, value, length);
}

void protobuf_u64(struct text *text, unsigned int field, uint64_t value)
{
	put_head(text, field, WIRE_VARINT, value);
}

void protobuf_delimited(struct text *text, const void *bytes, size_t length)
{
	uint8_t head[VARINT_MAX];

	text_append_few(text, head, (size_t)(pack_varint(head, length) - head));
	text_append_bytes(text, bytes, length);
}

void protobuf_fixed32(struct text *text, unsigned int field, uint32_t value)
{
	uint32_t little = htole32(value);

	put_fixed(text, field, WIRE_FIXED32, &little, sizeof(little));
}

void protobuf_fixed64(struct text *text, unsigned int field, uint64_t value)
{
	uint64_t little = htole64(value);

	put_fixed(text, field, WIRE_FIXED64, &little, sizeof(little));
}

void protobuf_double(struct text *text, unsigned int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	protobuf_fixed64(text, field, bits);
}

void protobuf_bytes(struct text *text, unsigned int field, const void *bytes, size_t length)
{
	put_head(text, field, WIRE_LENGTH, length);
	text_append_few(text, bytes, length);
}

/* Most messages are shorter than 128 bytes: their length takes the one byte that is kept for it. */
size_t protobuf_begin(struct text *text, unsigned int field)
{
	put_head(text, field, WIRE_LENGTH, 0);
	return text->length;
}

void protobuf_end(struct text *text, size_t at)
{
	uint8_t bytes[VARINT_MAX] = { 0 };
	size_t length, taken;

	if (text->err)
		return;
	length = text->length - at;
	taken = (size_t)(pack_varint(bytes, length) - bytes);
	if (taken > 1) {
		text_append_few(text, bytes, taken - 1); /* makes the room */
		if (text->err)
			return;
		memmove(text->bytes + at + taken - 1, text->bytes + at, length);
	}
	memcpy(text->bytes + at - 1, bytes, taken);
}
