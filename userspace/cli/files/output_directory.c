/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/output_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void release(struct output_directory *output)
{
	if (output->fd >= 0)
		close(output->fd);
	free(output->path);
	free(output->beside);
	*output = (struct output_directory){ .fd = -1 };
}

/* What rename() would refuse only in the end. */
static int check_free(const char *path)
{
	struct stat status;
	struct dirent *entry;
	DIR *directory;
	int err = 0;

	if (lstat(path, &status) != 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISDIR(status.st_mode))
		return -EEXIST;
	directory = opendir(path);
	if (!directory)
		return -errno;
	while (!err && (entry = readdir(directory)))
		err = strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") ? -EEXIST : 0;
	closedir(directory);
	return err;
}

static int make_beside(struct output_directory *output)
{
	mode_t mask = umask(0);

	umask(mask);
	if (asprintf(&output->beside, "%s.XXXXXX", output->path) < 0) {
		output->beside = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(output->beside)) {
		int err = -errno;

		free(output->beside);
		output->beside = NULL;
		return err;
	}
	output->fd = open(output->beside, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (output->fd < 0 || fchmod(output->fd, 0777 & ~mask) != 0)
		return -errno;
	return 0;
}

int output_directory_open(struct output_directory *output, const char *path)
{
	size_t length = strlen(path);
	int err;

	*output = (struct output_directory){ .fd = -1 };
	while (length > 1 && path[length - 1] == '/')
		length--;
	output->path = strndup(path, length);
	err = output->path ? check_free(output->path) : -ENOMEM;
	if (!err)
		err = make_beside(output);
	if (err)
		output_directory_abort(output);
	return err;
}

int output_directory_commit(struct output_directory *output)
{
	int err = rename(output->beside, output->path) == 0 ? 0 : -errno;

	if (err)
		output_directory_abort(output);
	else
		release(output);
	return err == -ENOTEMPTY || err == -ENOTDIR ? -EEXIST : err;
}

void output_directory_abort(struct output_directory *output)
{
	DIR *directory = output->fd >= 0 ? fdopendir(output->fd) : NULL;
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(output->fd, entry->d_name, 0);
	}
	if (directory) {
		closedir(directory); /* with the descriptor */
		output->fd = -1;
	}
	if (output->beside)
		rmdir(output->beside);
	release(output);
}
