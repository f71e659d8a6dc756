/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page faults that have to wait, in a span "faults": each of a page that is not there, while another thread
 * changes the protection of the mapping. A probe looks into the address space, too, and since 6.18 its first
 * hits change it. Prints how many faults there were, and the waits in them, in the marks within the span, and
 * in the two at its edges, as the kernel's count of voluntary switches of this thread has them:
 * {"type":"faults","faults":N,"waited":N,"marks":N,"edges":N}.
 */
#include <sys/mman.h>

#include "truth.h"

#define PAGE_BYTES 4096
#define CHANGED_BYTES ((size_t)256 << 20) /* to change its protection takes the kernel milliseconds */

static volatile uint64_t sum;
static atomic_bool is_over;

static uint64_t sleep_cnt(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return (uint64_t)usage.ru_nvcsw;
}

static unsigned char *map(size_t bytes, int flags)
{
	unsigned char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
				     -1, 0);

	must(memory != MAP_FAILED, "cannot map memory");
	return memory;
}

static void *change_protection(void *argument)
{
	unsigned char *memory = argument;

	for (int protection = PROT_READ; !atomic_load(&is_over); protection ^= PROT_WRITE)
		must(mprotect(memory, CHANGED_BYTES, protection) == 0, "cannot change the protection");
	return NULL;
}

/* Pages that are not there, of the mapping whose protection is changed all the time. */
static void fault_while_changed(uint64_t fault_cnt)
{
	unsigned char *changed = map(CHANGED_BYTES, MAP_POPULATE);
	size_t stride = CHANGED_BYTES / fault_cnt / PAGE_BYTES * PAGE_BYTES;
	uint64_t before, waited = 0, in_marks = 0, at_edges;
	txtrace_span_t span;
	pthread_t changer;

	must(stride >= PAGE_BYTES, "too many faults");
	for (uint64_t i = 0; i < fault_cnt; i++)
		must(madvise(changed + i * stride, PAGE_BYTES, MADV_DONTNEED) == 0, "cannot drop a page");
	must(pthread_create(&changer, NULL, change_protection, changed) == 0, "cannot start a thread");
	sleep_ns(20 * NS_PER_MS);
	before = sleep_cnt();
	span = TXTRACE_BEGIN("faults");
	at_edges = sleep_cnt() - before;
	for (uint64_t i = 0; i < fault_cnt; i++) {
		before = sleep_cnt();
		sum += changed[i * stride];
		waited += sleep_cnt() - before;
		before = sleep_cnt();
		TXTRACE_EVENT(span, "mark");
		in_marks += sleep_cnt() - before;
		sleep_ns(NS_PER_MS / 10); /* lets the other one begin anew */
	}
	before = sleep_cnt();
	TXTRACE_END(span);
	at_edges += sleep_cnt() - before;
	atomic_store(&is_over, true);
	pthread_join(changer, NULL);
	printf("{\"type\":\"faults\",\"faults\":%llu,\"waited\":%llu,\"marks\":%llu,\"edges\":%llu}\n",
	       (unsigned long long)fault_cnt, (unsigned long long)waited, (unsigned long long)in_marks,
	       (unsigned long long)at_edges);
}

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	uint64_t fault_cnt = 300;
	const struct option_spec table[] = {
		TRUTH_WAIT_SPEC(&options),
		{ .name = "faults", .help = "how many", .count = &fault_cnt, .min = 1, .max = 100000 },
	};

	options_parse(table, sizeof(table) / sizeof(table[0]), "faults: page faults that have to wait", argc,
		      argv);
	truth_start(&options);
	fault_while_changed(fault_cnt);
	return 0;
}
