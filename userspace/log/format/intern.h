/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers for things: the first key gets 0, the next new one 1, and so on.
 * Memory is taken once, at the init; the caller looks at count before it adds
 * to a full one.
 */
#ifndef INTERN_H
#define INTERN_H

#include <stddef.h>
#include <stdint.h>

struct intern_numbers {
	uint64_t *keys; /* by index */
	uint32_t count;
	uint32_t capacity;
	uint32_t *buckets; /* index + 1, or 0 */
	uint32_t bucket_mask;
};

int intern_numbers_init(struct intern_numbers *intern, uint32_t capacity); /* 0 or -ENOMEM */
void intern_numbers_release(struct intern_numbers *intern);
void intern_numbers_clear(struct intern_numbers *intern);
uint32_t intern_number(struct intern_numbers *intern, uint64_t key);

struct intern_strings {
	char *bytes; /* all strings, one behind the other */
	uint32_t byte_cnt;
	uint32_t byte_capacity;
	uint32_t *ends;   /* by index: where in bytes the string ends */
	uint64_t *hashes; /* by index */
	uint32_t count;
	uint32_t capacity;
	uint32_t *buckets;
	uint32_t bucket_mask;
};

/* 0 or -ENOMEM */
int intern_strings_init(struct intern_strings *intern, uint32_t capacity, uint32_t byte_capacity);
void intern_strings_release(struct intern_strings *intern);
void intern_strings_clear(struct intern_strings *intern);
/* needs byte_cnt + length <= byte_capacity */
uint32_t intern_string(struct intern_strings *intern, const char *bytes, uint32_t length);

#define INTERN_NONE UINT32_MAX
/* or INTERN_NONE */
uint32_t intern_find_string(const struct intern_strings *intern, const char *bytes, uint32_t length);

static inline uint32_t intern_strings_begin(const struct intern_strings *intern, uint32_t index)
{
	return index ? intern->ends[index - 1] : 0;
}

/* Spreads a 64-bit number over all its bits. */
static inline uint64_t hash_number(uint64_t number)
{
	number *= 0x9e3779b97f4a7c15u;
	return number ^ number >> 32;
}

#endif
