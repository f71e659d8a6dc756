/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/cost/own_usage.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

uint64_t own_usage_cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t own_usage_memory_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!file)
		return 0;
	if (fscanf(file, "%*s %llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
