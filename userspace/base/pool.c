/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/big_memory.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* An item that was given back must not be touched. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define forbid(item, size) ASAN_POISON_MEMORY_REGION(item, size)
#define allow(item, size) ASAN_UNPOISON_MEMORY_REGION(item, size)
#else
#define forbid(item, size) ((void)(item), (void)(size))
#define allow(item, size) ((void)(item), (void)(size))
#endif

void pool_init(struct pool *pool, size_t item_size)
{
	*pool = (struct pool){ .item_size = item_size };
}

void pool_release(struct pool *pool)
{
	for (unsigned int i = 0; i < pool->block_cnt; i++)
		free(pool->blocks[i]);
	pool_init(pool, pool->item_size);
}

static int add_block(struct pool *pool)
{
	size_t item_cnt = (size_t)POOL_FIRST_ITEMS << (pool->block_cnt ? pool->block_cnt - 1 : 0);
	size_t size = item_cnt * pool->item_size;
	unsigned char *block;

	if (pool->block_cnt == POOL_BLOCKS)
		return -1;
	block = big_memory_new(size);
	if (!block)
		return -1;
	forbid(block, size);
	pool->blocks[pool->block_cnt++] = block;
	return 0;
}

static uint32_t room(const struct pool *pool)
{
	return pool->block_cnt ? (uint32_t)POOL_FIRST_ITEMS << (pool->block_cnt - 1) : 0;
}

void *pool_take(struct pool *pool, uint32_t *number)
{
	unsigned char *item;

	if (!pool->first_free && pool->fresh == room(pool) && add_block(pool))
		return NULL;
	*number = pool->first_free ? pool->first_free - 1 : pool->fresh++;
	item = pool_item(pool, *number);
	allow(item, pool->item_size);
	if (pool->first_free)
		memcpy(&pool->first_free, item, sizeof(pool->first_free));
	pool->cnt++;
	return item;
}

void pool_give_back(struct pool *pool, uint32_t number)
{
	unsigned char *item = pool_item(pool, number);

	memcpy(item, &pool->first_free, sizeof(pool->first_free));
	forbid(item, pool->item_size);
	pool->first_free = number + 1;
	pool->cnt--;
}
