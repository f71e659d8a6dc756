/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random numbers that are the same for the same seed, on every machine:
 * xoshiro256** (Blackman and Vigna), seeded by splitmix64. For resampling and
 * simulation; never for secrets.
 */
#ifndef SEEDED_RANDOM_H
#define SEEDED_RANDOM_H

#include <stdint.h>

struct seeded_random {
	uint64_t state[4];
};

void seeded_random_init(struct seeded_random *random, uint64_t seed);
uint64_t seeded_random_next(struct seeded_random *random);
/* 0 … end - 1, each as likely; end > 0 */
uint32_t seeded_random_below(struct seeded_random *random, uint32_t end);
double seeded_random_unit(struct seeded_random *random);                  /* at least 0, below 1 */

#endif
