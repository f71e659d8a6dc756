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

/*
 * PAGE_BUCKETS counts each, or NULL. A page is narrow until one of its counts has no room in it: most never
 * are wide, as most labels are rare.
 */
struct quantile_pages {
	union {
		uint16_t *narrow;
		uint64_t *wide;
	} pages[PAGE_CNT];
	uint64_t is_wide; /* a bit for each page */
};
_Static_assert(PAGE_CNT <= 64, "is_wide");

/*
 * Page 0 has the values 0 to 127, page p > 0 those from 2^(p+6) up to 2^(p+7), in steps of 2^(p-1): a
 * bucket's width is at most 2^-7 of its values, and from 128 to 255 still 1.
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

static void free_pages(struct quantile_pages *pages)
{
	for (unsigned int i = 0; pages && i < PAGE_CNT; i++)
		free(pages->pages[i].narrow);
	free(pages);
}

void quantile_release(struct quantile *quantile)
{
	free_pages(quantile->pages);
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
static void list_add_nearest(struct quantile *quantile, unsigned int at, uint64_t value, uint64_t cnt)
{
	if (quantile->list_cnt == 0)
		return;
	if (at == quantile->list_cnt ||
	    (at > 0 && value - quantile->list[at - 1].value < quantile->list[at].value - value))
		at--;
	quantile->list[at].cnt += cnt;
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

static bool has_page(const struct quantile_pages *pages, unsigned int page)
{
	return pages->pages[page].narrow;
}

static bool is_wide(const struct quantile_pages *pages, unsigned int page)
{
	return pages->is_wide >> page & 1;
}

static int make_page(struct quantile *quantile, unsigned int page, size_t *grown_bytes)
{
	if (has_page(quantile->pages, page))
		return 0;
	quantile->pages->pages[page].narrow = calloc(PAGE_BUCKETS, sizeof(uint16_t));
	if (!quantile->pages->pages[page].narrow)
		return -ENOMEM;
	*grown_bytes += PAGE_BUCKETS * sizeof(uint16_t);
	return 0;
}

static int widen_page(struct quantile_pages *pages, unsigned int page, size_t *grown_bytes)
{
	uint64_t *wide = calloc(PAGE_BUCKETS, sizeof(*wide));

	if (!wide)
		return -ENOMEM;
	for (unsigned int i = 0; i < PAGE_BUCKETS; i++)
		wide[i] = pages->pages[page].narrow[i];
	free(pages->pages[page].narrow);
	pages->pages[page].wide = wide;
	pages->is_wide |= 1ull << page;
	*grown_bytes += PAGE_BUCKETS * (sizeof(uint64_t) - sizeof(uint16_t));
	return 0;
}

/* In a page that there is. */
static int count(struct quantile_pages *pages, unsigned int page, unsigned int bucket, uint64_t cnt,
		 size_t *grown_bytes)
{
	uint16_t *narrow = pages->pages[page].narrow;
	int err = 0;

	if (!is_wide(pages, page)) {
		if (cnt <= (uint64_t)UINT16_MAX - narrow[bucket]) {
			narrow[bucket] = (uint16_t)(narrow[bucket] + cnt);
			return 0;
		}
		err = widen_page(pages, page, grown_bytes);
	}
	if (!err)
		pages->pages[page].wide[bucket] += cnt;
	return err;
}

static uint64_t count_at(const struct quantile_pages *pages, unsigned int page, unsigned int bucket)
{
	return is_wide(pages, page) ? pages->pages[page].wide[bucket] : pages->pages[page].narrow[bucket];
}

/* From the list to pages. On failure the list stays, and so does what is counted. */
static int make_pages(struct quantile *quantile, size_t *grown_bytes)
{
	size_t made_bytes = sizeof(*quantile->pages);
	int err = 0;

	quantile->pages = calloc(1, sizeof(*quantile->pages));
	if (!quantile->pages)
		return -ENOMEM;
	for (unsigned int i = 0; i < quantile->list_cnt && !err; i++) {
		uint32_t idx = bucket_of(quantile->list[i].value);

		err = make_page(quantile, idx / PAGE_BUCKETS, &made_bytes);
		if (!err)
			err = count(quantile->pages, idx / PAGE_BUCKETS, idx % PAGE_BUCKETS,
				    quantile->list[i].cnt, &made_bytes);
	}
	if (err) {
		free_pages(quantile->pages);
		quantile->pages = NULL;
		return err;
	}
	*grown_bytes += made_bytes;
	free(quantile->list);
	quantile->list = NULL;
	quantile->list_cnt = 0;
	quantile->list_size = 0;
	return 0;
}

