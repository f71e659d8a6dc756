/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/cbor_reader.h"

#include <errno.h>

#include <cbor.h>

#define TAG_HEAD 0xc0 /* of a tag: + its number, if that is less than SHORT_CNT */
#define SHORT_CNT 24

static void set(void *context, enum cbor_kind kind, uint64_t value)
{
	struct cbor_item *item = context;

	item->kind = kind;
	item->value = value;
}

static void set_string(void *context, enum cbor_kind kind, const uint8_t *bytes, size_t length)
{
	struct cbor_item *item = context;

	item->kind = kind;
	item->bytes = bytes;
	item->length = length;
}

static void set_real(void *context, double real)
{
	set(context, CBOR_FLOAT, 0);
	((struct cbor_item *)context)->real = real;
}

#define NUMBER(name, type, kind)                       \
	static void name(void *context, type value)    \
	{                                              \
		set(context, kind, (uint64_t)(value)); \
	}

#define HEAD(name, kind, value)            \
	static void name(void *context)    \
	{                                  \
		set(context, kind, value); \
	}

NUMBER(on_u8, uint8_t, CBOR_UNSIGNED)
NUMBER(on_u16, uint16_t, CBOR_UNSIGNED)
NUMBER(on_u32, uint32_t, CBOR_UNSIGNED)
NUMBER(on_u64, uint64_t, CBOR_UNSIGNED)
NUMBER(on_n8, uint8_t, CBOR_NEGATIVE)
NUMBER(on_n16, uint16_t, CBOR_NEGATIVE)
NUMBER(on_n32, uint32_t, CBOR_NEGATIVE)
NUMBER(on_n64, uint64_t, CBOR_NEGATIVE)
NUMBER(on_array, size_t, CBOR_ARRAY)
NUMBER(on_map, size_t, CBOR_MAP)
NUMBER(on_tag, uint64_t, CBOR_TAG)
NUMBER(on_bool, bool, CBOR_BOOL)
HEAD(on_open_array, CBOR_ARRAY, CBOR_INDEFINITE)
HEAD(on_open_map, CBOR_MAP, CBOR_INDEFINITE)
HEAD(on_pieces, CBOR_PIECES, CBOR_INDEFINITE)
HEAD(on_null, CBOR_NULL, 0)
HEAD(on_break, CBOR_BREAK, 0)

static void on_bytes(void *context, cbor_data bytes, size_t length)
{
	set_string(context, CBOR_BYTES, bytes, length);
}

static void on_text(void *context, cbor_data bytes, size_t length)
{
	set_string(context, CBOR_TEXT, bytes, length);
}

static void on_float(void *context, float real)
{
	set_real(context, real);
}

static void on_double(void *context, double real)
{
	set_real(context, real);
}

static const struct cbor_callbacks callbacks = {
	.uint8 = on_u8,
	.uint16 = on_u16,
	.uint32 = on_u32,
	.uint64 = on_u64,
	.negint8 = on_n8,
	.negint16 = on_n16,
	.negint32 = on_n32,
	.negint64 = on_n64,
	.byte_string_start = on_pieces,
	.byte_string = on_bytes,
	.string = on_text,
	.string_start = on_pieces,
	.indef_array_start = on_open_array,
	.array_start = on_array,
	.indef_map_start = on_open_map,
	.map_start = on_map,
	.tag = on_tag,
	.float2 = on_float,
	.float4 = on_float,
	.float8 = on_double,
	.undefined = on_null,
	.null = on_null,
	.boolean = on_bool,
	.indef_break = on_break,
};

int cbor_next(struct cbor_reader *reader, struct cbor_item *item)
{
	size_t left = (size_t)(reader->end - reader->at);
	struct cbor_decoder_result result;

	if (left == 0) {
		reader->wanted = 1;
		return -ENODATA;
	}
	if (*reader->at >= TAG_HEAD && *reader->at < TAG_HEAD + SHORT_CNT) {
		/* libcbor 0.8 takes tags without a standard meaning, as FTR has them, for errors */
		set(item, CBOR_TAG, *reader->at++ - TAG_HEAD);
		return 0;
	}
	result = cbor_stream_decode(reader->at, left, &callbacks, item);
	if (result.status == CBOR_DECODER_FINISHED) {
		reader->at += result.read;
		return 0;
	}
	if (result.status != CBOR_DECODER_NEDATA)
		return -EBADMSG;
	/* a length close to 2^64 makes the sum start again at 0 */
	reader->wanted = result.required > left ? result.required : SIZE_MAX;
	return -ENODATA;
}

/* How many items are in it; CBOR_INDEFINITE: up to a break. */
static uint64_t content_cnt(const struct cbor_item *item)
{
	switch (item->kind) {
	case CBOR_ARRAY:
	case CBOR_PIECES:
		return item->value;
	case CBOR_MAP:
		if (item->value == CBOR_INDEFINITE)
			return item->value;
		return item->value > UINT64_MAX / 4 ? UINT64_MAX / 2 : item->value * 2;
	case CBOR_TAG:
		return 1;
	default:
		return 0;
	}
}

int cbor_skip(struct cbor_reader *reader, const struct cbor_item *item)
{
	uint64_t left[CBOR_DEPTH_MAX] = { content_cnt(item) };
	struct cbor_item next;
	size_t depth = 0;
	int err;

	if (item->kind == CBOR_BREAK)
		return -EBADMSG;
	for (;;) {
		while (left[depth] == 0) {
			if (depth == 0)
				return 0;
			depth--;
		}
		err = cbor_next(reader, &next);
		if (err)
			return err;
		if (next.kind == CBOR_BREAK) {
			if (left[depth] != CBOR_INDEFINITE)
				return -EBADMSG;
			left[depth] = 0;
			continue;
		}
		left[depth] -= left[depth] != CBOR_INDEFINITE;
		if (content_cnt(&next) == 0)
			continue;
		if (++depth == CBOR_DEPTH_MAX)
			return -EBADMSG;
		left[depth] = content_cnt(&next);
	}
}

bool cbor_signed(const struct cbor_item *item, int64_t *value)
{
	if (item->value > INT64_MAX || (item->kind != CBOR_UNSIGNED && item->kind != CBOR_NEGATIVE))
		return false;
	*value = item->kind == CBOR_NEGATIVE ? -1 - (int64_t)item->value : (int64_t)item->value;
	return true;
}
