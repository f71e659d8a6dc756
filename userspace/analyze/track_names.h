/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which track the program has given to a span: the last string attribute
 * "track" before the span's own record. Spans without one are on the track of
 * their thread. Memory is bounded: of tracks that were given to spans which
 * have not come yet, the last 524,288 are known at least, and no more than
 * twice that.
 */
#ifndef TRACK_NAMES_H
#define TRACK_NAMES_H

#include <stdbool.h>

#include "txtrace/log.h"

struct track_names;

struct track_names *track_names_new(void); /* NULL: no memory */
void track_names_free(struct track_names *tracks);

/* Attributes of any kind. 0 or -ENOMEM. */
int track_names_add(struct track_names *tracks, const struct txtrace_attribute *attribute);

/*
 * False: none was given. What is known of the span is forgotten with the next
 * call of any function; *name lives as long.
 */
bool track_names_take(struct track_names *tracks, const struct txtrace_span *span,
		      struct txtrace_string *name);

/* Is it the attribute that gives a span its track? */
bool track_is_given(const struct txtrace_attribute *attribute);

#endif
