/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/own_usage.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

uint64_t own_usage_cpu_ns(void)
{
	struct timespec used = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
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
