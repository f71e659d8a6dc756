/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads that publish the contexts of nested spans, sleep and work in them, and print how long they were off
 * the CPU, and on one, in each, and how often they left it at least: "TRACE SPAN OFF_LEAST_NS OFF_MOST_NS
 * ON_LEAST_NS ON_MOST_NS LEFT_CNT", ids in hex.
 *
 *	--threads N           2
 *	--transactions N      of each thread: 20
 *	--first N             number of the first one, after 1
 *	--library FILE        is loaded, and has the variable (with -DLOADED)
 *	--announce SCHEMA     the process says that its threads publish in that form; '-': nothing of threads
 *	--again SCHEMA        and says so after a second instead
 *	--until FILE          it waits until that is there, before the threads begin
 *	--before FILE         until that is there, the threads have other transactions: "before TRACE"
 *	--fork                it is a child that does all that but for --announce
 *
 * Odd threads keep one record, even ones swap two. With -DELSEWHERE the variable is in another file that it
 * is linked with, with -DLOADED in one that is loaded. With -DNODEJS it is as Node.js has it. With -DFIBRES
 * each thread has three fibres, each in spans of its own, which take turns.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "otel_context.h"

#define BEFORE (1ul << 50) /* in the number of a trace */

#if defined(NODEJS)
#include "otel_nodejs.h"
#elif !defined(ELSEWHERE) && !defined(LOADED)
__attribute__((visibility("default"))) __thread struct otel_record *otel_thread_ctx_v1;

struct otel_record **otel_variable(void)
{
	return &otel_thread_ctx_v1;
}
#elif defined(LOADED)
#include <dlfcn.h>

static struct otel_record **(*loaded_variable)(void);

struct otel_record **otel_variable(void)
{
	return loaded_variable();
}
#endif

static int transaction_cnt = 20;
static int first;
static const char *before_path;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

struct times {
	uint64_t wall_ns;
	uint64_t cpu_ns;
	uint64_t left_cnt; /* times that the thread has left its CPU */
};

static uint64_t count_left(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* In such an order that who is pushed off the CPU between the two readings widens the bounds. */
static struct times time_before(void)
{
	uint64_t left_cnt = count_left(), wall_ns = clock_ns(CLOCK_MONOTONIC);

	return (struct times){ wall_ns, clock_ns(CLOCK_THREAD_CPUTIME_ID), left_cnt };
}

static struct times time_after(void)
{
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), wall_ns = clock_ns(CLOCK_MONOTONIC);

	return (struct times){ wall_ns, cpu_ns, count_left() };
}

struct writer {
	uint64_t number;
	struct otel_record records[2];
	int which;
	/* before and after it was last changed what the thread is in */
	struct times before;
	struct times after;
};

/* A thread can be pushed off its CPU in the middle of a change: so of each time the least and the most. */
struct account {
	uint64_t off_ns[2];
	uint64_t on_ns[2];
	uint64_t left_cnt;
};

static void add(struct account *account, int which, const struct times *begin, const struct times *end)
{
	uint64_t on_ns = end->cpu_ns - begin->cpu_ns;

	account->on_ns[which] += on_ns;
	account->off_ns[which] += end->wall_ns - begin->wall_ns - on_ns;
}

/* What was since the last change goes to the span that the thread was in. */
static void change(struct writer *writer, struct account *account, uint64_t trace, uint64_t span)
{
	struct times before = time_before(), after;

	if (writer->number % 2)
		otel_set(&writer->records[0], trace, span);
	else
		otel_swap(writer->records, &writer->which, trace, span);
	after = time_after();
	if (account) {
		add(account, 0, &writer->after, &before);
		account->left_cnt += before.left_cnt - writer->after.left_cnt;
		add(account, 1, &writer->before, &after);
	}
	writer->before = before;
	writer->after = after;
}

static void sleep_us(unsigned int us)
{
	usleep(us);
}

static void work_us(uint64_t us)
{
	uint64_t until_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + us * 1000;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		;
}

/* In an emulator a thread's clock may run faster than the wall's. */
static uint64_t positive(uint64_t ns)
{
	return (int64_t)ns < 0 ? 0 : ns;
}

static void print(uint64_t trace, uint64_t span, const struct account *account)
{
	if (trace & BEFORE) {
		printf("before abababababababab%016lx %016lx\n", trace, span);
		return;
	}
	printf("abababababababab%016lx %016lx %lu %lu %lu %lu %lu\n", trace, span,
	       positive(account->off_ns[0]), positive(account->off_ns[1]), account->on_ns[0],
	       account->on_ns[1], account->left_cnt);
}

#ifndef FIBRES
static void transact(struct writer *writer, uint64_t trace)
{
	struct account outer = { .left_cnt = 0 }, inner = { .left_cnt = 0 };
	uint64_t span = trace << 8 | 1, child = trace << 8 | 2;

	change(writer, NULL, trace, span);
	sleep_us(3000);
	work_us(500);
	sleep_us(1000);
	change(writer, &outer, trace, child);
	sleep_us(2000);
	work_us(300);
	sleep_us(500);
	change(writer, &inner, trace, span);
	sleep_us(700);
	change(writer, &outer, 0, 0);
	print(trace, child, &inner);
	print(trace, span, &outer);
	sleep_us(1500);
}

static void *run(void *context)
{
	struct writer *writer = context;

	for (uint64_t i = 1; before_path && access(before_path, F_OK); i++)
		transact(writer, BEFORE | writer->number << 32 | i);
	for (int i = 0; i < transaction_cnt; i++)
		transact(writer, writer->number << 32 | (uint64_t)(first + i + 1));
	return NULL;
}

