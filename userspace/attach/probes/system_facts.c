/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "attach/process/capabilities.h"
#include "attach/probes/system_check.h"

#define TRACEFS_MAGIC_NUMBER 0x74726163
#define INIT_USER_NAMESPACE 0xeffffffdu /* the inode's number that the kernel gives to its first one */

static int32_t read_number(const char *root, const char *path)
{
	char full[512], text[32] = "", *end;
	int32_t number = SYSTEM_UNKNOWN;
	FILE *file;
	long value;

	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, "re");
	if (!file)
		return number;
	if (fgets(text, sizeof(text), file)) {
		value = strtol(text, &end, 10);
		if (end != text && value > INT32_MIN && value <= INT32_MAX)
			number = (int32_t)value;
	}
	fclose(file);
	return number;
}

/* Where the machine's own namespace cannot be told, none is assumed. */
static bool is_in_namespace(const char *path, uint32_t init_inode)
{
	struct stat status;

	return !stat(path, &status) && status.st_ino != init_inode;
}

static bool is_tracefs(const char *root, const char *path)
{
	char full[512];
	struct statfs status;

	snprintf(full, sizeof(full), "%s%s", root, path);
	return !statfs(full, &status) && (uint32_t)status.f_type == TRACEFS_MAGIC_NUMBER;
}

/* "Seccomp:\t2" of the own status: 2 is a filter, 1 the strict mode, in which we would not be here. */
static bool is_filtered(void)
{
	char line[256];
	bool is_filtered = false;
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file))
		is_filtered |= strncmp(line, "Seccomp:", 8) == 0 && atoi(line + 8) == 2;
	if (file)
		fclose(file);
	return is_filtered;
}

void system_facts_gather(struct system_facts *facts, const char *root)
{
	struct rlimit memlock;

	memset(facts, 0, sizeof(*facts));
	facts->ring_errno = -1;
	facts->load_err = 1;
	kernel_features_probe(&facts->features);
	facts->perf_event_paranoid = read_number(root, "/proc/sys/kernel/perf_event_paranoid");
	facts->unprivileged_bpf_disabled = read_number(root, "/proc/sys/kernel/unprivileged_bpf_disabled");
	facts->bpf_stats_enabled = read_number(root, "/proc/sys/kernel/bpf_stats_enabled");
	facts->ptrace_scope = read_number(root, "/proc/sys/kernel/yama/ptrace_scope");
	facts->has_cap_sys_ptrace = capability_is_effective(CAP_SYS_PTRACE);
	facts->has_cap_sys_resource = capability_is_effective(CAP_SYS_RESOURCE);
	facts->has_tracefs = is_tracefs(root, "/sys/kernel/tracing") ||
			     is_tracefs(root, "/sys/kernel/debug/tracing");
	facts->is_in_user_namespace = is_in_namespace("/proc/self/ns/user", INIT_USER_NAMESPACE);
	facts->has_seccomp = is_filtered();
	facts->memlock_bytes = !getrlimit(RLIMIT_MEMLOCK, &memlock) && memlock.rlim_cur != RLIM_INFINITY
				       ? memlock.rlim_cur
				       : UINT64_MAX;
}
