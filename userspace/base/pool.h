/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items of one size that come and go by the million. An item has a number, so
 * that tables can refer to it in four bytes, and lies where it lies until it is
 * given back. Items lie side by side in blocks, each as large as all before it
 * together. Memory follows the most items that there were at once; it is freed
 * with the pool.
 */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>
#include <stdint.h>

#define POOL_FIRST_ITEMS 64 /* in block 0 and in block 1; each later one has twice as many */
#define POOL_BLOCKS 26

struct pool {
	size_t item_size;
	unsigned char *blocks[POOL_BLOCKS];
	unsigned int block_cnt;
	uint32_t fresh;      /* the first item that never was used */
	uint32_t first_free; /* number + 1 of one that was given back; 0: none */
	uint32_t cnt;        /* in use */
};

void pool_init(struct pool *pool, size_t item_size); /* a multiple of 8 */
void pool_release(struct pool *pool);                /* with all items */

/* A new item, its bytes anything; *number is its own. NULL: no memory. */
void *pool_take(struct pool *pool, uint32_t *number);
void pool_give_back(struct pool *pool, uint32_t number);

static inline void *pool_item(const struct pool *pool, uint32_t number)
{
	uint32_t row = number / POOL_FIRST_ITEMS;
	unsigned int block = row ? 32 - (unsigned int)__builtin_clz(row) : 0;
	uint32_t first = block ? POOL_FIRST_ITEMS << (block - 1) : 0;

	return pool->blocks[block] + (size_t)(number - first) * pool->item_size;
}

#endif
