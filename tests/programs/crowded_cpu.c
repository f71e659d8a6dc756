/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that take one CPU from each other in the middle of a BPF program: one marks spans without a pause,
 * the others sleep for a moment, wake up, get the CPU at once and mark one. Each kind has its label. Prints
 * how many spans of each there are. Or (--do rename) they take names, instead of marking spans: a tracepoint
 * instead of a probe.
 */
#include <sched.h>

#include "truth.h"

#define SLEEPER_CNT 3
#define SLEEP_NS 50000

struct crowd {
	uint64_t step_cnt;
	const char *what;
	atomic_uint_least64_t done_cnt;
};

static void rename_itself(void)
{
	prctl(PR_SET_NAME, "crowd");
}

static void *sleep_and_act(void *argument)
{
	struct crowd *crowd = argument;
	bool renames = !strcmp(crowd->what, "rename");

	for (uint64_t i = 0; i < crowd->step_cnt; i++) {
		sleep_ns(SLEEP_NS);
		if (renames) {
			rename_itself();
		} else {
			txtrace_span_t span = TXTRACE_BEGIN("sleeper");
			TXTRACE_END(span);
		}
	}
	atomic_fetch_add(&crowd->done_cnt, 1);
	return NULL;
}

static uint64_t act_without_pause(struct crowd *crowd)
{
	bool renames = !strcmp(crowd->what, "rename");
	uint64_t cnt = 0;

	for (; atomic_load(&crowd->done_cnt) < SLEEPER_CNT; cnt++) {
		if (renames) {
			rename_itself();
		} else {
			txtrace_span_t span = TXTRACE_BEGIN("busy");
			TXTRACE_END(span);
		}
	}
	return cnt;
}

static void share_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	must(!sched_setaffinity(0, sizeof(cpus), &cpus), "cannot pin to a CPU");
}

static void print_count(const char *label, uint64_t cnt)
{
	printf("{\"type\":\"count\",\"label\":\"%s\",\"pid\":%d,\"cnt\":%llu}\n", label, getpid(),
	       (unsigned long long)cnt);
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	struct crowd crowd = { .step_cnt = 2000, .what = "mark" };
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "steps",
		  .help = "of each thread that sleeps",
		  .count = &crowd.step_cnt,
		  .min = 1,
		  .max = 1000000 },
		{ .name = "do", .help = "mark or rename", .text = &crowd.what },
	};
	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "crowded_cpu: threads that take one CPU from each other", argc, argv);
	pthread_t sleepers[SLEEPER_CNT];
	uint64_t busy_cnt;

	truth_start(&options);
	share_cpu();
	for (int i = 0; i < SLEEPER_CNT; i++)
		start_thread(&sleepers[i], sleep_and_act, &crowd);
	busy_cnt = act_without_pause(&crowd);
	for (int i = 0; i < SLEEPER_CNT; i++)
		pthread_join(sleepers[i], NULL);
	if (!strcmp(crowd.what, "rename")) {
		printf("{\"renames\":%llu}\n", (unsigned long long)(busy_cnt + SLEEPER_CNT * crowd.step_cnt));
		return 0;
	}
	print_count("busy", busy_cnt);
	print_count("sleeper", SLEEPER_CNT * crowd.step_cnt);
	return 0;
}
