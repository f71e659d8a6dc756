/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One span, three threads in it at once: two compute, one sleeps. The span is charged for each of them, so
 * its work is longer than its wall time by what overlapped. The first thread begins it before, and ends it
 * after, the three have worked for it.
 */
#include "truth.h"

#define THREAD_CNT 3
#define WORK_NS (3 * NS_PER_MS)

struct scene {
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

/* Each thread fills the stay at its own place. */
static void stay_for_a_while(const struct truth *truth, struct stay *stay, struct witness *witness,
			     bool is_sleeper)
{
	stay->tid = witness->tid;
	stay->entering = witness_read(witness);
	TXTRACE_ENTER(truth->id);
	stay->entered = witness_read(witness);
	if (is_sleeper)
		sleep_ns(WORK_NS);
	else
		spin_cpu_ns(witness, WORK_NS);
	stay->leaving = witness_read(witness);
	TXTRACE_EXIT(truth->id);
	stay->left = witness_read(witness);
}

static void begin_shared(struct truth *truth)
{
	truth->label = "shared";
	truth->blocked = "sleep";
	truth->asked_ns = WORK_NS;
	truth->stay_cnt = THREAD_CNT;
	TRUTH_EDGE(truth->begin_ns, truth->id = TXTRACE_BEGIN_DETACHED("shared", 0));
}

/*
 * The kernel prepares a probe when it is first hit, under the lock of the process' memory map: three at once
 * would wait for each other there.
 */
static void warm_up(void)
{
	txtrace_span_t span = TXTRACE_BEGIN("warm-up");

	TXTRACE_EXIT(span);
	TXTRACE_ENTER(span);
	TXTRACE_END(span);
}

static void *run_member(void *argument)
{
	struct member *member = argument;
	struct scene *scene = member->scene;
	struct witness witness;

	witness_init(&witness);
	for (uint64_t i = 0; i < scene->repeat_cnt; i++) {
		struct truth *truth = &scene->truths[i];
		if (member->idx == 0)
			begin_shared(truth);
		pthread_barrier_wait(&scene->start);
		stay_for_a_while(truth, &truth->stays[member->idx], &witness, member->idx == THREAD_CNT - 1);
		pthread_barrier_wait(&scene->end);
		if (member->idx == 0)
			TRUTH_EDGE(truth->end_ns, TXTRACE_END(truth->id));
	}
	witness_release(&witness);
	return NULL;
}

int main(int argc, char **argv)
{
	struct truth_options options = truth_options_parse("shared: three threads in one span at once", argc,
							   argv);
	struct scene scene = { .repeat_cnt = options.repeat_cnt, .truths = truths_new(options.repeat_cnt) };
	struct member members[THREAD_CNT];

	pthread_barrier_init(&scene.start, NULL, THREAD_CNT);
	pthread_barrier_init(&scene.end, NULL, THREAD_CNT);
	truth_start(&options);
	warm_up();
	for (unsigned i = 0; i < THREAD_CNT; i++) {
		members[i] = (struct member){ .scene = &scene, .idx = i };
		start_thread(&members[i].thread, run_member, &members[i]);
	}
	for (unsigned i = 0; i < THREAD_CNT; i++)
		pthread_join(members[i].thread, NULL);
	truths_print(scene.truths, options.repeat_cnt);
	free(scene.truths);
	return 0;
}
