/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that change hands between a thread A and a thread B, through a mailbox:
 *
 *	"queued"    A begins it detached; it lies in the mailbox for 3 ms; B enters it, works 2 ms and ends it
 *	"passed"    A begins it, works 2 ms and exits it; 3 ms in the mailbox; B enters it, works, exits it; 3
 *	            ms; A enters it, works, ends it
 *	"orphaned"  A begins it, works 2 ms and exits it; 3 ms later B ends it without ever having entered it
 *
 * While a span lies in the mailbox nobody works for it: detached. What A and B do meanwhile is not its
 * business.
 */
#include "truth.h"

#define WORK_NS (2 * NS_PER_MS)
#define QUEUED_NS (3 * NS_PER_MS)

struct scene {
	atomic_uint_least64_t put_cnt;   /* A has put so many spans into the mailbox */
	atomic_uint_least64_t taken_cnt; /* B is done with so many */
	struct truth *in_mailbox;
	uint64_t repeat_cnt;
	struct truth *truths; /* three for each round */
};

#define WORK_FOR(truth, witness, enter, leave) \
	TRUTH_STAY(truth, witness, enter, spin_cpu_ns(witness, WORK_NS), leave)

static void put_and_wait(struct scene *scene, struct truth *truth)
{
	uint64_t turn = atomic_load(&scene->taken_cnt) + 1;

	scene->in_mailbox = truth;
	atomic_store(&scene->put_cnt, turn);
	wait_until_count(&scene->taken_cnt, turn);
}

static void queue_one(struct scene *scene, struct truth *truth)
{
	truth->label = "queued";
	TRUTH_EDGE(truth->begin_ns, truth->id = TXTRACE_BEGIN_DETACHED("queued", 0));
	put_and_wait(scene, truth);
}

static void pass_one(struct scene *scene, struct witness *witness, struct truth *truth)
{
	truth->label = "passed";
	WORK_FOR(truth, witness, truth->id = TXTRACE_BEGIN("passed"), TXTRACE_EXIT(truth->id));
	put_and_wait(scene, truth);
	sleep_ns(QUEUED_NS);
	WORK_FOR(truth, witness, TXTRACE_ENTER(truth->id), TXTRACE_END(truth->id));
}

static void orphan_one(struct scene *scene, struct witness *witness, struct truth *truth)
{
	truth->label = "orphaned";
	WORK_FOR(truth, witness, truth->id = TXTRACE_BEGIN("orphaned"), TXTRACE_EXIT(truth->id));
	put_and_wait(scene, truth);
}

static void *run_b(void *argument)
{
	struct scene *scene = argument;
	struct witness witness;

	witness_init(&witness);
	for (uint64_t turn = 1; turn <= 3 * scene->repeat_cnt; turn++) {
		wait_until_count(&scene->put_cnt, turn);
		struct truth *truth = scene->in_mailbox;
		sleep_ns(QUEUED_NS);
		if (!strcmp(truth->label, "queued"))
			WORK_FOR(truth, &witness, TXTRACE_ENTER(truth->id), TXTRACE_END(truth->id));
		else if (!strcmp(truth->label, "passed"))
			WORK_FOR(truth, &witness, TXTRACE_ENTER(truth->id), TXTRACE_EXIT(truth->id));
		else
			TRUTH_EDGE(truth->end_ns, TXTRACE_END(truth->id));
		atomic_store(&scene->taken_cnt, turn);
	}
	witness_release(&witness);
	return NULL;
}

int main(int argc, char **argv)
{
	struct truth_options options = truth_options_parse("handoff: spans that move between two threads",
							   argc, argv);
	struct scene scene = { .repeat_cnt = options.repeat_cnt,
			       .truths = truths_new(3 * options.repeat_cnt) };
	struct witness witness;
	pthread_t b;

	witness_init(&witness);
	truth_start(&options);
	start_thread(&b, run_b, &scene);
	for (uint64_t i = 0; i < options.repeat_cnt; i++) {
		queue_one(&scene, &scene.truths[3 * i]);
		pass_one(&scene, &witness, &scene.truths[3 * i + 1]);
		orphan_one(&scene, &witness, &scene.truths[3 * i + 2]);
	}
	pthread_join(b, NULL);
	truths_print(scene.truths, 3 * options.repeat_cnt);
	free(scene.truths);
	return 0;
}
