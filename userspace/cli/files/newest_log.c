/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/newest_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

#define PARTIAL ".partial"

static bool is_log(const char *name)
{
	return fnmatch("*.txtrace", name, FNM_PERIOD) == 0 ||
	       fnmatch("*.txtrace" PARTIAL, name, FNM_PERIOD) == 0;
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* The name, as it is in the directory; NULL: there is none. */
static char *find_newest(DIR *directory)
{
	struct timespec newest_time = { 0 };
	const struct dirent *entry;
	char *newest = NULL;

	while ((entry = readdir(directory))) {
		struct stat status;

		if (!is_log(entry->d_name) ||
		    fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(status.st_mode) || (newest && !is_newer(&status.st_mtim, &newest_time)))
			continue;
		free(newest);
		newest = strdup(entry->d_name);
		newest_time = status.st_mtim;
	}
	return newest;
}

int newest_log_find(const char *path, char **found)
{
	DIR *directory = opendir(path);
	struct text text = { 0 };
	char *name;

	*found = NULL;
	if (!directory && (errno == ENOTDIR || errno == ENOENT)) { /* it may only be there as .partial yet */
		*found = strdup(path);
		return *found ? 0 : -ENOMEM;
	}
	if (!directory)
		return -errno;
	name = find_newest(directory);
	closedir(directory);
	if (!name)
		return -ENOENT;
	if (strlen(name) > strlen(PARTIAL) && strcmp(name + strlen(name) - strlen(PARTIAL), PARTIAL) == 0)
		name[strlen(name) - strlen(PARTIAL)] = '\0';
	text_append_format(&text, "%s/%s", path, name);
	free(name);
	*found = text.bytes;
	return text.err;
}

char *newest_log_path(struct cli *cli, const char *path)
{
	char *found;
	int err = newest_log_find(path, &found);

	if (err == -ENOENT)
		cli_fail(cli, "there is no log (*.txtrace) in '%s'", path);
	else if (err)
		cli_fail(cli, "can't read '%s': %s", path, strerror(-err));
	return err ? NULL : found;
}
