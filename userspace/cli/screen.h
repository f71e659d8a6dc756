/* SPDX-License-Identifier: BSD-2-Clause */
/* Where output goes, and what it can show. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct screen {
	FILE *file;
	bool is_terminal;
	bool has_colours; /* a terminal that has them, and NO_COLOR is not set */
	size_t columns;   /* 100 when it is no terminal */
};

void screen_init(struct screen *screen, FILE *file);

#endif
