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

/* The length of the number, written to `bytes`. */
static size_t pack_varint(uint8_t bytes[static VARINT_MAX], uint64_t value)
{
	size_t length = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[length++] = (uint8_t)(value | 0x80);
	bytes[length++] = (uint8_t)value;
	return length;
}

static void put_varint(struct text *text, uint64_t value)
{
	uint8_t bytes[VARINT_MAX];

	text_append_few(text, bytes, pack_varint(bytes, value));
}

static void put_tag(struct text *text, unsigned int field, enum wire_type type)
{
	put_varint(text, (uint64_t)field << 3 | type);
}

void protobuf_u64(struct text *text, unsigned int field, uint64_t value)
{
	put_tag(text, field, WIRE_VARINT);
	put_varint(text, value);
}

void protobuf_fixed32(struct text *text, unsigned int field, uint32_t value)
{
	uint32_t little = htole32(value);

	put_tag(text, field, WIRE_FIXED32);
	text_append_few(text, &little, sizeof(little));
}

void protobuf_fixed64(struct text *text, unsigned int field, uint64_t value)
{
	uint64_t little = htole64(value);

	put_tag(text, field, WIRE_FIXED64);
	text_append_few(text, &little, sizeof(little));
}

void protobuf_double(struct text *text, unsigned int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	protobuf_fixed64(text, field, bits);
}

void protobuf_bytes(struct text *text, unsigned int field, const void *bytes, size_t length)
{
	put_tag(text, field, WIRE_LENGTH);
	put_varint(text, length);
	text_append_few(text, bytes, length);
}

/* Most messages are shorter than 128 bytes: their length takes the one byte that is kept for it. */
size_t protobuf_begin(struct text *text, unsigned int field)
{
	put_tag(text, field, WIRE_LENGTH);
	text_append_few(text, "", 1);
	return text->length;
}

void protobuf_end(struct text *text, size_t at)
{
	uint8_t bytes[VARINT_MAX] = { 0 };
	size_t length, taken;

	if (text->err)
		return;
	length = text->length - at;
	taken = pack_varint(bytes, length);
	if (taken > 1) {
		text_append_few(text, bytes, taken - 1); /* makes the room */
		if (text->err)
			return;
		memmove(text->bytes + at + taken - 1, text->bytes + at, length);
	}
	memcpy(text->bytes + at - 1, bytes, taken);
}
