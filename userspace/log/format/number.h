/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The numbers of a column (docs/log-format.md, "Columns"): a byte of code, and
 * as many raw bits as the code says. Codes compress, raw bits are noise. A
 * column leaves `low` bits of every number raw, so that what the codes tell is
 * what can be foretold.
 *
 * h = number >> low is told as it is below NUMBER_EXACT. Above, a code stands
 * for half an octave, and more raw bits tell the place in it.
 */
#ifndef NUMBER_H
#define NUMBER_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_EXACT_BITS 7
#define NUMBER_EXACT (1u << NUMBER_EXACT_BITS)
#define NUMBER_CODE_COUNT 242
#define NUMBER_LOW_MAX 31u

/* One number has at most so many raw bits, and takes so many bytes in all. */
#define NUMBER_RAW_MAX_BITS 62u
#define NUMBER_MAX_BYTES 9

/* So many can be taken from a 64-bit word that begins anywhere in its first byte. */
#define NUMBER_WORD_BITS 56u

/* What a code means where `low` is known: the number is base + the raw bits. */
struct number_class {
	uint64_t base;
	uint64_t mask; /* of the raw bits */
	uint64_t bits; /* NUMBER_NO_BITS: there is no such code */
	uint64_t unused; /* to be found by a shift */
};

/* More than any column has. */
#define NUMBER_NO_BITS (1u << 30)

struct number_class number_class_of(unsigned int code, unsigned int low);

/*
 * The classes of one `low`; those with more than NUMBER_WORD_BITS, which are
 * rare, are left out as if there were none.
 */
struct number_table {
	struct number_class classes[256];
	unsigned int low;
};

void number_table_init(struct number_table *table, unsigned int low);

/* The code of a number; returns how many of its lowest bits stay raw. */
static inline unsigned int number_code(uint64_t number, unsigned int low, uint8_t *code)
{
	uint64_t high = number >> low;
	unsigned int top;

	if (high < NUMBER_EXACT) {
		*code = (uint8_t)high;
		return low;
	}
	top = 63 - (unsigned int)__builtin_clzll(high);
	*code = (uint8_t)(NUMBER_EXACT + (top - NUMBER_EXACT_BITS) * 2 + (high >> (top - 1) & 1));
	return top - 1 + low;
}

/* Writes bits from the lowest of each byte on. Eight bytes behind the last may be overwritten. */
struct bit_writer {
	uint8_t *at;
	uint64_t pending;
	unsigned int pending_bits; /* less than 8 between calls */
};

static inline void bits_put_word(struct bit_writer *writer, uint64_t bits, unsigned int cnt)
{
	uint64_t word;

	writer->pending |= (bits & ((UINT64_C(1) << cnt) - 1)) << writer->pending_bits;
	writer->pending_bits += cnt;
	word = htole64(writer->pending);
	memcpy(writer->at, &word, sizeof(word));
	writer->at += writer->pending_bits / 8;
	writer->pending >>= writer->pending_bits & ~7u;
	writer->pending_bits &= 7;
}

/* The lowest cnt bits, at most NUMBER_RAW_MAX_BITS. */
static inline void bits_put(struct bit_writer *writer, uint64_t bits, unsigned int cnt)
{
	if (cnt > NUMBER_WORD_BITS) {
		bits_put_word(writer, bits, 32);
		bits >>= 32;
		cnt -= 32;
	}
	bits_put_word(writer, bits, cnt);
}

/* Returns the end of what was written. */
static inline uint8_t *bits_end(struct bit_writer *writer)
{
	return writer->at + (writer->pending_bits > 0);
}

/* The bits from number `bit` on, at most NUMBER_WORD_BITS; eight bytes from there on must be readable. */
static inline uint64_t bits_get_word(const uint8_t *from, uint64_t bit, uint64_t mask)
{
	uint64_t word;

	memcpy(&word, from + bit / 8, sizeof(word));
	return le64toh(word) >> bit % 8 & mask;
}

/* Any number of bits. */
static inline uint64_t bits_get(const uint8_t *from, uint64_t bit, uint64_t mask)
{
	return bits_get_word(from, bit, mask & UINT32_MAX) | bits_get_word(from, bit + 32, mask >> 32) << 32;
}

#endif
