/* SPDX-License-Identifier: BSD-2-Clause */
/* "did you mean …?": the word of a list that somebody who typed another one meant. */
#ifndef NEAR_MISS_H
#define NEAR_MISS_H

struct near_miss {
	const char *typed;
	const char *best; /* the result: NULL if nothing is near */
	unsigned int best_distance;
};

void near_miss_init(struct near_miss *near_miss, const char *typed);

/*
 * Offers one word, which must outlive the near_miss. Nearest: few letters
 * inserted, dropped, changed or swapped; or what was typed begins it.
 */
void near_miss_offer(struct near_miss *near_miss, const char *word);

#endif
