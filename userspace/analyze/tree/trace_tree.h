/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans of one trace in the order of their tree, across processes: a span
 * is below the one whose id its program, or a header that came in, named.
 *
 *	struct trace_row *rows = calloc(cnt, sizeof(*rows));    span and place of each, the earliest first
 *
 *	err = trace_tree_order(&rows, cnt);
 */
#ifndef TRACE_TREE_H
#define TRACE_TREE_H

#include <stddef.h>

#include "analyze/trace_ids.h"
#include "txtrace/log.h"

#define TRACE_NO_ROW SIZE_MAX

struct trace_row {
	const struct txtrace_span *span;
	struct txtrace_string thread_name;
	struct trace_place place;
	size_t parent; /* TRACE_NO_ROW: it has none, or it is not here */
	unsigned int depth;
};

/*
 * *rows, from malloc, are replaced by those in order: each before what is below
 * it, and what has the same parent by its begin. Parents in a circle, which only
 * a forged log has, end where they meet themselves. 0 or -ENOMEM.
 */
int trace_tree_order(struct trace_row **rows, size_t cnt);

#endif
