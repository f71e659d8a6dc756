/* SPDX-License-Identifier: BSD-2-Clause */
/* Both sides of a comparison beside each other: where a span's time went, by label, as bars on one scale. */
#ifndef VERDICT_SIDES_H
#define VERDICT_SIDES_H

#include "base/text.h"
#include "cli/verdict/verdict_view.h"

/* HTML: a heading and a table. */
void verdict_append_sides(struct text *text, const struct verdict_view *view);

#endif
