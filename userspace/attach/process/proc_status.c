/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/proc_status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_THREAD_FLAG 0x00200000u /* PF_KTHREAD */

/* A small file of /proc/PID, terminated. */
static int read_file(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t length;
	int fd, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	length = read(fd, text, size - 1);
	if (length < 0)
		err = -errno;
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return err;
}

static uint64_t mix(uint64_t number)
{
	number = (number ^ (number >> 32)) * 0x9e3779b97f4a7c15ull;
	return number ^ (number >> 29);
}

/*
 * "PID (COMM) STATE PPID …": the comm may hold anything, parentheses and newlines too, but not what follows
 * it.
 */
static int parse_stat(struct proc_status *status, const char *text)
{
	const char *begin = strchr(text, '('), *end = strrchr(text, ')');
	uint64_t code_start = 0, code_end = 0, stack_start = 0;
	unsigned int flags;

	if (!begin || !end || end < begin)
		return -EBADMSG;
	snprintf(status->comm, sizeof(status->comm), "%.*s", (int)(end - begin - 1), begin + 1);
	if (sscanf(end + 1,
		   " %*c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %" SCNu64
		   " %*u %*d %*u %" SCNu64 " %" SCNu64 " %" SCNu64,
		   &status->parent_pid, &flags, &status->start_ticks, &code_start, &code_end,
		   &stack_start) < 3)
		return -EBADMSG;
	status->image = (mix(mix(code_start) ^ code_end) ^ stack_start) | 1;
	status->is_kernel_thread = flags & KERNEL_THREAD_FLAG;
	return 0;
}

/*
 * The value behind "\nNAME:\t"; of several the last, which is the innermost namespace's. A comm cannot forge
 * one: its newlines are escaped here.
 */
static bool last_number(const char *text, const char *name, pid_t *number)
{
	const char *at = strstr(text, name);
	const char *line_end;
	char *behind;

	if (!at)
		return false;
	at += strlen(name);
	line_end = at + strcspn(at, "\n");
	while (at < line_end) {
		long value = strtol(at, &behind, 10);

		if (behind == at || behind > line_end)
			break;
		*number = (pid_t)value;
		at = behind;
	}
	return true;
}

static void read_user(struct proc_status *status, const char *text)
{
	const char *at = strstr(text, "\nUid:\t");
	unsigned int uid;

	if (at && sscanf(at, "\nUid:\t%u", &uid) == 1)
		status->uid = uid;
}

int proc_status_read(struct proc_status *status, pid_t pid)
{
	char text[4096];
	int err;

	memset(status, 0, sizeof(*status));
	err = read_file(pid, "stat", text, sizeof(text));
	if (!err)
		err = parse_stat(status, text);
	if (!err)
		err = read_file(pid, "status", text, sizeof(text));
	if (err)
		return err;
	status->inner_pid = pid;
	read_user(status, text);
	last_number(text, "\nNSpid:", &status->inner_pid);
	return last_number(text, "\nTgid:", &status->tgid) ? 0 : -EBADMSG;
}

bool proc_status_is_strict(pid_t pid)
{
	const struct dirent *entry;
	bool is_strict = false;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && !is_strict && (entry = readdir(tasks))) {
		char text[4096];
		pid_t mode = 0, tid = (pid_t)strtol(entry->d_name, NULL, 10);

		is_strict = tid > 0 && !read_file(tid, "status", text, sizeof(text)) &&
			    last_number(text, "\nSeccomp:", &mode) && mode == SECCOMP_MODE_STRICT;
	}
	if (tasks)
		closedir(tasks);
	return is_strict;
}
