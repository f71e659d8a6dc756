/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Quantiles of a stream of numbers in bounded memory. Up to 64 different values
 * are kept as they are, in a sorted list, and quantiles are exact. More become
 * a histogram whose buckets are 2^-7 of their value wide (1 below 256), a page
 * of 128 buckets for each power of two that occurs, of 256 bytes or, once one
 * of its buckets has counted to 65535, 1 KiB: at most 59 KiB. A quantile is the
 * middle of the bucket that holds it, within the exact minimum and maximum, and
 * so is off by less than 0.4 %.
 */
#ifndef QUANTILE_H
#define QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct quantile_value;
struct quantile_pages;

/* All zero is empty. */
struct quantile {
	uint64_t cnt;
	uint64_t min;
	uint64_t max;

	/* private */
	struct quantile_value *list; /* sorted; NULL once there are pages */
	uint16_t list_cnt;
	uint16_t list_size;
	bool is_coarse;
	struct quantile_pages *pages;
};

void quantile_release(struct quantile *quantile);

/*
 * Takes a value. With may_grow false no memory is taken, except for what it
 * counts (a byte for every 85 values at most): a value without a place goes to
 * the nearest one that there is (or only counts, if there is none yet), and the
 * quantile is coarse from then on.
 * *grown_bytes is increased by the memory that was taken. 0 or -ENOMEM.
 */
int quantile_add(struct quantile *quantile, uint64_t value, bool may_grow, size_t *grown_bytes);

/*
 * Takes all values of another one. Quantiles are those of one that had taken
 * them one by one, but for the order in which more than 64 came; memory is
 * taken and counted as by quantile_add(). 0 or -ENOMEM.
 */
int quantile_merge(struct quantile *quantile, const struct quantile *from, size_t *grown_bytes);

/*
 * The smallest value with at least a `fraction` (0 to 1) of all values not
 * above it: nearest rank. 0 when there are none.
 */
uint64_t quantile_at(const struct quantile *quantile, double fraction);

#endif
