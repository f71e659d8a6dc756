/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/seeded_random.h"

static uint64_t rotated(uint64_t value, unsigned int by)
{
	return value << by | value >> (64 - by);
}

void seeded_random_init(struct seeded_random *random, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t mixed = seed += 0x9e3779b97f4a7c15ULL;

		mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
		mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
		random->state[i] = mixed ^ mixed >> 31;
	}
}

uint64_t seeded_random_next(struct seeded_random *random)
{
	uint64_t *state = random->state;
	uint64_t result = rotated(state[1] * 5, 7) * 9, carried = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= carried;
	state[3] = rotated(state[3], 45);
	return result;
}

/* A number above the last whole multiple of `end` is thrown again. */
uint32_t seeded_random_below(struct seeded_random *random, uint32_t end)
{
	uint32_t first_fair = -end % end;
	uint64_t product;

	do {
		product = (seeded_random_next(random) >> 32) * end;
	} while ((uint32_t)product < first_fair);
	return (uint32_t)(product >> 32);
}

double seeded_random_unit(struct seeded_random *random)
{
	return (double)(seeded_random_next(random) >> 11) * 0x1p-53;
}
