/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * id_signals: a signal handler makes ids between any two instructions of the making of another, on a thread
 * that has no block of ids yet, in the middle of a block and at its end. Exit status 0: no id came twice.
 * x86-64 only: the trap flag makes a signal of every instruction.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

#include "id_set.h"
#include "txtrace.h"

#define TRAP_FLAG 0x100
#define IDS_PER_BLOCK 4096
#define IDS_PER_SIGNAL 3
#define ID_MAX 1000000

static struct steps {
	uint64_t ids[ID_MAX];
	size_t id_cnt;
	size_t step_cnt;
	int is_stepping;
} steps;

static void make_ids(size_t id_cnt)
{
	while (id_cnt-- && steps.id_cnt < ID_MAX) {
		txtrace_span_t id = TXTRACE_BEGIN("made");

		steps.ids[steps.id_cnt++] = id;
	}
}

static void on_step(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	if (!steps.is_stepping) {
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	steps.step_cnt++;
	make_ids(IDS_PER_SIGNAL);
}

static void on_start(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static uint64_t make_id_in_steps(void)
{
	uint64_t id;

	steps.is_stepping = 1;
	raise(SIGUSR1);
	id = TXTRACE_BEGIN("interrupted");
	steps.is_stepping = 0;
	return id;
}

static void keep(uint64_t id)
{
	steps.ids[steps.id_cnt++] = id;
}

static void *run(void *argument)
{
	size_t i;

	(void)argument;
	keep(make_id_in_steps()); /* the first id of this thread */
	for (i = 0; i < IDS_PER_BLOCK / 32; i++) {
		make_ids(31); /* at some turn, an end of the block falls into the steps */
		keep(make_id_in_steps());
	}
	return NULL;
}

int main(void)
{
	struct sigaction action;
	pthread_t thread;
	int i;

	memset(&action, 0, sizeof(action));
	action.sa_flags = SA_SIGINFO;
	action.sa_sigaction = on_step;
	sigaction(SIGTRAP, &action, NULL);
	action.sa_sigaction = on_start;
	sigaction(SIGUSR1, &action, NULL);
	txtrace_switches = 1;
	for (i = 0; i < 2; i++) {
		if (pthread_create(&thread, NULL, run, NULL) != 0)
			return 2;
		pthread_join(thread, NULL);
	}
	if (steps.step_cnt < 1000 || steps.id_cnt == ID_MAX) {
		printf("# %zu signals, %zu ids\n", steps.step_cnt, steps.id_cnt);
		return 2;
	}
	return !ids_are_unique("with signals between the instructions", steps.ids, steps.id_cnt);
}
