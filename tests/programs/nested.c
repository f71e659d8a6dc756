/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several spans on one thread at once. What a child does counts for its parent too, and where two spans
 * overlap it counts for both.
 *
 *	family ────────────────────────────────
 *	   ├ eldest: computes    └ youngest: sleeps, in a block of its own
 *	   └ middle: computes, and its child grandchild sleeps
 *
 *	left ─────────────┤        begins, right begins, left ends, right ends
 *	      right ────────────┤     its parent is left, though it outlives that
 */
#include "truth.h"

enum { FAMILY, ELDEST, MIDDLE, GRANDCHILD, YOUNGEST, LEFT, RIGHT, ROLE_CNT };

/* It names no parent: its parent is the span that the thread is in. */
static void sleep_in_block(struct truth *truth, struct witness *witness, txtrace_span_t parent)
{
	struct stay *stay = truth_add_stay(truth, witness);

	truth->label = "youngest";
	truth->parent = parent;
	truth->is_scoped = true;
	stay->entering = witness_read(witness);
	{
		TXTRACE_SPAN("youngest");
		stay->entered = witness_read(witness);
		sleep_ns(NS_PER_MS);
		stay->leaving = witness_read(witness);
	}
	stay->left = witness_read(witness);
}

static void be_middle(struct truth *truths, struct witness *witness)
{
	spin_cpu_ns(witness, NS_PER_MS);
	WITNESSED_CHILD(&truths[GRANDCHILD], witness, "grandchild", truths[MIDDLE].id,
			sleep_ns(2 * NS_PER_MS));
}

static void be_family(struct truth *truths, struct witness *witness)
{
	txtrace_span_t family = truths[FAMILY].id;

	WITNESSED_CHILD(&truths[ELDEST], witness, "eldest", family, spin_cpu_ns(witness, 2 * NS_PER_MS));
	WITNESSED_CHILD(&truths[MIDDLE], witness, "middle", family, be_middle(truths, witness));
	sleep_in_block(&truths[YOUNGEST], witness, family);
}

static void overlap(struct truth *truths, struct witness *witness)
{
	struct truth *left = &truths[LEFT], *right = &truths[RIGHT];
	struct stay *in_left = truth_add_stay(left, witness), *in_right = truth_add_stay(right, witness);

	left->label = "left";
	right->label = "right";
	in_left->entering = witness_read(witness);
	left->id = TXTRACE_BEGIN("left");
	in_left->entered = witness_read(witness);
	spin_cpu_ns(witness, NS_PER_MS);
	in_right->entering = witness_read(witness);
	right->id = TXTRACE_BEGIN("right");
	in_right->entered = witness_read(witness);
	right->parent = left->id;
	sleep_ns(2 * NS_PER_MS);
	in_left->leaving = witness_read(witness);
	TXTRACE_END(left->id);
	in_left->left = witness_read(witness);
	spin_cpu_ns(witness, NS_PER_MS);
	in_right->leaving = witness_read(witness);
	TXTRACE_END(right->id);
	in_right->left = witness_read(witness);
}

static void expect_sleep(struct truth *truth, uint64_t ms)
{
	truth->blocked = "sleep";
	truth->asked_ns = ms * NS_PER_MS;
}

int main(int argc, char **argv)
{
	struct truth_options options = truth_options_parse("nested: spans within and across each other", argc,
							   argv);
	struct truth *all = truths_new(options.repeat_cnt * ROLE_CNT);
	struct witness witness;

	witness_init(&witness);
	truth_start(&options);
	for (uint64_t i = 0; i < options.repeat_cnt; i++) {
		struct truth *truths = &all[i * ROLE_CNT];
		expect_sleep(&truths[FAMILY], 3);
		expect_sleep(&truths[MIDDLE], 2);
		expect_sleep(&truths[GRANDCHILD], 2);
		expect_sleep(&truths[YOUNGEST], 1);
		expect_sleep(&truths[LEFT], 2);
		expect_sleep(&truths[RIGHT], 2);
		WITNESSED(&truths[FAMILY], &witness, "family", be_family(truths, &witness));
		overlap(truths, &witness);
	}
	truths_print(all, options.repeat_cnt * ROLE_CNT);
	free(all);
	return 0;
}
