/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/quantile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BITS 7
#define PAGE_BUCKETS (1u << PAGE_BITS)
#define PAGE_CNT (64 - PAGE_BITS + 1)
#define LIST_MAX 64

struct quantile_value {
	uint64_t value;
	uint64_t cnt;
};

struct quantile_pages {
	uint64_t *pages[PAGE_CNT]; /* PAGE_BUCKETS counts each, or NULL */
};

/*
 * Page 0 has the values 0 to 127, page p > 0 those from 2^(p+6) up to 2^(p+7), in steps of 2^(p-1): a bucket's width is at most 2^-7 of its
 * values, and from 128 to 255 still 1.
 */
static uint32_t bucket_of(uint64_t value)
{
	unsigned int page;

	if (value < PAGE_BUCKETS)
		return (uint32_t)value;
	page = 64u - (unsigned int)__builtin_clzll(value) - PAGE_BITS;
	return page * PAGE_BUCKETS + (uint32_t)((value >> (page - 1)) & (PAGE_BUCKETS - 1));
}

static uint64_t bucket_middle(uint32_t idx)
{
	unsigned int page = idx / PAGE_BUCKETS;
	uint64_t step = idx % PAGE_BUCKETS;

	if (page == 0)
		return step;
	return ((PAGE_BUCKETS + step) << (page - 1)) + ((1ull << (page - 1)) >> 1);
}

void quantile_release(struct quantile *quantile)
{
	if (quantile->pages) {
		for (unsigned int i = 0; i < PAGE_CNT; i++)
			free(quantile->pages->pages[i]);
	}
	free(quantile->pages);
	free(quantile->list);
	*quantile = (struct quantile){ 0 };
}

/* ---- the list ---- */

