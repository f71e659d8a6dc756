/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Coroutines with stacks of 16 KiB, that two threads carry on in turn: none stays with a thread. Each is one
 * span `coroutine`, in which the threads are while they carry it on, with a child `step` for each time; it is
 * left and entered in the midst of a step, so that a step begins on one thread and ends on the other.
 */
#include <pthread.h>
#include <stdio.h>
#include <ucontext.h>

#include "shared_memory.h"
#include "truth.h"

#define STACK_BYTES (16 << 10)
#define COROUTINE_MAX 1000

struct coroutine {
	ucontext_t itself;
	ucontext_t *back; /* of the thread that carries it on */
	txtrace_span_t span;
	uint64_t step_cnt;
	bool is_over;
	char stack[STACK_BYTES] __attribute__((aligned(16)));
};

static struct coroutine *coroutines;
static uint64_t coroutine_cnt = 50, step_cnt = 20;
static pthread_barrier_t turn;

static void run_coroutine(unsigned int number)
{
	struct coroutine *coroutine = &coroutines[number];

	for (uint64_t i = 0; i < coroutine->step_cnt; i++) {
		txtrace_span_t step = TXTRACE_BEGIN_CHILD("step", coroutine->span);

		TXTRACE_TAG(step, "a tag that is longer than one piece of it");
		swapcontext(&coroutine->itself, coroutine->back);
		TXTRACE_ATTR(step, "number", (int)i);
		TXTRACE_END(step);
	}
	coroutine->is_over = true;
	swapcontext(&coroutine->itself, coroutine->back);
}

static void carry_on(struct coroutine *coroutine)
{
	ucontext_t here;

	if (coroutine->is_over)
		return;
	coroutine->back = &here;
	TXTRACE_ENTER(coroutine->span);
	swapcontext(&here, &coroutine->itself);
	TXTRACE_EXIT(coroutine->span);
	if (coroutine->is_over)
		TXTRACE_END(coroutine->span);
}

/* The one has those with even numbers, the other the odd ones; then the other way round. */
static void *carry_on_half(void *odd)
{
	for (uint64_t round = 0; round <= step_cnt; round++) {
		for (uint64_t i = (round + (odd != NULL)) % 2; i < coroutine_cnt; i += 2)
			carry_on(&coroutines[i]);
		pthread_barrier_wait(&turn);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct truth_options truth = TRUTH_OPTIONS_DEFAULT;
	const struct option_spec specs[] = {
		TRUTH_OPTION_SPECS(&truth),
		{ .name = "count",
		  .help = "coroutines",
		  .count = &coroutine_cnt,
		  .min = 1,
		  .max = COROUTINE_MAX },
		{ .name = "steps", .help = "of each", .count = &step_cnt, .min = 1, .max = 10000 },
	};
	pthread_t other;

	options_parse(specs, sizeof(specs) / sizeof(specs[0]),
		      "coroutines: spans that go from thread to thread", argc, argv);
	truth_start(&truth);
	wait_for_memory();
	coroutines = calloc(coroutine_cnt, sizeof(*coroutines));
	must(coroutines, "no memory");
	for (uint64_t i = 0; i < coroutine_cnt; i++) {
		coroutines[i].step_cnt = step_cnt;
		coroutines[i].span = TXTRACE_BEGIN_DETACHED("coroutine", 0);
		getcontext(&coroutines[i].itself);
		coroutines[i].itself.uc_stack.ss_sp = coroutines[i].stack;
		coroutines[i].itself.uc_stack.ss_size = STACK_BYTES;
		makecontext(&coroutines[i].itself, (void (*)(void))run_coroutine, 1, (unsigned int)i);
	}
	pthread_barrier_init(&turn, NULL, 2);
	must(!pthread_create(&other, NULL, carry_on_half, &turn), "no thread can be made");
	carry_on_half(NULL);
	pthread_join(other, NULL);
	free(coroutines);
	return 0;
}
