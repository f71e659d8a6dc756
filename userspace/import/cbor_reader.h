/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CBOR (RFC 8949) item by item, out of memory. An item is a number, a string, or
 * the head of an array, a map or a tag; what these hold are the items behind
 * it. Nothing in it is trusted, and nothing is allocated.
 *
 *	struct cbor_reader reader = { bytes, bytes + length };
 *	struct cbor_item item;
 *
 *	while ((err = cbor_next(&reader, &item)) == 0)
 *		use(&item);
 */
#ifndef CBOR_READER_H
#define CBOR_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CBOR_DEPTH_MAX 32	   /* of what cbor_skip() skips */
#define CBOR_INDEFINITE UINT64_MAX /* as the length of an array or a map: it ends with a break */

enum cbor_kind {
	CBOR_UNSIGNED = 0,
	CBOR_NEGATIVE = 1, /* -1 - value */
	CBOR_BYTES = 2,
	CBOR_TEXT = 3,
	CBOR_ARRAY = 4,
	CBOR_MAP = 5, /* value: pairs */
	CBOR_TAG = 6,
	CBOR_FLOAT = 7, /* of half, single or double precision */
	CBOR_BOOL = 8,
	CBOR_NULL = 9, /* or undefined */
	CBOR_BREAK = 10,
	CBOR_PIECES = 11, /* a string of a length that is not told: strings follow, then a break */
};

struct cbor_item {
	enum cbor_kind kind;
	uint64_t value;	      /* number, length of an array or a map, tag, 0 or 1 */
	double real;	      /* FLOAT */
	const uint8_t *bytes; /* BYTES, TEXT: in what is read */
	size_t length;
};

struct cbor_reader {
	const uint8_t *at, *end;
	size_t wanted; /* after -ENODATA: how many bytes from `at` on the item has at least */
};

/* 0, -ENODATA: the item is cut off or there is none, -EBADMSG: it is none. `at` moves only with 0. */
int cbor_next(struct cbor_reader *reader, struct cbor_item *item);

/* All that belongs to an item which was read. 0 or an error; -EBADMSG: also if it is too deep. */
int cbor_skip(struct cbor_reader *reader, const struct cbor_item *item);

/* The signed number of an item; false: it is none, or none of 64 bits. */
bool cbor_signed(const struct cbor_item *item, int64_t *value);

#endif
