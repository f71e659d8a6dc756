/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has the CPU that spans wait for. First a span computes while a process of its own, called "noisy",
 * spins on the same CPU, until that one has had the CPU for 30 ms: the scheduler says for how long exactly.
 * Then two threads, "left" and "right", compute on that CPU, each in a span of its name, until either has had
 * to wait for 20 ms. Prints one line of JSON:
 * {"cpu":…,"noisy_tid":…,"noisy_ns":…,"noisy_stays":…,"left_tid":…,"right_tid":…}.
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

/* What the scheduler accounts for a thread. */
struct schedstat {
	uint64_t on_cpu_ns, queued_ns, stay_cnt;
};

static struct schedstat read_schedstat(pid_t pid, pid_t tid)
{
	unsigned long long numbers[3] = { 0, 0, 0 };
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	file = fopen(path, "r");
	must(file && fscanf(file, "%llu %llu %llu", &numbers[0], &numbers[1], &numbers[2]) == 3,
	     "cannot read the scheduler's account");
	fclose(file);
	return (struct schedstat){ numbers[0], numbers[1], numbers[2] };
}

/*
 * What the other one had between two readings in the span. Who reads has the CPU, so what is read does not
 * move.
 */
static struct schedstat compute_beside(pid_t noisy)
{
	txtrace_span_t span = TXTRACE_BEGIN("beside noisy");
	struct schedstat before = read_schedstat(noisy, noisy), after = before;

	while (after.on_cpu_ns < before.on_cpu_ns + NOISY_NS)
		after = read_schedstat(noisy, noisy);
	TXTRACE_END(span);
	return (struct schedstat){ .on_cpu_ns = after.on_cpu_ns - before.on_cpu_ns,
				   .stay_cnt = after.stay_cnt - before.stay_cnt };
}

static pid_t tids[2];
static pthread_barrier_t both;

static void compute_until_starved(uint64_t side)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	uint64_t until_ns = read_schedstat(getpid(), tid).queued_ns + WAITED_NS;

	tids[side] = tid;
	pthread_barrier_wait(&both);
	while (read_schedstat(getpid(), tid).queued_ns < until_ns)
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
	struct schedstat had;
	pid_t noisy;
	int cpu;

	truth_start(&options);
	cpu = pin_to_one_cpu();
	noisy = start_noisy();
	had = compute_beside(noisy);
	kill(noisy, SIGKILL);
	waitpid(noisy, NULL, 0);
	must(!pthread_barrier_init(&both, NULL, 2), "cannot make a barrier");
	must(!pthread_create(&left, NULL, go_left, NULL), "cannot start a thread");
	must(!pthread_create(&right, NULL, go_right, NULL), "cannot start a thread");
	pthread_join(left, NULL);
	pthread_join(right, NULL);
	printf("{\"cpu\":%d,\"noisy_tid\":%d,\"noisy_ns\":%llu,\"noisy_stays\":%llu,\"left_tid\":%d,\"right_"
	       "tid\":%d}\n",
	       cpu, noisy, (unsigned long long)had.on_cpu_ns, (unsigned long long)had.stay_cnt, tids[0],
	       tids[1]);
	return 0;
}
