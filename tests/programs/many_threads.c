/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that come and go: a wave of them runs at once, each makes a few short spans and ends, then the next
 * wave starts, so that thread ids are new all the time. More threads than CPUs: all three of on-CPU, runnable
 * and blocked are there.
 */
#include "truth.h"

#define SPANS_PER_THREAD 4
#define STACK_BYTES (128 << 10)

struct member {
	struct truth *truths;
	pthread_barrier_t *start;
	pthread_t thread;
};

static void compute_and_sleep(struct witness *witness)
{
	spin_cpu_ns(witness, NS_PER_MS / 2);
	sleep_ns(NS_PER_MS / 2);
}

static void *run_member(void *argument)
{
	struct member *member = argument;
	struct witness witness;

	witness_init(&witness);
	pthread_barrier_wait(member->start);
	for (unsigned i = 0; i < SPANS_PER_THREAD; i++) {
		member->truths[i].blocked = "sleep";
		member->truths[i].asked_ns = NS_PER_MS / 2;
		WITNESSED(&member->truths[i], &witness, "member", compute_and_sleep(&witness));
	}
	witness_release(&witness);
	return NULL;
}

/*
 * The kernel prepares a probe when it is first hit, and glibc maps and unmaps the stacks of threads, all
 * under the lock of the process' memory map. Many threads at once would queue up there, and tell more of that
 * than of themselves. So the probes are hit before; and small stacks are kept by glibc for the next thread.
 */
static void warm_up(void)
{
	txtrace_span_t span = TXTRACE_BEGIN("warm-up");
	pthread_attr_t attributes;

	TXTRACE_END(span);
	pthread_attr_init(&attributes);
	errno = pthread_attr_setstacksize(&attributes, STACK_BYTES);
	must(!errno, "cannot have small stacks");
	pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	uint64_t thread_cnt = 32;
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "threads", .help = "in a wave", .count = &thread_cnt, .min = 1, .max = 10000 },
	};
	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "many_threads: waves of threads with short spans", argc, argv);
	struct truth *truths = truths_new(options.repeat_cnt * thread_cnt * SPANS_PER_THREAD);
	pthread_barrier_t start;
	struct member *members = calloc(thread_cnt, sizeof(*members));

	must(members, "no memory");
	truth_start(&options);
	warm_up();
	pthread_barrier_init(&start, NULL, (unsigned)thread_cnt);
	for (uint64_t wave = 0; wave < options.repeat_cnt; wave++) {
		for (uint64_t i = 0; i < thread_cnt; i++) {
			members[i].start = &start;
			members[i].truths = &truths[(wave * thread_cnt + i) * SPANS_PER_THREAD];
			start_thread(&members[i].thread, run_member, &members[i]);
		}
		for (uint64_t i = 0; i < thread_cnt; i++)
			pthread_join(members[i].thread, NULL);
	}
	truths_print(truths, options.repeat_cnt * thread_cnt * SPANS_PER_THREAD);
	free(members);
	free(truths);
	return 0;
}
