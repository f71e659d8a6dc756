/* SPDX-License-Identifier: BSD-2-Clause */
/* Where output goes, and what it can show. */
#ifndef SCREEN_H
#define SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/table.h"

struct document;

struct screen {
	FILE *file;
	/* what is printed becomes a page, or Markdown, and this takes its tables; NULL: it is text */
	struct document *document;
	int (*add_table)(struct document *document, const struct table *table);
	bool is_terminal;
	bool has_colours; /* a terminal that has them, and NO_COLOR is not set */
	size_t columns;   /* when it is no terminal: what COLUMNS says, or 100 */
	size_t rows;      /* of a terminal */
};

void screen_init(struct screen *screen, FILE *file);

/* A table, on a terminal no wider than it. As table_print(). */
int screen_print_table(const struct screen *screen, const struct table *table);

#endif
