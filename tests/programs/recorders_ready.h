/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the recorders that a test has started record by now: for each there
 * is a file in TXTRACE_TESTS_READY then (tests/programs/notified.c). Those of
 * other tests do not count.
 */
#ifndef RECORDERS_READY_H
#define RECORDERS_READY_H

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So much of the file as there is room for; what it ends with is cut off. -1: it cannot be read. */
static inline long read_proc(const char *pid, const char *name, char *bytes, size_t size)
{
	char path[300];
	long length, all = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while ((length = read(fd, bytes + all, size - 1 - (size_t)all)) > 0)
		all += length;
	close(fd);
	bytes[all] = '\0';
	return all;
}

static inline bool is_named_recorder(const char *pid)
{
	char comm[32];

	return read_proc(pid, "comm", comm, sizeof(comm)) > 0 && !strcmp(comm, "txtrace-bpf\n");
}

/* One of its processes, which has its name at first. */
static inline bool is_child_of_recorder(const char *pid)
{
	char stat[1024], parent[16];
	const char *end;
	int ppid;

	if (read_proc(pid, "stat", stat, sizeof(stat)) < 0)
		return false;
	end = strrchr(stat, ')');
	if (!end || sscanf(end, ") %*c %d", &ppid) != 1)
		return false;
	snprintf(parent, sizeof(parent), "%d", ppid);
	return is_named_recorder(parent);
}

static inline bool is_of_test(const char *pid, const char *folder)
{
	static char environment[65536];
	long length = read_proc(pid, "environ", environment, sizeof(environment));
	char wanted[4200];

	snprintf(wanted, sizeof(wanted), "TXTRACE_TESTS_READY=%s", folder);
	for (long at = 0; at < length; at += (long)strlen(environment + at) + 1)
		if (!strcmp(environment + at, wanted))
			return true;
	return false;
}

static inline bool recorder_is_ready(const char *pid, const char *folder)
{
	char path[4400];

	if (!is_named_recorder(pid) || is_child_of_recorder(pid) || !is_of_test(pid, folder))
		return true;
	snprintf(path, sizeof(path), "%s/%s", folder, pid);
	return access(path, F_OK) == 0;
}

static inline bool recorders_are_ready(void)
{
	const char *folder = getenv("TXTRACE_TESTS_READY");
	DIR *proc = folder ? opendir("/proc") : NULL;
	const struct dirent *entry;
	bool are_ready = true;

	while (are_ready && proc && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			are_ready = recorder_is_ready(entry->d_name, folder);
	if (proc)
		closedir(proc);
	return are_ready;
}

#endif
