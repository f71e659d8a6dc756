/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process whose first thread ends while another one lives on and marks spans, once somebody traces. With
 * --memory-mb that thread then becomes /bin/true. It gets the process' tid before the kernel frees that
 * memory, and the exec is over after that.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "truth.h"

static struct truth_options options = TRUTH_OPTIONS_DEFAULT;
static uint64_t memory_mb;

static void *live_on(void *unused)
{
	char *memory;

	(void)unused;
	sleep_ns(20 * NS_PER_MS);
	truth_start(&options);
	for (uint64_t i = 0; i < options.repeat_cnt; i++) {
		txtrace_span_t span = TXTRACE_BEGIN("lives on");

		TXTRACE_END(span);
	}
	if (!memory_mb)
		exit(0);
	memory = mmap(NULL, memory_mb << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(memory != MAP_FAILED, "no memory");
	madvise(memory, memory_mb << 20, MADV_NOHUGEPAGE); /* or it would be gone at once */
	memset(memory, 1, memory_mb << 20);
	execl("/bin/true", "true", NULL);
	must(false, "cannot exec");
	return NULL;
}

int main(int argc, char **argv)
{
	const struct option_spec table[] = {
		TRUTH_OPTION_SPECS(&options),
		{ .name = "memory-mb",
		  .help = "become /bin/true with so much memory; 0: exit",
		  .count = &memory_mb,
		  .max = 1024 },
	};
	pthread_t thread;

	options_parse(table, sizeof(table) / sizeof(table[0]),
		      "first_thread_ends: a process without its first thread", argc, argv);
	must(pthread_create(&thread, NULL, live_on, NULL) == 0, "cannot make a thread");
	pthread_exit(NULL);
}
