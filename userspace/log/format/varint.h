/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LEB128, for the dictionary of a batch (docs/log-format.md): seven bits a
 * byte, low ones first. Zigzag puts the sign of a number last.
 */
#ifndef VARINT_H
#define VARINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEB128_MAX_BYTES 10

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

#endif
