/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two codings of numbers in a batch (docs/log-format.md, "Numbers").
 *
 * LEB128, for the dictionary: seven bits a byte, low ones first.
 * Split numbers, for columns: a first byte, which holds small numbers whole and otherwise the length and the high bits, and 0 to 8 bytes of rest.
 * The first bytes of a column stand together and its rests too: the former compress well, the latter are mostly noise.
 */
#ifndef VARINT_H
#define VARINT_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LEB128_MAX_BYTES 10
#define SPLIT_REST_MAX_BYTES 8

/* First bytes: below SPLIT_TWO the number itself; then high bits over one byte of rest; then over two; then how many bytes the rest has. */
#define SPLIT_TWO 176
#define SPLIT_THREE 240
#define SPLIT_LONG 248 /* 3 bytes of rest; … 253: 8 */
#define SPLIT_INVALID 254

static inline size_t leb128_put(uint8_t *to, uint64_t value)
{
	size_t length = 0;

	for (; value >= 0x80; value >>= 7)
		to[length++] = (uint8_t)(value | 0x80);
	to[length++] = (uint8_t)value;
	return length;
}

/* Moves *from on; false, when the bytes end before the number does, or it has more than 64 bits. */
static inline bool leb128_get(const uint8_t **from, const uint8_t *end, uint64_t *value)
{
	uint64_t result = 0;

	for (unsigned int shift = 0; shift < 64 && *from < end; shift += 7) {
		uint8_t byte = *(*from)++;

		if (shift == 63 && byte > 1)
			return false;
		result |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*value = result;
			return true;
		}
	}
	return false;
}

static inline uint64_t zigzag(uint64_t value)
{
	return value << 1 ^ (uint64_t)((int64_t)value >> 63);
}

static inline uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

/* Returns the bytes of rest; *first is the first byte; 8 bytes are always written to rest. */
static inline unsigned int split_put(uint8_t *first, uint8_t rest[SPLIT_REST_MAX_BYTES], uint64_t value)
{
	const uint64_t two = SPLIT_TWO, three = two + ((uint64_t)(SPLIT_THREE - SPLIT_TWO) << 8);
	unsigned int length;

	if (value < two) {
		*first = (uint8_t)value;
		length = 0;
	} else if (value < three) {
		value -= two;
		*first = (uint8_t)(SPLIT_TWO + (value >> 8));
		length = 1;
	} else if (value < three + ((uint64_t)(SPLIT_LONG - SPLIT_THREE) << 16)) {
		value -= three;
		*first = (uint8_t)(SPLIT_THREE + (value >> 16));
		length = 2;
	} else {
		length = (unsigned int)(71 - __builtin_clzll(value)) / 8;
		length = length < 3 ? 3 : length;
		*first = (uint8_t)(SPLIT_LONG + length - 3);
	}
	value = htole64(value);
	memcpy(rest, &value, sizeof(value));
	return length;
}

/* What a first byte says: the number is base + (rest, little-endian, rest_bytes long). rest_mask is 0 for none. */
struct split_class {
	uint64_t rest_mask;
	uint32_t base;
	uint32_t rest_bytes; /* SPLIT_NO_REST: there is no such first byte */
};

/* More bytes than any column has. */
#define SPLIT_NO_REST (1u << 30)

extern const struct split_class split_classes[256];

#endif
