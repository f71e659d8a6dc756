/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/unmodified/name_guess.h"

#include <stdlib.h>
#include <string.h>

#include "base/near_miss.h"

void name_guess_see(struct name_guess *guess, const char *typed, const char *word)
{
	struct near_miss near_miss = { .typed = typed,
				       .best = guess->best,
				       .best_distance = guess->distance };
	char *copy;

	near_miss_offer(&near_miss, word);
	if (near_miss.best == guess->best)
		return;
	copy = strdup(near_miss.best);
	if (!copy)
		return;
	free(guess->best);
	guess->best = copy;
	guess->distance = near_miss.best_distance;
}

void name_guess_release(struct name_guess *guess)
{
	free(guess->best);
	*guess = (struct name_guess){ 0 };
}
