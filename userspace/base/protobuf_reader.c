/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/protobuf_reader.h"

#define VARINT_BYTES 10
#define TYPE_BITS 3

static bool read_varint(struct protobuf_reader *reader, uint64_t *value)
{
	*value = 0;
	for (unsigned int i = 0; i < VARINT_BYTES && reader->at < reader->end; i++) {
		uint8_t byte = (uint8_t)*reader->at++;

		*value |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool pass(struct protobuf_reader *reader, uint64_t length)
{
	if (length > (uint64_t)(reader->end - reader->at))
		return false;
	reader->at += length;
	return true;
}

static bool read_field(struct protobuf_reader *reader, struct protobuf_field *field)
{
	uint64_t key, length;

	if (!read_varint(reader, &key))
		return false;
	field->number = key >> TYPE_BITS;
	field->type = key & ((1u << TYPE_BITS) - 1);
	switch (field->type) {
	case PROTOBUF_VARINT:
		return read_varint(reader, &field->value);
	case PROTOBUF_FIXED64:
	case PROTOBUF_FIXED32:
		field->bytes = reader->at;
		field->length = field->type == PROTOBUF_FIXED64 ? sizeof(uint64_t) : sizeof(uint32_t);
		return pass(reader, field->length);
	case PROTOBUF_BYTES:
		if (!read_varint(reader, &length))
			return false;
		field->bytes = reader->at;
		field->length = length;
		return pass(reader, length);
	default:
		return false;
	}
}

bool protobuf_next(struct protobuf_reader *reader, struct protobuf_field *field)
{
	*field = (struct protobuf_field){ .begin = reader->at };
	if (read_field(reader, field))
		return true;
	reader->at = field->begin;
	return false;
}
