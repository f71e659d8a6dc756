/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A flame graph as one SVG file that needs nothing else, and as folded stacks:
 * "label;label;label ns". The roots are at the top. The file is readable
 * without its script, which adds zooming and searching. Labels may be any
 * bytes.
 */
#ifndef FLAME_SVG_H
#define FLAME_SVG_H

#include <stdio.h>

#include "analyze/tree/flame_rows.h"

/* title: UTF-8 without control characters. 0 or -ENOMEM; write errors stay in the file. */
int flame_svg(FILE *file, const struct flame_rows *rows, const struct span_tree *tree, const char *title,
	      const char *weight);
int flame_folded(FILE *file, const struct flame_rows *rows, const struct span_tree *tree);

#endif
