/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop around one kind of mark, for what a mark costs, traced and untraced. Every iteration does --steps
 * dependent steps of arithmetic and then what --mode says; mode "empty" does the arithmetic alone. Prints
 * windows (windows.h); its count is iterations.
 *
 * --rate limits the iterations a second of each thread: it works in bursts of 1 ms.
 */
#include "windows.h"

#define CHUNK 64

struct loop {
	uint64_t steps;
	double rate;
	void (*run_chunk)(uint64_t steps, uint64_t first);
};

static inline void do_steps(uint64_t step_cnt)
{
	uint64_t sum = step_cnt | 1;

	for (uint64_t i = 0; i < step_cnt; i++)
		sum = (sum ^ (sum >> 29)) * 0x9e3779b97f4a7c15ull;
	__asm__ volatile("" : : "r"(sum) : "memory");
}

/* Each mode is a function of its own, so that the compiler sees nothing but this one loop. */
#define LOOP(name, ...)											\
	static __attribute__((noinline)) void loop_##name(uint64_t steps, uint64_t first)		\
	{												\
		for (uint64_t i = first; i < first + CHUNK; i++) {					\
			do_steps(steps);								\
			__VA_ARGS__;									\
		}											\
	}

LOOP(empty, )
LOOP(enabled, if (TXTRACE_ENABLED()) __asm__ volatile("" : : : "memory"))
LOOP(begin_end, txtrace_span_t span = TXTRACE_BEGIN("loop"); TXTRACE_END(span))
LOOP(scoped, TXTRACE_SPAN("loop"))
LOOP(nested, TXTRACE_SPAN("loop"); TXTRACE_SPAN("inner"))
LOOP(handoff, txtrace_span_t span = TXTRACE_BEGIN_DETACHED("loop", 0); TXTRACE_ENTER(span);
	TXTRACE_EXIT(span); TXTRACE_END(span))
LOOP(counter, TXTRACE_COUNTER("loop", i))
LOOP(tagged, txtrace_span_t span = TXTRACE_BEGIN("loop"); TXTRACE_TAG(span, "shard=3,kind=write");
	TXTRACE_END(span))
LOOP(attributed, txtrace_span_t span = TXTRACE_BEGIN("loop"); TXTRACE_ATTR(span, "i", i); TXTRACE_END(span))
LOOP(keyed, TXTRACE_KEY_BEGIN("loop", &i, sizeof(i)); TXTRACE_KEY_END(&i, sizeof(i)))

static const struct mode {
	const char *name;
	void (*run_chunk)(uint64_t steps, uint64_t first);
} modes[] = {
	{ "empty", loop_empty },     { "enabled", loop_enabled }, { "begin-end", loop_begin_end },
	{ "scoped", loop_scoped },   { "nested", loop_nested },	  { "handoff", loop_handoff },
	{ "counter", loop_counter }, { "tagged", loop_tagged },	  { "attributed", loop_attributed },
	{ "keyed", loop_keyed },
};
#define MODE_CNT (sizeof(modes) / sizeof(modes[0]))

static void *run_loop(void *argument)
{
	struct window_worker *worker = argument;
	const struct loop *loop = worker->context;
	uint64_t count = 0, begin_ns = clock_ns(CLOCK_MONOTONIC);

	while (window_worker_goes_on(worker, count)) {
		loop->run_chunk(loop->steps, count);
		count += CHUNK;
		while (loop->rate > 0 &&
		       (double)count > (double)(clock_ns(CLOCK_MONOTONIC) - begin_ns) / 1e9 * loop->rate)
			sleep_ns(NS_PER_MS);
	}
	return NULL;
}

static void choose_mode(struct loop *loop, const char *name)
{
	for (size_t i = 0; i < MODE_CNT; i++)
		if (!strcmp(modes[i].name, name))
			loop->run_chunk = modes[i].run_chunk;
	if (loop->run_chunk)
		return;
	fprintf(stderr, "there is no mode \"%s\"; there are", name);
	for (size_t i = 0; i < MODE_CNT; i++)
		fprintf(stderr, " %s", modes[i].name);
	fprintf(stderr, "\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct window_options options = { .count = 0 };
	struct truth_options common = TRUTH_OPTIONS_DEFAULT;
	struct loop loop = { .steps = 0 };
	const char *mode = "begin-end";
	uint64_t thread_cnt = 1;
	const struct option_spec table[] = {
		WINDOW_OPTION_SPECS(&options, "iterations", "of each thread; 0: no limit"),
		TRUTH_WAIT_SPEC(&common),
		{ .name = "mode",
		  .help = "what to do in the loop; a wrong name lists the modes",
		  .text = &mode },
		{ .name = "steps",
		  .help = "of arithmetic in each iteration",
		  .count = &loop.steps,
		  .max = 1e9 },
		{ .name = "threads",
		  .help = "how many run the loop",
		  .count = &thread_cnt,
		  .min = 1,
		  .max = WORKER_MAX },
		{ .name = "rate",
		  .help = "iterations a second of each thread; 0: no limit",
		  .real = &loop.rate,
		  .max = 1e9 },
	};
	common.wait_traced_s = 0;
	options_parse(table, sizeof(table) / sizeof(table[0]), "probe_loop: what a mark costs", argc, argv);
	choose_mode(&loop, mode);

	struct window_worker workers[WORKER_MAX] = { 0 };
	for (uint64_t i = 0; i < thread_cnt; i++) {
		workers[i].run = run_loop;
		workers[i].context = &loop;
	}
	truth_start(&common);
	windows_run(workers, (unsigned)thread_cnt, &options);
	return 0;
}
