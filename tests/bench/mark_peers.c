/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a begin and an end take, by the CPU's counter, with warm caches or with the caches evicted
 * before each pair: marks of txtrace, or of a peer that tests/bench/peer_figures.py builds this with.
 * Prints the median in ns, less that of an empty pair.
 *
 *	mark_peers WHAT EVICTED-KIB PAIRS	WHAT: txtrace, or peer
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "txtrace.h"

#if defined(PEER_LTTNG)
#include "peer_lttng.h"
#define PEER_BEGIN(i) tracepoint(txtrace_peer, begin, i, "loop", 0)
#define PEER_END(i) tracepoint(txtrace_peer, end, i)
#elif defined(PEER_FUNCTION)
void peer_function(uint64_t i); /* built with calls to uftrace at its begin and its end */
#define PEER_BEGIN(i) peer_function(i)
#define PEER_END(i)
#else
#define PEER_BEGIN(i)
#define PEER_END(i)
#endif

#define LINE_BYTES 64

static unsigned char *memory;
static size_t memory_bytes;

static uint64_t count(void)
{
#if defined(__x86_64__)
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
#else
	uint64_t counter;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(counter) : : "memory");
	return counter;
#endif
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Everything that the caches held is gone then, also what the marks use. Otherwise: some work. */
static void work(void)
{
	uint64_t sum = 1;

	for (size_t at = 0; at < memory_bytes; at += LINE_BYTES)
		memory[at]++;
	for (int i = 0; i < 1000 && !memory_bytes; i++)
		sum = (sum ^ (sum >> 29)) * 0x9e3779b97f4a7c15ull;
	__asm__ volatile("" : : "r"(sum) : "memory");
}

static uint64_t run_empty(uint64_t i)
{
	(void)i;
	return 0;
}

static uint64_t run_txtrace(uint64_t i)
{
	txtrace_span_t span = TXTRACE_BEGIN("loop");

	(void)i;
	TXTRACE_END(span);
	return span;
}

static uint64_t run_peer(uint64_t i)
{
	PEER_BEGIN(i);
	PEER_END(i);
	return i;
}

/* Interrupts and other programs make some of them long: the median, in steps of the counter. */
static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static double measure(uint64_t (*run)(uint64_t i), uint64_t cnt)
{
	uint64_t *took = calloc(cnt, sizeof(*took)), steps, first_ns = now_ns(), first = count();
	double median;

	if (!took)
		exit(1);
	for (uint64_t i = 0; i < cnt; i++) {
		work();
		steps = count();
		__asm__ volatile("" : : "r"(run(i)) : "memory");
		took[i] = count() - steps;
	}
	qsort(took, cnt, sizeof(*took), compare);
	median = (double)took[cnt / 2] * (double)(now_ns() - first_ns) / (double)(count() - first);
	free(took);
	return median;
}

int main(int argc, char **argv)
{
	uint64_t cnt = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
	uint64_t (*run)(uint64_t i) = run_peer;
	double empty_ns;

	if (!cnt)
		return 2;
	memory_bytes = strtoull(argv[2], NULL, 10) << 10;
	memory = calloc(1, memory_bytes + 1);
	if (!memory)
		return 1;
	if (!strcmp(argv[1], "txtrace"))
		run = run_txtrace;
	/* what attaches has half a second, and the first marks make the memory */
	for (int i = 0; i < 50; i++) {
		run(0);
		usleep(10000);
	}
	empty_ns = measure(run_empty, cnt);
	printf("%.1f\n", measure(run, cnt) - empty_ns);
	return 0;
}
