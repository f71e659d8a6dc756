/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the time of all spans went, as a profiler's samples: a stack is the
 * labels of a span and its parents, below them the functions where the code
 * was, if stacks were recorded, or what it was blocked for. Records in, samples
 * out, when all records have come: docs/formats.md, "pprof".
 *
 * A span's ledger counts without what its children on its thread were charged
 * with, so that the values of all samples add up. Lower bounds are left out.
 *
 * Memory: SPAN_TREE_MEMORY_BYTES, and twice that for names of functions.
 */
#ifndef PATH_PROFILE_H
#define PATH_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "export/export.h"
#include "txtrace/log.h"

enum path_value {
	PATH_ON_CPU = 0,
	PATH_RUNNABLE = 1,
	PATH_BLOCKED = 2,
	PATH_DETACHED = 3,
	PATH_UNKNOWN = 4,
	PATH_INTERRUPT = 5,
	PATH_STOLEN = 6,
	PATH_SPANS = 7, /* a count; all others are ns */
	PATH_VALUE_CNT = 8,
};

extern const char *const path_value_names[PATH_VALUE_CNT]; /* "on_cpu", …, "spans" */

struct path_sample {
	const struct txtrace_string *frames; /* the outermost first; any bytes */
	size_t frame_cnt;
	size_t span_cnt;    /* so many of them, the first ones, are labels of spans */
	const char *reason; /* "lock", …; NULL: it is about no block, or stacks were recorded instead */
	uint64_t values[PATH_VALUE_CNT];
};

struct path_profile;

struct path_profile *path_profile_new(void); /* NULL: no memory */
void path_profile_free(struct path_profile *profile); /* NULL is allowed */

/* Callbacks of an export_format whose state begins with a pointer to the profile. */
int path_profile_span(void *state, const struct txtrace_span *span);
int path_profile_stay(void *state, const struct txtrace_stay *stay);
int path_profile_overlap(void *state, const struct txtrace_overlap *overlap);
int path_profile_stack(void *state, const struct txtrace_stack *stack);
int path_profile_frames(void *state, const struct txtrace_frames *frames);
int path_profile_loss(void *state, const struct txtrace_loss *loss);
int path_profile_dropped(void *state, const struct txtrace_dropped *dropped);
int path_profile_damage(void *state, const struct txtrace_damage *damage);
void path_profile_tell(const void *state, export_say *say, void *context);
/* The same of losses and damage, for a format that has no place for them. */
void path_profile_tell_missing(const void *state, export_say *say, void *context);

/*
 * At the end, when no more records come: calls sample() for each, until it
 * returns something but 0, which is the result; the same ones each time. 0 or a
 * negative errno.
 */
int path_profile_walk(struct path_profile *profile,
		      int (*sample)(void *context, const struct path_sample *sample), void *context);

#endif
