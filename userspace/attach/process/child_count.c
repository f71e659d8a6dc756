/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/child_count.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static bool read_program(pid_t pid, struct stat *status)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, status) == 0;
}

static void add_children(struct child_count *count, const char *path, const struct stat *program)
{
	FILE *file = fopen(path, "re");
	struct stat status;
	int child;

	while (file && fscanf(file, "%d", &child) == 1) {
		count->cnt++;
		count->alike_cnt += program && read_program(child, &status) &&
				    status.st_dev == program->st_dev && status.st_ino == program->st_ino;
	}
	if (file)
		fclose(file);
}

/* A child is listed with the thread that made it. */
void child_count_add(struct child_count *count, pid_t pid)
{
	char path[sizeof("/proc/4294967295/task/") + 256 + sizeof("/children")];
	struct stat program;
	bool has_program = read_program(pid, &program);
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		if (atoi(entry->d_name) <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/children", (int)pid, entry->d_name);
		add_children(count, path, has_program ? &program : NULL);
	}
	if (tasks)
		closedir(tasks);
}
