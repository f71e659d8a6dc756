/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A story is a function that uses macros, and what a tracer sees of it. Each is
 * run untraced, traced in each way and untraced again.
 *
 * Arguments that must not be evaluated when nobody traces are wrapped into
 * counted().
 */
#ifndef STORY_H
#define STORY_H

#include <stdio.h>
#include <string.h>

#include "probe_trap.h"
#include "txtrace.h"

struct story {
	const char *name;
	void (*run)(void);
	const char *calls;  /* as probe_trap_calls() */
	int evaluation_cnt; /* of counted arguments, when traced */
};

static int story_evaluation_cnt;

static void count_evaluation(void)
{
	story_evaluation_cnt++;
}

#define counted(value) (count_evaluation(), (value))

static const char *const way_names[] = { "untraced", "with probes", "with the probe of the ring",
					 "in the ring" };

static int story_is_true(const struct story *story, enum probe_trap_way way)
{
	int is_traced = way != PROBE_TRAP_NOT;
	const char *calls = is_traced ? story->calls : "";
	int evaluation_cnt = is_traced ? story->evaluation_cnt : 0;
	const char *seen;

	story_evaluation_cnt = 0;
	if (is_traced)
		probe_trap_attach(way);
	story->run();
	if (is_traced)
		probe_trap_detach();
	seen = is_traced ? probe_trap_calls() : "";
	if (strcmp(seen, calls) == 0 && story_evaluation_cnt == evaluation_cnt)
		return 1;
	printf("# \"%s\", %s: expected\n%s# %d evaluations; saw\n%s# %d evaluations\n", story->name,
	       way_names[way], calls, evaluation_cnt, seen, story_evaluation_cnt);
	return 0;
}

/* How many of the stories are not true. */
static int check_stories(const struct story *stories, size_t story_cnt)
{
	int false_cnt = 0;
	size_t i;

	for (i = 0; i < story_cnt; i++) {
		if (!story_is_true(&stories[i], PROBE_TRAP_NOT) ||
		    (TXTRACE_IS_COMPILED_IN && (!story_is_true(&stories[i], PROBE_TRAP_PROBES) ||
						!story_is_true(&stories[i], PROBE_TRAP_RING_PROBE) ||
						!story_is_true(&stories[i], PROBE_TRAP_RING))) ||
		    !story_is_true(&stories[i], PROBE_TRAP_NOT))
			false_cnt++;
	}
	return false_cnt;
}

#endif
