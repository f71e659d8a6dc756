/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of a protobuf message, one after the other. The bytes may be
 * anything.
 *
 *	struct protobuf_reader reader = { bytes, bytes + length };
 *	struct protobuf_field field;
 *
 *	while (protobuf_next(&reader, &field))
 *		use(&field);
 *	is_fine = reader.at == reader.end;
 */
#ifndef PROTOBUF_READER_H
#define PROTOBUF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2,
	PROTOBUF_FIXED32 = 5,
};

struct protobuf_reader {
	const char *at;
	const char *end;
};

struct protobuf_field {
	uint64_t number;
	unsigned int type;
	uint64_t value;	   /* VARINT */
	const char *bytes; /* all others: what is read, little-endian in FIXED64 and FIXED32 */
	size_t length;
	const char *begin; /* of the field with its number: it ends where reader.at is */
};

/* false: the end, or what follows is no field. */
bool protobuf_next(struct protobuf_reader *reader, struct protobuf_field *field);

#endif
