/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The N spans with the most of something: wall time, blocked time, … Memory
 * follows N, not the log. Strings are copied, 4096 bytes of each at most.
 */
#ifndef SPAN_TOP_H
#define SPAN_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "txtrace/log.h"

/*
 * Names of what spans can be sorted by: those of enum span_value, and "begin"
 * (the earliest first). NULL behind the last; the index is the `sort` below.
 */
const char *span_top_sort(size_t sort);

struct span_top;

struct span_top *span_top_new(size_t limit, unsigned int sort); /* NULL: no memory, or no such sort */
void span_top_free(struct span_top *top);

/* thread_name: of the thread that began it, as it was called then; may be empty. 0 or -ENOMEM. */
int span_top_add(struct span_top *top, const struct txtrace_span *span, struct txtrace_string thread_name);

/*
 * Puts what is held in order, the first first; then span_top_get() can be
 * asked, and nothing be added any more.
 */
void span_top_finish(struct span_top *top);
size_t span_top_count(const struct span_top *top);
const struct txtrace_span *span_top_get(const struct span_top *top, size_t idx);
struct txtrace_string span_top_thread_name(const struct span_top *top, size_t idx);

#endif
