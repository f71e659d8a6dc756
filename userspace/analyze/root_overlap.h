/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For sums over all spans without a parent: what such a span has for itself. A
 * thread may be in several of them at once, and each is charged; in a sum the
 * time is that of the one that it entered last. The log says in front of a
 * span's record what of its ledger belongs to others in that way. For a call
 * tree it says the same of children.
 *
 *	root_overlap_see(&overlap, &record);                    each record, in its order
 *	span = root_overlap_take_off(&overlap, span, &alone);   a span: itself, or a copy with less
 */
#ifndef ROOT_OVERLAP_H
#define ROOT_OVERLAP_H

#include <stdbool.h>

#include "txtrace/log.h"

/* All zero: none was seen. */
struct root_overlap {
	struct txtrace_overlap last;
	bool is_known;
};

void root_overlap_see(struct root_overlap *overlap, const struct txtrace_record *record);

/* The span, or *alone, if something was said of it. Its work is less, too; its wall time stays. */
const struct txtrace_span *root_overlap_take_off(const struct root_overlap *overlap,
						 const struct txtrace_span *span, struct txtrace_span *alone);

#endif
