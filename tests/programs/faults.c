/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page faults that have to wait, in a span "faults": each of a page that is not there, while another thread
 * changes the protection of the mapping. A probe looks into the address space, too, and since 6.18 its first
 * hits change it. Prints how many faults there were, and the waits in them and in the marks within the span,
 * and in the two marks at its edges, as the kernel's count of voluntary switches of this thread has them; and
 * those of the first in which it slept, by its clocks: one that is woken while it leaves its CPU did not.
 * {"type":"faults","faults":N,"waited":[slept,switched],"edges":N}.
 */
#include <sys/mman.h>

#include "truth.h"

#define PAGE_BYTES 4096
#define CHANGED_BYTES ((size_t)256 << 20) /* to change its protection takes the kernel milliseconds */
#define SWITCH_NS 20000			  /* two switches take less than that */

static volatile uint64_t sum;
static atomic_bool is_over;

/* One wait, if there was any. */
static void count_wait(const struct reading *from, const struct reading *to, struct bounds *waited)
{
	uint64_t ran_ns = to->cpu_ns - from->cpu_ns + to->run_delay_ns - from->run_delay_ns;

	waited->most += to->nvcsw - from->nvcsw;
	if (to->mono_ns - from->mono_ns > ran_ns + SWITCH_NS)
		waited->least += to->nvcsw - from->nvcsw;
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
	struct bounds waited = { 0 }, at_edges = { 0 };
	struct reading before, between, after;
	struct witness witness;
	txtrace_span_t span;
	pthread_t changer;

	must(stride >= PAGE_BYTES, "too many faults");
	for (uint64_t i = 0; i < fault_cnt; i++)
		must(madvise(changed + i * stride, PAGE_BYTES, MADV_DONTNEED) == 0, "cannot drop a page");
	must(pthread_create(&changer, NULL, change_protection, changed) == 0, "cannot start a thread");
	witness_init(&witness);
	sleep_ns(20 * NS_PER_MS);
	before = witness_read(&witness);
	span = TXTRACE_BEGIN("faults");
	after = witness_read(&witness);
	count_wait(&before, &after, &at_edges);
	for (uint64_t i = 0; i < fault_cnt; i++) {
		before = witness_read(&witness);
		sum += changed[i * stride];
		between = witness_read(&witness);
		TXTRACE_EVENT(span, "mark");
		after = witness_read(&witness);
		count_wait(&before, &between, &waited);
		count_wait(&between, &after, &waited);
		sleep_ns(NS_PER_MS / 10); /* lets the other one begin anew */
	}
	before = witness_read(&witness);
	TXTRACE_END(span);
	after = witness_read(&witness);
	count_wait(&before, &after, &at_edges);
	witness_release(&witness);
	atomic_store(&is_over, true);
	pthread_join(changer, NULL);
	printf("{\"type\":\"faults\",\"faults\":%llu,\"waited\":[%llu,%llu],\"edges\":%llu}\n",
	       (unsigned long long)fault_cnt, (unsigned long long)waited.least,
	       (unsigned long long)waited.most, (unsigned long long)at_edges.most);
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
