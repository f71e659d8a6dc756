/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that does to spans all that must not be done, in a random order, to
 * none but its own; and counts what the recorder has to count. Prints one line:
 *
 *	{"type":"anomalies","counts":{"end_unknown":n,…}}
 */
#ifndef RANDOM_MISCHIEF_H
#define RANDOM_MISCHIEF_H

#include "truth.h"

struct mischief {
	uint64_t seed;
	atomic_bool is_over;
	unsigned end_unknown, enter_unknown, exit_unknown, exit_unentered, begin_twice, mark_unknown;
};

#define MISCHIEF_KEY "mischief"

/* What is done to a span after its end. */
static inline void mischief_after_end(struct mischief *mischief, unsigned what)
{
	txtrace_span_t span = TXTRACE_BEGIN("mischief");

	TXTRACE_END(span);
	switch (what) {
	case 0:
		TXTRACE_END(span);
		mischief->end_unknown++;
		break;
	case 1:
		TXTRACE_ENTER(span);
		mischief->enter_unknown++;
		break;
	case 2:
		TXTRACE_EXIT(span);
		mischief->exit_unknown++;
		break;
	case 3:
		TXTRACE_TAG(span, "too=late");
		TXTRACE_EVENT(span, "too late");
		TXTRACE_ATTR(span, "too late", 1);
		TXTRACE_LINK(span, span, "late-by");
		mischief->mark_unknown += 4;
		break;
	}
}

/* What is done while one is open. */
static inline void mischief_inside(struct mischief *mischief, unsigned what)
{
	txtrace_span_t parent = TXTRACE_BEGIN("mischief"), child = TXTRACE_BEGIN_CHILD("mischief", parent);
	txtrace_span_t never = ~child;

	switch (what) {
	case 0: /* exits once too often */
		TXTRACE_EXIT(parent);
		TXTRACE_EXIT(parent);
		mischief->exit_unentered++;
		break;
	case 1: /* what never was */
		TXTRACE_ENTER(never);
		TXTRACE_EXIT(never);
		TXTRACE_END(never);
		mischief->enter_unknown++;
		mischief->exit_unknown++;
		mischief->end_unknown++;
		break;
	case 2: /* a parent that never was; a parent that ends first; a link to what never was */
		TXTRACE_LINK(child, never, "caused-by");
		TXTRACE_END(TXTRACE_BEGIN_CHILD("mischief", never));
		break;
	case 3: /* twice with one key */
		TXTRACE_KEY_BEGIN("mischief", MISCHIEF_KEY, 8);
		TXTRACE_KEY_BEGIN("mischief", MISCHIEF_KEY, 8);
		TXTRACE_KEY_END(MISCHIEF_KEY, 8);
		TXTRACE_KEY_END(MISCHIEF_KEY, 8);
		mischief->begin_twice++;
		mischief->end_unknown++;
		break;
	}
	TXTRACE_END(parent);
	TXTRACE_END(child);
}

static inline void *mischief_run(void *argument)
{
	struct mischief *mischief = argument;

	for (uint64_t random = mischief->seed | 1; !atomic_load(&mischief->is_over); usleep(500)) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		if (random >> 63)
			mischief_after_end(mischief, random >> 40 & 3);
		else
			mischief_inside(mischief, random >> 40 & 3);
	}
	return NULL;
}

static inline void mischief_print(const struct mischief *mischief)
{
	printf("{\"type\":\"anomalies\",\"counts\":{\"end_unknown\":%u,\"enter_unknown\":%u,\"exit_unknown\":"
	       "%u,\"exit_unentered\":%u,"
	       "\"begin_twice\":%u,\"mark_unknown\":%u,\"unfinished\":0}}\n",
	       mischief->end_unknown, mischief->enter_unknown, mischief->exit_unknown,
	       mischief->exit_unentered, mischief->begin_twice, mischief->mark_unknown);
}

#endif
