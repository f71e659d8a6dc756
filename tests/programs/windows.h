/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Endless workloads for benchmarks: workers count what they do, the main thread
 * looks at them in windows and prints a line of JSON for each:
 *
 *	{"begin_ns":…,"end_ns":…,"count":…,"cpu_ns":…,"ns_each":…,"traced":false}
 *
 * cpu_ns is the workers' own. A benchmark switches its tool on and off around
 * one running workload and compares neighbouring windows. "traced" says whether
 * somebody traced at the end of the window.
 */
#ifndef WINDOWS_H
#define WINDOWS_H

#include "truth.h"

#define WORKER_MAX 64

struct window_options {
	uint64_t count;     /* of each worker; 0: endless */
	uint64_t window_ms; /* 0: one window, at the end */
	double seconds;     /* 0: endless */
};

#define WINDOW_OPTION_SPECS(options, count_name, count_help)						\
	{ .name = count_name, .help = count_help, .count = &(options)->count, .max = 1e15 },		\
	{ .name = "window-ms", .help = "print a line so often; 0: one line at the end", \
	.count = &(options)->window_ms, .max = 1e6 }, \
	{ .name = "seconds", .help = "end after this time; 0: no limit", .real = &(options)->seconds, \
	.max = 1e6 }

struct window_worker {
	pthread_t thread;
	clockid_t cpu_clock;
	atomic_uint_least64_t count;
	atomic_uint_least64_t final_cpu_ns; /* its clock dies with it */
	atomic_bool is_finished;
	atomic_bool *is_stopping;
	uint64_t limit;
	void *(*run)(void *worker);
	void *context;
};

/* For run(): false when the worker has to end. Tells the main thread how far it is. */
static inline bool window_worker_goes_on(struct window_worker *worker, uint64_t count)
{
	atomic_store_explicit(&worker->count, count, memory_order_relaxed);
	return !atomic_load_explicit(worker->is_stopping, memory_order_relaxed) &&
	       (!worker->limit || count < worker->limit);
}

static inline void *window_worker_run(void *argument)
{
	struct window_worker *worker = argument;

	worker->run(worker);
	atomic_store(&worker->final_cpu_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID));
	atomic_store(&worker->is_finished, true);
	return NULL;
}

struct window_sum {
	uint64_t time_ns;
	uint64_t count;
	uint64_t cpu_ns;
	bool is_finished;
};

static inline struct window_sum window_look(struct window_worker *workers, unsigned worker_cnt)
{
	struct window_sum sum = { .time_ns = clock_ns(CLOCK_MONOTONIC), .is_finished = true };

	for (unsigned i = 0; i < worker_cnt; i++) {
		struct timespec time;
		bool has_clock = !clock_gettime(workers[i].cpu_clock, &time);
		uint64_t final_cpu_ns = atomic_load(&workers[i].final_cpu_ns);
		sum.is_finished &= atomic_load(&workers[i].is_finished);
		sum.count += atomic_load(&workers[i].count);
		sum.cpu_ns += final_cpu_ns || !has_clock
				      ? final_cpu_ns
				      : (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
	}
	return sum;
}

static inline void window_print(const struct window_sum *before, const struct window_sum *now)
{
	uint64_t count = now->count - before->count, cpu_ns = now->cpu_ns - before->cpu_ns;

	printf("{\"begin_ns\":%llu,\"end_ns\":%llu,\"count\":%llu,\"cpu_ns\":%llu,\"ns_each\":%.3f,"
	       "\"traced\":%s}\n",
	       (unsigned long long)before->time_ns, (unsigned long long)now->time_ns,
	       (unsigned long long)count, (unsigned long long)cpu_ns,
	       count ? (double)cpu_ns / (double)count : 0.0, TXTRACE_ENABLED() ? "true" : "false");
	fflush(stdout);
}

/*
 * Runs the workers, whose `run` and `context` are set, until they have done
 * their count, the time is up, or SIGTERM or SIGINT comes.
 */
static inline void windows_run(struct window_worker *workers, unsigned worker_cnt,
			       const struct window_options *options)
{
	atomic_bool is_stopping = false;
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t tick_ms = options->window_ms ? options->window_ms : 20;
	struct timespec tick = { .tv_sec = (time_t)(tick_ms / 1000),
				 .tv_nsec = (long)(tick_ms % 1000) * 1000000 };
	sigset_t signals;

	end_with_parent(SIGTERM);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	struct window_sum before = { .time_ns = begin_ns }, now;
	for (unsigned i = 0; i < worker_cnt; i++) {
		workers[i].is_stopping = &is_stopping;
		workers[i].limit = options->count;
		start_thread(&workers[i].thread, window_worker_run, &workers[i]);
		pthread_getcpuclockid(workers[i].thread, &workers[i].cpu_clock);
	}
	do {
		bool is_signalled = sigtimedwait(&signals, NULL, &tick) > 0;
		now = window_look(workers, worker_cnt);
		if (is_signalled ||
		    (options->seconds > 0 && (double)(now.time_ns - begin_ns) > options->seconds * 1e9))
			atomic_store(&is_stopping, true);
		if (options->window_ms && !now.is_finished) {
			window_print(&before, &now);
			before = now;
		}
	} while (!now.is_finished);
	for (unsigned i = 0; i < worker_cnt; i++)
		pthread_join(workers[i].thread, NULL);
	if (!options->window_ms)
		window_print(&before, &now);
}

#endif
