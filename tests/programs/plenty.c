/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More at once than the recorder's kernel side has room for. --what
 *
 *	spans    spans that are open, begun by one thread and ended by it, in order
 *	keys     spans by key that are open: one in eight is called "noise", the others "wanted"
 *	threads  threads that are in a span, and begin one more in it
 *	numbers  calls of begin_number(), then as many of end_number(): spans for who makes some of them, by
 *	         their argument
 *	depth    calls of go_down() within each other
 *	futexes  futexes that are waited for, each once, until a moment has passed
 *
 * --count says how many, and then come 1,000 of the same one after the other, for which there is room again.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "truth.h"

#define AFTER_CNT 1000

static void many_spans(uint64_t cnt)
{
	txtrace_span_t *spans = calloc(cnt, sizeof(*spans));

	must(spans, "no memory");
	for (uint64_t i = 0; i < cnt; i++)
		spans[i] = TXTRACE_BEGIN_DETACHED("many", 0);
	for (uint64_t i = 0; i < cnt; i++)
		TXTRACE_END(spans[i]);
	free(spans);
	for (uint64_t i = 0; i < AFTER_CNT; i++) {
		TXTRACE_SPAN("after");
	}
}

static void begin_key(uint64_t key, bool is_noise)
{
	if (is_noise)
		TXTRACE_KEY_BEGIN("noise", &key, sizeof(key));
	else
		TXTRACE_KEY_BEGIN("wanted", &key, sizeof(key));
	TXTRACE_KEY_EXIT(&key, sizeof(key));
}

static void many_keys(uint64_t cnt)
{
	for (uint64_t key = 0; key < cnt; key++)
		begin_key(key, key % 8 == 0);
	for (uint64_t key = 0; key < cnt; key++)
		TXTRACE_KEY_END(&key, sizeof(key));
	for (uint64_t i = 0; i < AFTER_CNT; i++) {
		TXTRACE_SPAN("wanted");
	}
}

struct crowd {
	pthread_barrier_t all_are_in;
	pthread_t *threads;
};

static void *be_in_a_span(void *argument)
{
	struct crowd *crowd = argument;
	txtrace_span_t span = TXTRACE_BEGIN("outer"), child;

	pthread_barrier_wait(&crowd->all_are_in);
	child = TXTRACE_BEGIN("inner");
	TXTRACE_END(child);
	TXTRACE_END(span);
	return NULL;
}

static void many_threads(uint64_t cnt)
{
	struct crowd crowd = { .threads = calloc(cnt, sizeof(pthread_t)) };
	pthread_attr_t attributes;

	must(crowd.threads && !pthread_barrier_init(&crowd.all_are_in, NULL, (unsigned int)cnt), "no memory");
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN > 32768 ? PTHREAD_STACK_MIN : 32768);
	for (uint64_t i = 0; i < cnt; i++) {
		errno = pthread_create(&crowd.threads[i], &attributes, be_in_a_span, &crowd);
		must(!errno, "cannot start a thread");
	}
	for (uint64_t i = 0; i < cnt; i++)
		pthread_join(crowd.threads[i], NULL);
	free(crowd.threads);
	for (uint64_t i = 0; i < AFTER_CNT; i++) {
		TXTRACE_SPAN("after");
	}
}

static volatile uint64_t last_number;

/* Their first instruction is one that the kernel need not single-step under a probe. */
static __attribute__((noinline, used)) void begin_number(uint64_t number)
{
	__asm__ volatile("nop");
	last_number = number;
}

static __attribute__((noinline, used)) void end_number(uint64_t number)
{
	__asm__ volatile("nop");
	last_number = number;
}

static void many_numbers(uint64_t cnt)
{
	for (uint64_t i = 0; i < cnt; i++)
		begin_number(i);
	for (uint64_t i = 0; i < cnt; i++)
		end_number(i);
	for (uint64_t i = 0; i < AFTER_CNT; i++) {
		begin_number(i);
		end_number(i);
	}
}

static __attribute__((noinline, used)) uint64_t go_down(uint64_t depth)
{
	__asm__ volatile("nop");
	last_number = depth;
	return depth > 1 ? go_down(depth - 1) + last_number : 1;
}

static void deep_calls(uint64_t depth)
{
	go_down(depth);
	for (uint64_t i = 0; i < AFTER_CNT; i++)
		go_down(1);
}

/* Nobody wakes it: the time is up at once, and the thread has been off its CPU all the same. */
static void wait_for_futex(uint32_t *futex)
{
	const struct timespec moment = { .tv_nsec = 20000 };

	syscall(SYS_futex, futex, FUTEX_WAIT_PRIVATE, 0, &moment, NULL, 0);
}

static void many_futexes(uint64_t cnt)
{
	uint32_t *futexes = calloc(cnt, sizeof(*futexes));
	txtrace_span_t span = TXTRACE_BEGIN("many");

	must(futexes, "no memory");
	for (uint64_t i = 0; i < cnt; i++)
		wait_for_futex(&futexes[i]);
	TXTRACE_END(span);
	for (uint64_t i = 0; i < AFTER_CNT; i++) {
		TXTRACE_SPAN("after");
		wait_for_futex(&futexes[cnt - 1]);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(uint64_t cnt);
	} kinds[] = {
		{ "spans", many_spans },     { "keys", many_keys },   { "threads", many_threads },
		{ "numbers", many_numbers }, { "depth", deep_calls }, { "futexes", many_futexes },
	};
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	const char *what = "spans";
	uint64_t cnt = 1000;
	const struct option_spec table[] = {
		TRUTH_WAIT_SPEC(&options),
		{ .name = "what", .help = "spans, keys, threads, numbers, depth or futexes", .text = &what },
		{ .name = "count", .help = "how many at once", .count = &cnt, .min = 1, .max = 10000000 },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]), "plenty: more at once than there is room for",
		      argc, argv);
	truth_start(&options);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, what))
			continue;
		kinds[i].run(cnt);
		return 0;
	}
	fprintf(stderr, "plenty: there is no '%s'\n", what);
	return 2;
}
