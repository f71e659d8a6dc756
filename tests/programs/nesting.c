/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that name no parent, in two functions that know nothing of each other: each finds the one that its
 * thread is in. And the ways out of that.
 *
 *	outer ──────────────────────────────   a function's scoped span
 *	   ├ inner: computes                   another function's, twice
 *	   ├ inner: sleeps, and deep in it
 *	   ├ apart: a root, though in outer    TXTRACE_SPAN_ROOT
 *	   │   └ in-apart
 *	   ├ zero: below span 0, which is none TXTRACE_BEGIN_CHILD(…, 0)
 *	   └ named: below deep's id, which has ended
 *	job: detached, below 0; entered within outer, and has in-job
 *	order: a key, with in-order
 *
 * --sample prints which of the spans belong together instead: 200 rounds of one outer and two inner.
 */
#include "truth.h"

enum { ROUND_CNT = 200 };

static void inner(struct witness *witness, uint64_t spin_ns, uint64_t asked_ns)
{
	TXTRACE_SPAN("inner");

	if (spin_ns)
		spin_cpu_ns(witness, spin_ns);
	if (asked_ns) {
		TXTRACE_SPAN("deep");
		sleep_ns(asked_ns);
	}
}

static void be_apart(struct witness *witness)
{
	TXTRACE_SPAN_ROOT("apart");

	spin_cpu_ns(witness, NS_PER_MS / 2);
	{
		TXTRACE_SPAN("in-apart");
		sleep_ns(NS_PER_MS);
	}
}

static void work_on(txtrace_span_t job, struct witness *witness)
{
	TXTRACE_ENTER(job);
	{
		TXTRACE_SPAN("in-job");
		spin_cpu_ns(witness, NS_PER_MS / 2);
	}
	TXTRACE_EXIT(job);
	TXTRACE_END(job);
}

static void work_on_order(struct witness *witness)
{
	TXTRACE_KEY_BEGIN("order", "o-1", 3);
	{
		TXTRACE_SPAN("in-order");
		spin_cpu_ns(witness, NS_PER_MS / 2);
	}
	TXTRACE_KEY_END("o-1", 3);
}

static void outer(struct witness *witness)
{
	txtrace_span_t zero, root, named;
	TXTRACE_SPAN_AS(all, "outer");

	inner(witness, 2 * NS_PER_MS, 0);
	inner(witness, 0, 2 * NS_PER_MS);
	be_apart(witness);
	zero = TXTRACE_BEGIN_CHILD("zero", 0);
	TXTRACE_END(zero);
	root = TXTRACE_BEGIN_ROOT("root");
	named = TXTRACE_BEGIN_CHILD("named", all);
	TXTRACE_END(root);
	TXTRACE_END(named);
	work_on(TXTRACE_BEGIN_DETACHED("job", 0), witness);
	work_on_order(witness);
}

static void outer_of_sample(struct witness *witness)
{
	TXTRACE_SPAN("outer");

	for (int i = 0; i < 2; i++) {
		TXTRACE_SPAN("inner");
		spin_cpu_ns(witness, NS_PER_MS / 50);
	}
}

int main(int argc, char **argv)
{
	bool is_sample = argc > 1 && strcmp(argv[argc - 1], "--sample") == 0;
	struct truth_options options =
		truth_options_parse("nesting: spans within each other that name no parent", argc - is_sample,
				    argv);
	struct witness witness;

	witness_init(&witness);
	truth_start(&options);
	for (uint64_t i = 0; i < (is_sample ? ROUND_CNT : options.repeat_cnt); i++) {
		if (is_sample)
			outer_of_sample(&witness);
		else
			outer(&witness);
	}
	return 0;
}
