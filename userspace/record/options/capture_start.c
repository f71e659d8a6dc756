/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/capture_start.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* "8f2e…-…" of the kernel; all zero if it can't be read. */
static void read_boot_id(uint8_t boot_id[16])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	unsigned int byte;

	memset(boot_id, 0, 16);
	if (!file)
		return;
	for (int i = 0; i < 16 && fscanf(file, "%2x%*[-]", &byte) >= 1; i++)
		boot_id[i] = byte;
	fclose(file);
}

/* The wall clock is read between two readings of the monotonic one, of which it takes the middle. */
void capture_read_clocks(uint64_t *monotonic_ns, uint64_t *realtime_ns)
{
	uint64_t before_ns = clock_now_ns();

	*realtime_ns = clock_read_ns(CLOCK_REALTIME);
	*monotonic_ns = before_ns + (clock_now_ns() - before_ns) / 2;
}

void capture_start_fill(struct txtrace_log_info *info, uint32_t pid, const char *command, const char *options)
{
	struct utsname system;

	*info = (struct txtrace_log_info){ .pid = pid, .cpu_cnt = sysconf(_SC_NPROCESSORS_CONF) };
	if (getrandom(info->capture_id, sizeof(info->capture_id), 0) != sizeof(info->capture_id))
		memset(info->capture_id, 0, sizeof(info->capture_id));
	read_boot_id(info->boot_id);
	capture_read_clocks(&info->start_monotonic_ns, &info->start_realtime_ns);
	if (!uname(&system)) {
		snprintf(info->host, sizeof(info->host), "%s", system.nodename);
		snprintf(info->kernel, sizeof(info->kernel), "%s %s", system.release, system.machine);
	}
	snprintf(info->command, sizeof(info->command), "%s", command);
	snprintf(info->recorder, sizeof(info->recorder), "txtrace-bpf %s", TXTRACE_VERSION);
	snprintf(info->options, sizeof(info->options), "%s", options);
}
