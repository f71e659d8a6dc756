/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the pool of this program is, which marks. */
#ifndef OWN_POOL_H
#define OWN_POOL_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "txtrace.h"
#include "txtrace/mark_ring.h"

/* The descriptor that the recorder gets from the kernel for another process. */
static int open_own(uintptr_t address)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", (unsigned long)address,
		 (unsigned long)(address + MARK_POOL_BYTES));
	return open(path, O_RDWR | O_CLOEXEC);
}

static uintptr_t find_pool(void)
{
	unsigned long start, end, found = 0;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && end - start == MARK_POOL_BYTES &&
		    strstr(line, "/dev/zero"))
			found = start;
	fclose(maps);
	return found;
}

/*
 * The first mark goes to the probe, the second one makes the pool. The descriptor, or negative: it can't be
 * opened.
 */
static int make_own_pool(uintptr_t *address)
{
	txtrace_switches = TXTRACE_RING_SWITCH_;
	for (int i = 0; i < 2; i++)
		TXTRACE_END(1);
	*address = find_pool();
	return open_own(*address);
}

#endif
