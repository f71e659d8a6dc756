/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads without any marks, each known by its name: one computes, one sleeps, two take one CPU from each
 * other. They begin when a byte comes on the standard input (--at-once: at once). In the end one line of JSON
 * says what each thread's clock and the scheduler say of it.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000u
#define COMPUTE_NS (100 * NS_PER_MS)
#define SHARED_NS (60 * NS_PER_MS)
#define SLEEP_CNT 20
#define SLEEP_NS (3 * NS_PER_MS)

struct worker {
	const char *name;
	void (*work)(void);
	bool is_pinned;
	pthread_t thread;
	pid_t tid;
	uint64_t on_cpu_ns, runnable_ns, wall_ns; /* while it worked */
	/* as others saw it: it ends in the kernel after it was joined */
	uint64_t created_ns, joined_ns;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t run_delay_ns(void)
{
	char line[128] = "";
	uint64_t on_cpu_ns = 0, delay_ns = 0;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, line, sizeof(line) - 1) <= 0 ||
	    sscanf(line, "%" SCNu64 " %" SCNu64, &on_cpu_ns, &delay_ns) != 2) {
		perror("schedstat");
		exit(1);
	}
	close(fd);
	return delay_ns;
}

static void compute(uint64_t ns)
{
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
}

static void compute_alone(void)
{
	compute(COMPUTE_NS);
}

static void compute_beside(void)
{
	compute(SHARED_NS);
}

static void sleep_often(void)
{
	const struct timespec time = { .tv_nsec = SLEEP_NS };

	for (int i = 0; i < SLEEP_CNT; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
}

static void *run(void *argument)
{
	struct worker *worker = argument;
	uint64_t wall_ns, cpu_ns, delay_ns;
	cpu_set_t first;

	prctl(PR_SET_NAME, worker->name);
	worker->tid = (pid_t)syscall(SYS_gettid);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (worker->is_pinned && sched_setaffinity(0, sizeof(first), &first))
		perror("sched_setaffinity");
	delay_ns = run_delay_ns();
	wall_ns = clock_ns(CLOCK_MONOTONIC);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	worker->work();
	worker->on_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	worker->wall_ns = clock_ns(CLOCK_MONOTONIC) - wall_ns;
	worker->runnable_ns = run_delay_ns() - delay_ns;
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker workers[] = {
		{ .name = "cruncher", .work = compute_alone },
		{ .name = "sleeper", .work = sleep_often },
		{ .name = "left", .work = compute_beside, .is_pinned = true },
		{ .name = "right", .work = compute_beside, .is_pinned = true },
	};
	size_t cnt = sizeof(workers) / sizeof(workers[0]);
	char byte;

	if ((argc < 2 || strcmp(argv[1], "--at-once")) && read(STDIN_FILENO, &byte, 1) != 1)
		return 3;
	for (size_t i = 0; i < cnt; i++) {
		workers[i].created_ns = clock_ns(CLOCK_MONOTONIC);
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]))
			return 1;
	}
	for (size_t i = 0; i < cnt; i++) {
		pthread_join(workers[i].thread, NULL);
		workers[i].joined_ns = clock_ns(CLOCK_MONOTONIC);
	}
	printf("{\"sleeps\": %d, \"sleep_ns\": %u, \"threads\": {", SLEEP_CNT, SLEEP_NS);
	for (size_t i = 0; i < cnt; i++)
		printf("%s\"%s\": {\"tid\": %d, \"on_cpu_ns\": %" PRIu64 ", \"runnable_ns\": %" PRIu64
		       ", \"wall_ns\": %" PRIu64 ", \"life_ns\": %" PRIu64 ", \"joined_ns\": %" PRIu64 "}",
		       i ? ", " : "", workers[i].name, (int)workers[i].tid, workers[i].on_cpu_ns,
		       workers[i].runnable_ns, workers[i].wall_ns,
		       workers[i].joined_ns - workers[i].created_ns, workers[i].joined_ns);
	printf("}}\n");
	return 0;
}
