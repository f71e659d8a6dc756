/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/finished_logs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "log/read/log_family.h"

static int compare(const void *a, const void *b)
{
	const struct finished_log *x = a, *y = b;

	if (x->written_ns != y->written_ns)
		return x->written_ns < y->written_ns ? -1 : 1;
	return strcmp(x->path, y->path);
}

static int add(struct finished_logs *list, const char *directory, const char *name, const struct stat *status)
{
	struct finished_log *logs = array_grow(list->logs, &list->room, list->cnt, sizeof(*logs));
	char *path;

	if (!logs)
		return -ENOMEM;
	list->logs = logs;
	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return -ENOMEM;
	logs[list->cnt++] = (struct finished_log){
		.path = path,
		.written_ns = status->st_mtim.tv_sec * INT64_C(1000000000) + status->st_mtim.tv_nsec,
		.inode = status->st_ino,
		.device = status->st_dev,
	};
	return 0;
}

static int look_at(struct finished_logs *list, DIR *directory, const char *path, const char *name)
{
	bool is_partial = fnmatch("*.txtrace.partial", name, FNM_PERIOD) == 0;
	struct stat status;
	int err;

	if ((!is_partial && fnmatch("*.txtrace", name, FNM_PERIOD)) ||
	    fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return 0;
	err = add(list, path, name, &status);
	/* a recorder holds a file before it writes to it, and until it has its final name */
	if (!err && is_partial && (!status.st_size || log_family_is_held(list->logs[list->cnt - 1].path))) {
		free(list->logs[--list->cnt].path);
		list->held_cnt++;
	}
	return err;
}

int finished_logs_read(struct finished_logs *list, const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	int err = 0;

	if (!directory)
		return -errno;
	while (!err && (errno = 0, entry = readdir(directory)))
		err = look_at(list, directory, path, entry->d_name);
	if (!err)
		err = -errno;
	closedir(directory);
	qsort(list->logs, list->cnt, sizeof(*list->logs), compare);
	return err;
}

void finished_logs_release(struct finished_logs *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		free(list->logs[i].path);
	free(list->logs);
	*list = (struct finished_logs){ 0 };
}
