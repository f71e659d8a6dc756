/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/format/intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t bucket_cnt_for(uint32_t capacity)
{
	uint32_t cnt = 16;

	while (cnt < 2 * capacity)
		cnt *= 2;
	return cnt;
}

int intern_numbers_init(struct intern_numbers *intern, uint32_t capacity)
{
	uint32_t bucket_cnt = bucket_cnt_for(capacity);

	*intern = (struct intern_numbers){ .capacity = capacity, .bucket_mask = bucket_cnt - 1 };
	intern->keys = malloc(capacity * sizeof(*intern->keys));
	intern->buckets = calloc(bucket_cnt, sizeof(*intern->buckets));
	return intern->keys && intern->buckets ? 0 : -ENOMEM;
}

void intern_numbers_release(struct intern_numbers *intern)
{
	free(intern->keys);
	free(intern->buckets);
}

void intern_numbers_clear(struct intern_numbers *intern)
{
	memset(intern->buckets, 0, (intern->bucket_mask + (size_t)1) * sizeof(*intern->buckets));
	intern->count = 0;
}

uint32_t intern_number(struct intern_numbers *intern, uint64_t key)
{
	uint32_t at = (uint32_t)hash_number(key) & intern->bucket_mask;

	for (; intern->buckets[at]; at = (at + 1) & intern->bucket_mask)
		if (intern->keys[intern->buckets[at] - 1] == key)
			return intern->buckets[at] - 1;
	intern->keys[intern->count] = key;
	intern->buckets[at] = ++intern->count;
	return intern->count - 1;
}

int intern_strings_init(struct intern_strings *intern, uint32_t capacity, uint32_t byte_capacity)
{
	uint32_t bucket_cnt = bucket_cnt_for(capacity);

	*intern = (struct intern_strings){
		.capacity = capacity, .byte_capacity = byte_capacity, .bucket_mask = bucket_cnt - 1
	};
	intern->bytes = malloc(byte_capacity);
	intern->ends = malloc(capacity * sizeof(*intern->ends));
	intern->hashes = malloc(capacity * sizeof(*intern->hashes));
	intern->buckets = calloc(bucket_cnt, sizeof(*intern->buckets));
	return intern->bytes && intern->ends && intern->hashes && intern->buckets ? 0 : -ENOMEM;
}

void intern_strings_release(struct intern_strings *intern)
{
	free(intern->bytes);
	free(intern->ends);
	free(intern->hashes);
	free(intern->buckets);
}

void intern_strings_clear(struct intern_strings *intern)
{
	memset(intern->buckets, 0, (intern->bucket_mask + (size_t)1) * sizeof(*intern->buckets));
	intern->count = 0;
	intern->byte_cnt = 0;
}

static uint64_t load(const char *bytes, uint32_t length)
{
	uint64_t word = 0;
	uint32_t half;

	if (length >= 8) {
		memcpy(&word, bytes, 8);
	} else if (length >= 4) {
		memcpy(&half, bytes, 4);
		word = half;
		memcpy(&half, bytes + length - 4, 4);
		word |= (uint64_t)half << 32;
	} else if (length) {
		word = (uint8_t)bytes[0] | (uint64_t)(uint8_t)bytes[length / 2] << 8 |
		       (uint64_t)(uint8_t)bytes[length - 1] << 16;
	}
	return word;
}

/* Eight bytes at a time; the last eight may overlap those before. */
static uint64_t hash_bytes(const char *bytes, uint32_t length)
{
	uint64_t hash = length;

	for (uint32_t at = 0; at + 8 < length; at += 8)
		hash = hash_number(hash ^ load(bytes + at, 8));
	return hash_number(hash ^ load(length > 8 ? bytes + length - 8 : bytes, length));
}

static int is_same(const struct intern_strings *intern, uint32_t index, const char *bytes, uint32_t length)
{
	uint32_t begin = intern_strings_begin(intern, index);

	if (intern->ends[index] - begin != length)
		return 0;
	if (length > 16)
		return !memcmp(intern->bytes + begin, bytes, length);
	return load(intern->bytes + begin, length) == load(bytes, length) &&
	       (length <= 8 || load(intern->bytes + begin + length - 8, 8) == load(bytes + length - 8, 8));
}

/* The bucket where the string is, or that it would get. */
static uint32_t bucket_of(const struct intern_strings *intern, uint64_t hash, const char *bytes,
			  uint32_t length)
{
	uint32_t at = (uint32_t)hash & intern->bucket_mask;

	for (; intern->buckets[at]; at = (at + 1) & intern->bucket_mask) {
		uint32_t index = intern->buckets[at] - 1;

		if (intern->hashes[index] == hash && is_same(intern, index, bytes, length))
			break;
	}
	return at;
}

uint32_t intern_find_string(const struct intern_strings *intern, const char *bytes, uint32_t length)
{
	/* An empty bucket holds 0: INTERN_NONE, once 1 is taken off. */
	return intern->buckets[bucket_of(intern, hash_bytes(bytes, length), bytes, length)] - 1;
}

uint32_t intern_string(struct intern_strings *intern, const char *bytes, uint32_t length)
{
	uint64_t hash = hash_bytes(bytes, length);
	uint32_t at = bucket_of(intern, hash, bytes, length), index = intern->count;

	if (intern->buckets[at])
		return intern->buckets[at] - 1;
	if (length)
		memcpy(intern->bytes + intern->byte_cnt, bytes, length);
	intern->byte_cnt += length;
	intern->ends[index] = intern->byte_cnt;
	intern->hashes[index] = hash;
	intern->buckets[at] = ++intern->count;
	return index;
}
