/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A span that wants a CPU and does not get it: a second process spins on the same one. The span goes on until
 * the kernel says that its thread has waited 5 ms for the CPU (run_delay), so it was runnable for as long,
 * whoever else is on the machine.
 */
#include <sched.h>
#include <sys/wait.h>

#include "truth.h"

#define ASKED_NS (5 * NS_PER_MS)

/* Both onto one CPU: the last that we may use, as the first is usually the busiest. */
static void pin_to_one_cpu(void)
{
	cpu_set_t allowed, one;

	CPU_ZERO(&one);
	must(!sched_getaffinity(0, sizeof(allowed), &allowed), "cannot ask for the CPUs");
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && !CPU_COUNT(&one); cpu--)
		if (CPU_ISSET(cpu, &allowed))
			CPU_SET(cpu, &one);
	must(!sched_setaffinity(0, sizeof(one), &one), "cannot pin to a CPU");
}

static pid_t start_spinner(void)
{
	pid_t spinner = fork();

	must(spinner >= 0, "cannot fork");
	if (spinner)
		return spinner;
	end_with_parent(SIGKILL);
	for (volatile uint64_t turns = 0;; turns++)
		;
}

static void compute_until_starved(struct witness *witness)
{
	uint64_t end_ns = witness_run_delay_ns(witness) + ASKED_NS;

	while (witness_run_delay_ns(witness) < end_ns)
		spin_cpu_ns(witness, NS_PER_MS / 10);
}

int main(int argc, char **argv)
{
	struct truth_options options =
		truth_options_parse("starved: a span that shares its CPU with a spinner", argc, argv);
	struct truth *truths = truths_new(options.repeat_cnt);
	struct witness witness;

	pin_to_one_cpu();
	witness_init(&witness);
	truth_start(&options);
	pid_t spinner = start_spinner();
	for (uint64_t i = 0; i < options.repeat_cnt; i++) {
		truths[i].starved_ns = ASKED_NS;
		WITNESSED(&truths[i], &witness, "starved", compute_until_starved(&witness));
	}
	kill(spinner, SIGKILL);
	waitpid(spinner, NULL, 0);
	truths_print(truths, options.repeat_cnt);
	free(truths);
	return 0;
}
