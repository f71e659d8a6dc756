/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One span, several threads in it at once: the first begins it and computes; the others enter it, one computes, one sleeps, and exit. The
 * span is charged for each of them, so its work is longer than its wall time by what overlapped. The first ends it after the others have left.
 */
#include "truth.h"

#define THREAD_CNT 3
#define WORK_NS (3 * NS_PER_MS)

struct scene {
	struct truth *truth;
	pthread_barrier_t start;
	pthread_barrier_t end;
	uint64_t repeat_cnt;
	struct truth *truths;
};

struct member {
	struct scene *scene;
	unsigned idx;
	pthread_t thread;
};

/* A stay of a thread of its own: the array is nobody's, so each has its place. */
static void stay_for_a_while(struct truth *truth, struct stay *stay, const struct witness *witness, bool is_sleeper)
{
	stay->tid = witness->tid;
	stay->entering = witness_read(witness);
	TXTRACE_ENTER(truth->id);
	stay->entered = witness_read(witness);
	if (is_sleeper)
		sleep_ns(WORK_NS);
	else
		spin_cpu_ns(WORK_NS);
	stay->leaving = witness_read(witness);
	TXTRACE_EXIT(truth->id);
	stay->left = witness_read(witness);
}

static void *run_member(void *argument)
{
	struct member *member = argument;
	struct scene *scene = member->scene;
	struct witness witness;

	witness_init(&witness);
	for (uint64_t i = 0; i < scene->repeat_cnt; i++) {
		struct truth *truth = &scene->truths[i];
		pthread_barrier_wait(&scene->start);
		stay_for_a_while(truth, &truth->stays[member->idx], &witness, member->idx == THREAD_CNT - 1);
		pthread_barrier_wait(&scene->end);
	}
	witness_release(&witness);
	return NULL;
}

/* The first thread's own stay ends when it exits, before it waits for the others: it does not work for the span while it waits. */
static void share_one(struct scene *scene, struct truth *truth, const struct witness *witness)
{
	truth->label = "shared";
	truth->blocked = "sleep";
	truth->asked_ns = WORK_NS;
	TRUTH_STAY(truth, witness, truth->id = TXTRACE_BEGIN("shared"), {
		pthread_barrier_wait(&scene->start);
		spin_cpu_ns(WORK_NS);
	}, TXTRACE_EXIT(truth->id));
	truth->stay_cnt = THREAD_CNT;
	pthread_barrier_wait(&scene->end);
	TRUTH_EDGE(truth->end_ns, TXTRACE_END(truth->id));
}

int main(int argc, char **argv)
{
	struct truth_options options = truth_options_parse("shared: three threads in one span at once", argc, argv);
	struct scene scene = { .repeat_cnt = options.repeat_cnt, .truths = truths_new(options.repeat_cnt) };
	struct member members[THREAD_CNT];
	struct witness witness;

	pthread_barrier_init(&scene.start, NULL, THREAD_CNT);
	pthread_barrier_init(&scene.end, NULL, THREAD_CNT);
	witness_init(&witness);
	wait_until_traced(options.wait_traced_s);
	for (unsigned i = 1; i < THREAD_CNT; i++) {
		members[i] = (struct member){ .scene = &scene, .idx = i };
		start_thread(&members[i].thread, run_member, &members[i]);
	}
	for (uint64_t i = 0; i < options.repeat_cnt; i++)
		share_one(&scene, &scene.truths[i], &witness);
	for (unsigned i = 1; i < THREAD_CNT; i++)
		pthread_join(members[i].thread, NULL);
	truths_print(scene.truths, options.repeat_cnt);
	free(scene.truths);
	return 0;
}