#else
#include <ucontext.h>

#define FIBRE_CNT 3
#define STACK_BYTES 65536

struct fibre {
	ucontext_t context;
	char stack[STACK_BYTES];
	uint64_t trace;
	uint64_t span; /* 0: it is in none */
	struct account account;
	bool has_ended;
};

struct ring {
	struct writer *writer;
	struct fibre fibres[FIBRE_CNT];
	ucontext_t end;
	int at;
	int left_cnt;
};

static __thread struct ring *ring;

/* The next fibre that has not ended goes on, in its span. */
static void hop(void)
{
	struct fibre *from = &ring->fibres[ring->at], *to;

	do
		ring->at = (ring->at + 1) % FIBRE_CNT;
	while (ring->fibres[ring->at].has_ended);
	to = &ring->fibres[ring->at];
	change(ring->writer, from->span ? &from->account : NULL, to->span ? to->trace : 0, to->span);
	if (to != from)
		swapcontext(&from->context, &to->context);
}

static void transact_in_turns(struct fibre *fibre, uint64_t trace)
{
	fibre->account = (struct account){ .left_cnt = 0 };
	fibre->trace = trace;
	fibre->span = trace << 8 | 1;
	change(ring->writer, NULL, trace, fibre->span);
	for (int i = 0; i < 3; i++) {
		sleep_us(1500);
		work_us(200);
		hop();
		sleep_us(500);
	}
	change(ring->writer, &fibre->account, 0, 0);
	print(trace, fibre->span, &fibre->account);
	fibre->span = 0;
	hop();
}

static void run_fibre(void)
{
	int number = ring->at;

	for (int i = 0; i < transaction_cnt; i++)
		transact_in_turns(&ring->fibres[number],
				  ring->writer->number << 32 | (uint64_t)(i * FIBRE_CNT + number + 1));
	ring->fibres[number].has_ended = true;
	if (--ring->left_cnt > 0)
		hop();
	setcontext(&ring->end);
}

static void *run(void *context)
{
	ring = calloc(1, sizeof(*ring));
	ring->writer = context;
	ring->left_cnt = FIBRE_CNT;
	for (int i = 0; i < FIBRE_CNT; i++) {
		struct fibre *fibre = &ring->fibres[i];

		getcontext(&fibre->context);
		fibre->context.uc_stack = (stack_t){ .ss_sp = fibre->stack, .ss_size = STACK_BYTES };
		makecontext(&fibre->context, run_fibre, 0);
	}
	swapcontext(&ring->end, &ring->fibres[0].context);
	return NULL;
}
#endif

struct options {
	int thread_cnt;
	const char *library;
	const char *schema;
	const char *later_schema;
	const char *until;
	int forks;
};

static int parse(struct options *options, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";

		if (!strcmp(argv[i], "--fork")) {
			options->forks = 1;
			continue;
		}
		if (!strcmp(argv[i], "--threads"))
			options->thread_cnt = atoi(value);
		else if (!strcmp(argv[i], "--transactions"))
			transaction_cnt = atoi(value);
		else if (!strcmp(argv[i], "--first"))
			first = atoi(value);
		else if (!strcmp(argv[i], "--library"))
			options->library = value;
		else if (!strcmp(argv[i], "--announce"))
			options->schema = value;
		else if (!strcmp(argv[i], "--again"))
			options->later_schema = value;
		else if (!strcmp(argv[i], "--until"))
			options->until = value;
		else if (!strcmp(argv[i], "--before"))
			before_path = value;
		else
			return -1;
		i++;
	}
	return options->thread_cnt > 0 ? 0 : -1;
}

static const char *schema_or_none(const char *schema)
{
	return strcmp(schema, "-") ? schema : NULL;
}

static int announce(const struct options *options)
{
	struct otel_header *header;

	if (!options->schema)
		return 0;
	header = otel_announce(NULL, "the writer", schema_or_none(options->schema));
	if (header && options->later_schema) {
		sleep(1);
		header = otel_announce(header, "the writer", schema_or_none(options->later_schema));
	}
	return header ? 0 : -1;
}

static int load(const char *library)
{
#ifdef LOADED
	void *handle = library ? dlopen(library, RTLD_NOW) : NULL;

	if (handle)
		*(void **)&loaded_variable = dlsym(handle, "otel_variable");
	return loaded_variable ? 0 : -1;
#else
	return library ? -1 : 0;
#endif
}

static void run_all(const struct options *options)
{
	struct writer *writers = calloc((size_t)options->thread_cnt, sizeof(*writers));
	pthread_t *threads = calloc((size_t)options->thread_cnt, sizeof(*threads));

	for (int i = 0; i < options->thread_cnt; i++) {
		writers[i].number = (uint64_t)i + 1;
		pthread_create(&threads[i], NULL, run, &writers[i]);
	}
	for (int i = 0; i < options->thread_cnt; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	struct options options = { .thread_cnt = 2 };
	int status = 0;

	if (parse(&options, argc, argv) || announce(&options) || load(options.library)) {
		fprintf(stderr, "otel_writer: wrong options, or no library\n");
		return 2;
	}
	while (options.until && access(options.until, F_OK))
		usleep(10000);
	if (!options.forks)
		run_all(&options);
	else if (fork() == 0)
		run_all(&options);
	else
		wait(&status);
	return status != 0;
}
