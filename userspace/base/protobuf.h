/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes fields of protobuf messages (proto3) behind a text, for messages too
 * many for a generated packer. Errors stick in text->err.
 *
 *	size_t at = protobuf_begin(text, 2);    field 2: a message
 *
 *	protobuf_u64(text, 1, 42);
 *	protobuf_bytes(text, 2, "name", 4);
 *	protobuf_end(text, at);
 */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

void protobuf_u64(struct text *text, unsigned int field, uint64_t value);
static inline void protobuf_i64(struct text *text, unsigned int field, int64_t value)
{
	protobuf_u64(text, field, (uint64_t)value);
}
void protobuf_fixed32(struct text *text, unsigned int field, uint32_t value);
void protobuf_fixed64(struct text *text, unsigned int field, uint64_t value);
void protobuf_double(struct text *text, unsigned int field, double value);
/* bytes, string, or a message that is packed already */
void protobuf_bytes(struct text *text, unsigned int field, const void *bytes, size_t length);

/* A message by itself, with its length before it: as in a stream of messages. */
void protobuf_delimited(struct text *text, const void *bytes, size_t length);

/* A message as a field: what is written until the end is in it. begin's result is for its end. */
size_t protobuf_begin(struct text *text, unsigned int field);
void protobuf_end(struct text *text, size_t at);

#endif
