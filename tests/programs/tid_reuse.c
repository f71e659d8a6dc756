/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tid that is used again, by the same process: a thread exits inside a span, and the next one gets its
 * number (asked for by the kernel's ns_last_pid, which only root may write; as often as it takes, since
 * others fork, too). The first thread's span is not the second one's, and each has its own account.
 */
#include "truth.h"

#define WORK_NS (1 * NS_PER_MS)

struct turn {
	struct truth *left; /* the span that is left by the exit of its thread; NULL: none */
	struct truth *own;
	uint32_t tid;
};

static void *run_turn(void *argument)
{
	struct turn *turn = argument;
	struct witness witness;

	witness_init(&witness);
	turn->tid = witness.tid;
	WITNESSED(turn->own, &witness, "own", spin_cpu_ns(&witness, WORK_NS));
	if (turn->left) {
		struct stay *stay = truth_add_stay(turn->left, &witness);

		stay->entering = witness_read(&witness);
		TXTRACE_ENTER(turn->left->id);
		stay->entered = witness_read(&witness);
		spin_cpu_ns(&witness, WORK_NS);
		stay->leaving = witness_read(&witness);
	}
	witness_release(&witness);
	return NULL;
}

static void run_thread(struct turn *turn)
{
	pthread_t thread;

	start_thread(&thread, run_turn, turn);
	pthread_join(thread, NULL);
	if (turn->left)
		stay_ended_with_thread(&turn->left->stays[0]);
}

/* The next task that anybody makes gets this tid, or the next free one. */
static void ask_for_tid(uint32_t tid)
{
	FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");

	must(file && fprintf(file, "%u", tid - 1) > 0 && !fclose(file),
	     "cannot write /proc/sys/kernel/ns_last_pid");
}

/* True: both threads had the same tid. */
static bool use_twice(struct truth *truths)
{
	struct turn first = { .left = &truths[0], .own = &truths[1] }, second = { .own = &truths[2] };

	truths[0].label = "left";
	TRUTH_EDGE(truths[0].begin_ns, truths[0].id = TXTRACE_BEGIN_DETACHED("left", 0));
	run_thread(&first);
	ask_for_tid(first.tid);
	run_thread(&second);
	TRUTH_EDGE(truths[0].end_ns, TXTRACE_END(truths[0].id));
	return first.tid == second.tid;
}

#define TRY_MAX 1000

int main(int argc, char **argv)
{
	struct truth_options options = truth_options_parse("tid_reuse: a tid that is used again", argc, argv);
	struct truth *truths = truths_new(3 * TRY_MAX);
	uint64_t reuse_cnt = 0, try_cnt = 0;

	truth_start(&options);
	while (reuse_cnt < options.repeat_cnt && try_cnt < TRY_MAX)
		reuse_cnt += use_twice(&truths[3 * try_cnt++]);
	truths_print(truths, 3 * try_cnt);
	free(truths);
	errno = 0;
	must(reuse_cnt == options.repeat_cnt, "the kernel gave no tid twice");
	return 0;
}
