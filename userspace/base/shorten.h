/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Texts made to fit: what does not is left out in the middle,
 * "node::Inter…::Start", and different texts stay different. Texts are UTF-8
 * that is fit for a terminal.
 */
#ifndef SHORTEN_H
#define SHORTEN_H

#include "base/text.h"

/*
 * Appends what fits into so many columns; of a text that is wider, the last
 * tail_columns and as much of its begin. tail_columns < columns.
 */
void text_append_shortened(struct text *text, const char *string, size_t columns, size_t tail_columns);

/*
 * How to shorten all of these: the least number of columns, no less than
 * `columns`, with a tail for which no two different ones become the same. 0 or
 * -ENOMEM.
 */
int shorten_choose(const char *const *strings, size_t cnt, size_t *columns, size_t *tail_columns);

#endif
