/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/string_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/hash_index.h"

#define BLOCK_BYTES 65536

struct pooled_string {
	const char *bytes; /* in a block */
	size_t length;
};

struct pool_block {
	struct pool_block *next;
	size_t used;
	size_t size;
	char bytes[];
};

struct string_pool {
	uint64_t seed;
	struct pooled_string *strings;
	uint32_t cnt;
	uint32_t size; /* of strings */
	struct hash_index numbers;
	struct pool_block *blocks;
	size_t block_bytes;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t hash_bytes(uint64_t seed, const char *bytes, size_t length)
{
	uint64_t hash = seed ^ 0x9e3779b97f4a7c15u, word;

	for (size_t left = length; left > 0;) {
		size_t size = left < 8 ? left : 8;

		word = 0;
		memcpy(&word, bytes, size);
		hash = mix(hash ^ word, 0xa0761d6478bd642fu ^ seed);
		bytes += size;
		left -= size;
	}
	return (uint32_t)mix(hash ^ length, 0xe7037ed1a0b428dbu);
}

struct string_pool *string_pool_new(void)
{
	struct string_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return NULL;
	hash_index_init(&pool->numbers);
	/* Without entropy (early boot) it works all the same, only guessable. */
	if (getrandom(&pool->seed, sizeof(pool->seed), GRND_NONBLOCK) != sizeof(pool->seed))
		pool->seed = (uint64_t)(uintptr_t)pool;
	return pool;
}

void string_pool_free(struct string_pool *pool)
{
	if (!pool)
		return;
	while (pool->blocks) {
		struct pool_block *block = pool->blocks;

		pool->blocks = block->next;
		free(block);
	}
	free(pool->strings);
	hash_index_release(&pool->numbers);
	free(pool);
}

static uint32_t find(const struct string_pool *pool, const char *bytes, size_t length, uint32_t hash)
{
	HASH_INDEX_EACH(&pool->numbers, hash, slot, number)
	{
		const struct pooled_string *string = &pool->strings[number];

		if (string->length == length && (length == 0 || memcmp(string->bytes, bytes, length) == 0))
			return number;
	}
	return STRING_POOL_NONE;
}

static int grow_strings(struct string_pool *pool)
{
	size_t size = pool->size ? (size_t)pool->size * 2 : 64;
	struct pooled_string *grown;

	if (size > STRING_POOL_NONE)
		size = STRING_POOL_NONE;
	grown = reallocarray(pool->strings, size, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	pool->strings = grown;
	pool->size = (uint32_t)size;
	return 0;
}

static const char *copy(struct string_pool *pool, const char *bytes, size_t length)
{
	struct pool_block *block = pool->blocks;
	char *place;

	if (!block || block->size - block->used < length) {
		size_t size = length > BLOCK_BYTES / 4 ? length : BLOCK_BYTES;

		block = malloc(sizeof(*block) + size);
		if (!block)
			return NULL;
		*block = (struct pool_block){ .next = pool->blocks, .size = size };
		pool->blocks = block;
		pool->block_bytes += sizeof(*block) + size;
	}
	place = block->bytes + block->used;
	if (length > 0)
		memcpy(place, bytes, length);
	block->used += length;
	return place;
}

int string_pool_add(struct string_pool *pool, const char *bytes, size_t length, uint32_t *number)
{
	uint32_t hash = hash_bytes(pool->seed, bytes, length);
	const char *copied;
	int err = 0;

	*number = find(pool, bytes, length, hash);
	if (*number != STRING_POOL_NONE)
		return 0;
	if (pool->cnt == STRING_POOL_NONE)
		return -E2BIG;
	if (pool->cnt == pool->size)
		err = grow_strings(pool);
	copied = err ? NULL : copy(pool, bytes, length);
	if (!copied)
		return -ENOMEM;
	err = hash_index_put(&pool->numbers, hash, pool->cnt);
	if (err)
		return err;
	pool->strings[pool->cnt] = (struct pooled_string){ copied, length };
	*number = pool->cnt++;
	return 0;
}

uint32_t string_pool_find(const struct string_pool *pool, const char *bytes, size_t length)
{
	return find(pool, bytes, length, hash_bytes(pool->seed, bytes, length));
}

const char *string_pool_get(const struct string_pool *pool, uint32_t number, size_t *length)
{
	*length = pool->strings[number].length;
	return pool->strings[number].bytes;
}

uint32_t string_pool_count(const struct string_pool *pool)
{
	return pool->cnt;
}

size_t string_pool_bytes(const struct string_pool *pool)
{
	return sizeof(*pool) + pool->size * sizeof(*pool->strings) + hash_index_bytes(&pool->numbers) +
	       pool->block_bytes;
}
