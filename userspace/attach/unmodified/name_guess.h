/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a name that was asked for was not found: the nearest of the names that
 * there are, and whether a file has lost its names.
 */
#ifndef NAME_GUESS_H
#define NAME_GUESS_H

#include <stdbool.h>
#include <stddef.h>

struct name_guess {
	char *best; /* of all that were seen; NULL: none is near */
	unsigned int distance;
	bool is_chosen;      /* it is several functions, of which a program chooses one when it starts */
	bool is_stripped;    /* the file that was meant is */
	size_t exported_cnt; /* and so many names are left in it */
};

/* All zero at first. Without memory the guess stays as it is. */
void name_guess_see(struct name_guess *guess, const char *typed, const char *word);
void name_guess_release(struct name_guess *guess);

#endif
