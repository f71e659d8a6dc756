/* SPDX-License-Identifier: BSD-2-Clause */
/* Where keys, tags and parents are found at a probe: from the user's terms to what the BPF programs read. */
#ifndef FOREIGN_SITES_H
#define FOREIGN_SITES_H

#include "attach/unmodified/foreign_search.h"

/*
 * What the BPF programs have to know of a begin or an end at this place: the
 * index of the site, or a negative errno (warned about). arguments: the note's;
 * NULL: of a function.
 */
int foreign_site_make(struct foreign_search *search, size_t span_idx, bool is_end,
		      const struct span_point *point, const char *arguments);

#endif