/* Counts it at that end of the nearest page which is next to it. There is one. */
static int pages_add_nearest(struct quantile *quantile, uint32_t idx, uint64_t cnt, size_t *grown_bytes)
{
	struct quantile_pages *pages = quantile->pages;
	unsigned int page = idx / PAGE_BUCKETS;

	for (unsigned int distance = 1; distance < PAGE_CNT; distance++) {
		if (distance <= page && has_page(pages, page - distance))
			return count(pages, page - distance, PAGE_BUCKETS - 1, cnt, grown_bytes);
		if (page + distance < PAGE_CNT && has_page(pages, page + distance))
			return count(pages, page + distance, 0, cnt, grown_bytes);
	}
	return 0;
}

static int pages_add(struct quantile *quantile, uint32_t idx, uint64_t cnt, bool may_grow,
		     size_t *grown_bytes)
{
	unsigned int page = idx / PAGE_BUCKETS;
	int err;

	if (!has_page(quantile->pages, page)) {
		if (!may_grow) {
			quantile->is_coarse = true;
			return pages_add_nearest(quantile, idx, cnt, grown_bytes);
		}
		err = make_page(quantile, page, grown_bytes);
		if (err)
			return err;
	}
	return count(quantile->pages, page, idx % PAGE_BUCKETS, cnt, grown_bytes);
}

static int list_add(struct quantile *quantile, uint64_t value, uint64_t cnt, bool may_grow,
		    size_t *grown_bytes)
{
	unsigned int at = list_find(quantile, value);
	int err;

	if (at < quantile->list_cnt && quantile->list[at].value == value) {
		quantile->list[at].cnt += cnt;
		return 0;
	}
	if (quantile->list_cnt == quantile->list_size && !may_grow) {
		quantile->is_coarse = true;
		list_add_nearest(quantile, at, value, cnt);
		return 0;
	}
	if (quantile->list_cnt == LIST_MAX) {
		err = make_pages(quantile, grown_bytes);
		return err ? err : pages_add(quantile, bucket_of(value), cnt, true, grown_bytes);
	}
	if (quantile->list_cnt == quantile->list_size) {
		err = list_grow(quantile, grown_bytes);
		if (err)
			return err;
	}
	memmove(&quantile->list[at + 1], &quantile->list[at],
		(quantile->list_cnt - at) * sizeof(*quantile->list));
	quantile->list[at] = (struct quantile_value){ value, cnt };
	quantile->list_cnt++;
	return 0;
}

static int add(struct quantile *quantile, uint64_t value, uint64_t cnt, bool may_grow, size_t *grown_bytes)
{
	return quantile->pages ? pages_add(quantile, bucket_of(value), cnt, may_grow, grown_bytes)
			       : list_add(quantile, value, cnt, may_grow, grown_bytes);
}

/* cnt values, which lie between min and max. */
static void note_range(struct quantile *quantile, uint64_t min, uint64_t max, uint64_t cnt)
{
	if (quantile->cnt == 0 || min < quantile->min)
		quantile->min = min;
	if (max > quantile->max)
		quantile->max = max;
	quantile->cnt += cnt;
}

int quantile_add(struct quantile *quantile, uint64_t value, bool may_grow, size_t *grown_bytes)
{
	int err = add(quantile, value, 1, may_grow, grown_bytes);

	if (!err)
		note_range(quantile, value, value, 1);
	return err;
}

int quantile_merge(struct quantile *quantile, const struct quantile *from, size_t *grown_bytes)
{
	int err = 0;

	if (from->cnt == 0)
		return 0;
	for (unsigned int i = 0; !err && i < from->list_cnt; i++)
		err = add(quantile, from->list[i].value, from->list[i].cnt, true, grown_bytes);
	for (unsigned int page = 0; from->pages && page < PAGE_CNT; page++) {
		for (unsigned int i = 0; !err && has_page(from->pages, page) && i < PAGE_BUCKETS; i++) {
			uint64_t cnt = count_at(from->pages, page, i);

			if (cnt)
				err = add(quantile, bucket_middle(page * PAGE_BUCKETS + i), cnt, true,
					  grown_bytes);
		}
	}
	if (!err)
		note_range(quantile, from->min, from->max, from->cnt);
	quantile->is_coarse |= from->is_coarse;
	return err;
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
		for (unsigned int i = 0; has_page(quantile->pages, page) && i < PAGE_BUCKETS && seen < rank;
		     i++) {
			uint64_t cnt = count_at(quantile->pages, page, i);

			if (!cnt)
				continue;
			seen += cnt;
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
