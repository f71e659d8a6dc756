/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/near_miss.h"

#include <stddef.h>
#include <string.h>

#define WORD_MAX 64 /* longer words are not worth a guess */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Optimal string alignment distance. */
static unsigned int distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned int cost[WORD_MAX + 1][WORD_MAX + 1];

	for (size_t i = 0; i <= a_length; i++)
		cost[i][0] = (unsigned int)i;
	for (size_t j = 0; j <= b_length; j++)
		cost[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= a_length; i++) {
		for (size_t j = 1; j <= b_length; j++) {
			unsigned int change = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			cost[i][j] = least(change, 1 + least(cost[i - 1][j], cost[i][j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
		}
	}
	return cost[a_length][b_length];
}

void near_miss_init(struct near_miss *near_miss, const char *typed)
{
	*near_miss = (struct near_miss){ .typed = typed };
}

void near_miss_offer(struct near_miss *near_miss, const char *word)
{
	size_t typed_length = strlen(near_miss->typed), length = strlen(word);
	unsigned int d;

	if (typed_length == 0 || typed_length > WORD_MAX || length > WORD_MAX)
		return;
	d = distance(near_miss->typed, typed_length, word, length);
	if (typed_length >= 2 && strncmp(word, near_miss->typed, typed_length) == 0)
		d = least(d, 1);
	if (d > 2 || 2 * d > least((unsigned int)typed_length, (unsigned int)length) + 1)
		return;
	if (!near_miss->best || d < near_miss->best_distance) {
		near_miss->best = word;
		near_miss->best_distance = d;
	}
}
