/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has the CPU that spans wait for. First a span computes while a process of its own, called "noisy", spins on the same CPU, until that one has had the CPU
 * for 30 ms: the scheduler says for how long exactly. Then two threads, "left" and "right", compute on that CPU, each in a span of its name, until either
 * has had to wait for 20 ms. Prints one line of JSON: {"cpu":…,"noisy_tid":…,"noisy_ns":…,"left_tid":…,"right_tid":…}.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "truth.h"

#define NOISY_NS (30 * NS_PER_MS)
#define WAITED_NS (20 * NS_PER_MS)

static int pin_to_one_cpu(void)
{
	cpu_set_t allowed, one;
	int last = -1;

	CPU_ZERO(&one);
	must(!sched_getaffinity(0, sizeof(allowed), &allowed), "cannot ask for the CPUs");
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && last < 0; cpu--)
		if (CPU_ISSET(cpu, &allowed))
			last = cpu;
	CPU_SET(last, &one);
	must(!sched_setaffinity(0, sizeof(one), &one), "cannot pin to a CPU");
	return last;
}

static pid_t start_noisy(void)
{
	pid_t noisy = fork();

	must(noisy >= 0, "cannot fork");
	if (noisy)
		return noisy;
	end_with_parent(SIGKILL);
	prctl(PR_SET_NAME, "noisy");
	for (volatile uint64_t turns = 0;; turns++)
		;
}

/* Time on a CPU, or in its queue: the first and the second number of schedstat. */
static uint64_t schedstat_ns(pid_t pid, pid_t tid, int which)
{
	unsigned long long numbers[2] = { 0, 0 };
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	file = fopen(path, "r");
	must(file && fscanf(file, "%llu %llu", &numbers[0], &numbers[1]) == 2, "cannot read the scheduler's account");
	fclose(file);
	return numbers[which];
}

/* Both read the account while they have the CPU themselves, so the other one's does not move. */
static uint64_t compute_beside(pid_t noisy)
{
	uint64_t before_ns = schedstat_ns(noisy, noisy, 0), after_ns = before_ns;
	txtrace_span_t span = TXTRACE_BEGIN("beside noisy");

	while (after_ns < before_ns + NOISY_NS)
		after_ns = schedstat_ns(noisy, noisy, 0);
	TXTRACE_END(span);
	return after_ns - before_ns;
}

static pid_t tids[2];
static pthread_barrier_t both;

static void compute_until_starved(uint64_t side)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	uint64_t until_ns = schedstat_ns(getpid(), tid, 1) + WAITED_NS;

	tids[side] = tid;
	pthread_barrier_wait(&both);
	while (schedstat_ns(getpid(), tid, 1) < until_ns)
		;
}

static void *go_left(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "left");
	TXTRACE_SPAN("left");
	compute_until_starved(0);
	pthread_barrier_wait(&both);
	return NULL;
}

static void *go_right(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "right");
	TXTRACE_SPAN("right");
	compute_until_starved(1);
	pthread_barrier_wait(&both);
	return NULL;
}

int main(int argc, char **argv)
{
	struct truth_options options = truth_options_parse("noisy: spans that share their CPU", argc, argv);
	pthread_t left, right;
	uint64_t noisy_ns;
	pid_t noisy;
	int cpu;

	truth_start(&options);
	cpu = pin_to_one_cpu();
	noisy = start_noisy();
	noisy_ns = compute_beside(noisy);
	kill(noisy, SIGKILL);
	waitpid(noisy, NULL, 0);
	must(!pthread_barrier_init(&both, NULL, 2), "cannot make a barrier");
	must(!pthread_create(&left, NULL, go_left, NULL), "cannot start a thread");
	must(!pthread_create(&right, NULL, go_right, NULL), "cannot start a thread");
	pthread_join(left, NULL);
	pthread_join(right, NULL);
	printf("{\"cpu\":%d,\"noisy_tid\":%d,\"noisy_ns\":%llu,\"left_tid\":%d,\"right_tid\":%d}\n", cpu, noisy, (unsigned long long)noisy_ns, tids[0],
	       tids[1]);
	return 0;
}
