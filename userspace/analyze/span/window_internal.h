/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the parts of span_window.h. */
#ifndef WINDOW_INTERNAL_H
#define WINDOW_INTERNAL_H

#include "analyze/span/span_window.h"

#define FINDER_SHARE 4 /* a quarter of the budget is the finder's */

/* Counts what is about to be kept; false: there is no room for it. */
bool window_take(struct span_window *window, size_t bytes);

/* Room for one more in an array; returns where it is, or NULL: no memory. */
void *window_one_more(void **array, size_t *cnt, size_t *size, size_t bytes);

/* Puts the string into the window's pool. 0 or -ENOMEM. */
int window_own(struct span_window *window, struct txtrace_string *string);

/* From the linked stays to the places. 0 or -ENOMEM. */
int window_make_places(struct span_window *window);

#endif
