/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that are older than the tracer: they are begun while a first tracer records, and go on when it has
 * gone and a second one comes. What the second one sees of them, it cannot know the beginning of. It says how
 * often such a thing happens; what the program begins under the second tracer is exact.
 *
 * --output has what the second tracer must record. To the first one, all of the old spans are unfinished.
 */
#include "truth.h"

#define PLACE_NS (2 * NS_PER_MS)
#define NEW_CNT 5 /* any one of them may lose its CPU between setting its timer and going to sleep */

static void wait_until_untraced(void)
{
	while (TXTRACE_ENABLED())
		usleep(5000);
}

struct old {
	txtrace_span_t outer, inner, detached;
};

static void begin_old(struct old *old)
{
	old->outer = TXTRACE_BEGIN("old");
	old->inner = TXTRACE_BEGIN_CHILD("old", old->outer);
	old->detached = TXTRACE_BEGIN_DETACHED("old", old->outer);
	TXTRACE_KEY_BEGIN("old", "old", 3);
}

/* New spans are begun and ended among them; their parents are old ones. */
static void go_on_with_old(const struct old *old, struct witness *witness, struct truth truths[NEW_CNT])
{
	TXTRACE_ENTER(old->detached);
	TXTRACE_TAG(old->outer, "too=early");
	TXTRACE_KEY_ENTER("old", 3);
	WITNESSED_CHILD(&truths[0], witness, "new", old->inner, {
		spin_cpu_ns(witness, PLACE_NS);
		TXTRACE_END(old->inner);
		sleep_ns(PLACE_NS);
	});
	for (unsigned i = 1; i < NEW_CNT; i++)
		WITNESSED_CHILD(&truths[i], witness, "new", old->outer, sleep_ns(PLACE_NS));
	TXTRACE_KEY_EXIT("old", 3);
	TXTRACE_KEY_END("old", 3);
	TXTRACE_EXIT(old->detached);
	TXTRACE_END(old->detached);
	TXTRACE_END(old->outer);
}

int main(int argc, char **argv)
{
	struct truth_options options =
		truth_options_parse("two_tracers: spans that are older than the tracer", argc, argv);
	struct truth truths[NEW_CNT];
	struct witness witness;
	struct old old;

	for (unsigned i = 0; i < NEW_CNT; i++)
		truths[i] = (struct truth){ .blocked = "sleep", .asked_ns = PLACE_NS };
	truth_start(&options);
	witness_init(&witness);
	begin_old(&old);
	fprintf(stderr, "the old spans have begun\n");
	wait_until_untraced();
	wait_until_traced(options.wait_traced_s);
	go_on_with_old(&old, &witness, truths);
	witness_release(&witness);
	printf("{\"type\":\"anomalies\",\"counts\":{\"enter_unknown\":2,\"exit_unknown\":2,\"end_unknown\":4,"
	       "\"mark_unknown\":1,\"exit_unentered\":0,"
	       "\"begin_twice\":0,\"unfinished\":0}}\n");
	printf("{\"type\":\"count\",\"label\":\"old\",\"pid\":%d,\"cnt\":0}\n", getpid());
	truths_print(truths, NEW_CNT);
	return 0;
}