/* Where the value is in the list, or would be. */
static unsigned int list_find(const struct quantile *quantile, uint64_t value)
{
	unsigned int low = 0, high = quantile->list_cnt;

	while (low < high) {
		unsigned int middle = (low + high) / 2;

		if (quantile->list[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Counts it in the neighbour that is nearer, if there is any. */
static void list_add_nearest(struct quantile *quantile, unsigned int at, uint64_t value)
{
	if (quantile->list_cnt == 0)
		return;
	if (at == quantile->list_cnt || (at > 0 && value - quantile->list[at - 1].value < quantile->list[at].value - value))
		at--;
	quantile->list[at].cnt++;
}

static int list_grow(struct quantile *quantile, size_t *grown_bytes)
{
	unsigned int size = quantile->list_size ? quantile->list_size * 2u : 2;
	struct quantile_value *grown = reallocarray(quantile->list, size, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	*grown_bytes += (size - quantile->list_size) * sizeof(*grown);
	quantile->list = grown;
	quantile->list_size = (uint16_t)size;
	return 0;
}

/* ---- the pages ---- */

static int make_page(struct quantile *quantile, unsigned int page, size_t *grown_bytes)
{
	if (quantile->pages->pages[page])
		return 0;
	quantile->pages->pages[page] = calloc(PAGE_BUCKETS, sizeof(uint64_t));
	if (!quantile->pages->pages[page])
		return -ENOMEM;
	*grown_bytes += PAGE_BUCKETS * sizeof(uint64_t);
	return 0;
}

/* From the list to pages. On failure the list stays, and so does what is counted. */
static int make_pages(struct quantile *quantile, size_t *grown_bytes)
{
	int err = 0;

	quantile->pages = calloc(1, sizeof(*quantile->pages));
	if (!quantile->pages)
		return -ENOMEM;
	*grown_bytes += sizeof(*quantile->pages);
	for (unsigned int i = 0; i < quantile->list_cnt && !err; i++)
		err = make_page(quantile, bucket_of(quantile->list[i].value) / PAGE_BUCKETS, grown_bytes);
	if (err) {
		for (unsigned int i = 0; i < PAGE_CNT; i++)
			free(quantile->pages->pages[i]);
		free(quantile->pages);
		quantile->pages = NULL;
		return err;
	}
	for (unsigned int i = 0; i < quantile->list_cnt; i++) {
		uint32_t idx = bucket_of(quantile->list[i].value);

		quantile->pages->pages[idx / PAGE_BUCKETS][idx % PAGE_BUCKETS] += quantile->list[i].cnt;
	}
	free(quantile->list);
	quantile->list = NULL;
	quantile->list_cnt = 0;
	quantile->list_size = 0;
	return 0;
}

/* Counts it at that end of the nearest page which is next to it. There is one. */
static void pages_add_nearest(struct quantile *quantile, uint32_t idx)
{
	unsigned int page = idx / PAGE_BUCKETS;

	for (unsigned int distance = 1; distance < PAGE_CNT; distance++) {
		if (distance <= page && quantile->pages->pages[page - distance]) {
			quantile->pages->pages[page - distance][PAGE_BUCKETS - 1]++;
			return;
		}
		if (page + distance < PAGE_CNT && quantile->pages->pages[page + distance]) {
			quantile->pages->pages[page + distance][0]++;
			return;
		}
	}
}

static int pages_add(struct quantile *quantile, uint32_t idx, bool may_grow, size_t *grown_bytes)
{
	unsigned int page = idx / PAGE_BUCKETS;
	int err;

	if (!quantile->pages->pages[page]) {
		if (!may_grow) {
			quantile->is_coarse = true;
			pages_add_nearest(quantile, idx);
			return 0;
		}
		err = make_page(quantile, page, grown_bytes);
		if (err)
			return err;
	}
	quantile->pages->pages[page][idx % PAGE_BUCKETS]++;
	return 0;
}

static int list_add(struct quantile *quantile, uint64_t value, bool may_grow, size_t *grown_bytes)
{
	unsigned int at = list_find(quantile, value);
	int err;

	if (at < quantile->list_cnt && quantile->list[at].value == value) {
		quantile->list[at].cnt++;
		return 0;
	}
	if (quantile->list_cnt == quantile->list_size && !may_grow) {
		quantile->is_coarse = true;
		list_add_nearest(quantile, at, value);
		return 0;
	}
	if (quantile->list_cnt == LIST_MAX) {
		err = make_pages(quantile, grown_bytes);
		return err ? err : pages_add(quantile, bucket_of(value), true, grown_bytes);
	}
	if (quantile->list_cnt == quantile->list_size) {
		err = list_grow(quantile, grown_bytes);
		if (err)
			return err;
	}
	memmove(&quantile->list[at + 1], &quantile->list[at], (quantile->list_cnt - at) * sizeof(*quantile->list));
	quantile->list[at] = (struct quantile_value){ value, 1 };
	quantile->list_cnt++;
	return 0;
}

int quantile_add(struct quantile *quantile, uint64_t value, bool may_grow, size_t *grown_bytes)
{
	int err = quantile->pages ? pages_add(quantile, bucket_of(value), may_grow, grown_bytes)
				  : list_add(quantile, value, may_grow, grown_bytes);

	if (err)
		return err;
	if (quantile->cnt == 0 || value < quantile->min)
		quantile->min = value;
	if (value > quantile->max)
		quantile->max = value;
	quantile->cnt++;
	return 0;
}

/* ---- reading ---- */

/* The rank-th (from 1) of the counted values; the last one if it is beyond. false: nothing is counted. */
static bool find_rank(const struct quantile *quantile, uint64_t rank, uint64_t *value)
{
	uint64_t seen = 0;
	bool is_found = false;

	for (unsigned int i = 0; i < quantile->list_cnt && seen < rank; i++) {
		seen += quantile->list[i].cnt;
		*value = quantile->list[i].value;
		is_found = true;
	}
	for (unsigned int page = 0; quantile->pages && page < PAGE_CNT && seen < rank; page++) {
		const uint64_t *counts = quantile->pages->pages[page];

		for (unsigned int i = 0; counts && i < PAGE_BUCKETS && seen < rank; i++) {
			if (!counts[i])
				continue;
			seen += counts[i];
			*value = bucket_middle(page * PAGE_BUCKETS + i);
			is_found = true;
		}
	}
	return is_found;
}

uint64_t quantile_at(const struct quantile *quantile, double fraction)
{
	uint64_t rank, value;

	if (quantile->cnt == 0)
		return 0;
	rank = (uint64_t)ceil(fraction * (double)quantile->cnt);
	if (rank <= 1)
		return quantile->min;
	if (rank >= quantile->cnt || !find_rank(quantile, rank, &value))
		return quantile->max;
	if (value < quantile->min)
		return quantile->min;
	return value > quantile->max ? quantile->max : value;
}
