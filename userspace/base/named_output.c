/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/named_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The number of /dev/fd/N, or -1. */
static int own_descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	unsigned long number;
	char *end;

	if (strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		const char *digits = path + strlen(folders[i]);

		if (strncmp(path, folders[i], strlen(folders[i])) != 0 || *digits < '0' || *digits > '9')
			continue;
		number = strtoul(digits, &end, 10);
		if (!*end && number < 1u << 20)
			return (int)number;
	}
	return -1;
}

/*
 * What a link leads to is not ours to judge by its name: an ordinary file's is
 * replaced, and the link with it.
 */
static int look_behind_link(const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return errno == ENOENT || errno == EACCES || errno == ELOOP ? 0 : -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return S_ISREG(status.st_mode) ? 0 : -ELOOP;
}

/* 1: it is to be opened as it is. */
static int look(const char *path)
{
	struct stat status;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : -errno;
	if (S_ISLNK(status.st_mode))
		return look_behind_link(path);
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return !S_ISREG(status.st_mode);
}

/* It may have become another file since it was looked at. */
static int open_special(const char *path, bool waits)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | (waits ? 0 : O_NONBLOCK));
	struct stat status;
	int flags, err = 0;

	if (fd < 0)
		return -errno;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fstat(fd, &status))
		err = -errno;
	else if (S_ISREG(status.st_mode))
		err = -ESTALE;
	else if (!waits && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

int named_output_special(int *fd, const char *path, bool waits)
{
	int own = own_descriptor(path), result;

	*fd = -1;
	if (own >= 0) {
		*fd = fcntl(own, F_DUPFD_CLOEXEC, 3);
		return *fd < 0 ? -errno : 0;
	}
	result = look(path);
	if (result <= 0)
		return result;
	result = open_special(path, waits);
	if (result < 0)
		return result;
	*fd = result;
	return 0;
}

int named_output_make(const char *path)
{
	char *beside;
	int fd, err;

	if (asprintf(&beside, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(beside, O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	if (!err && rename(beside, path)) {
		err = -errno;
		unlink(beside);
		close(fd);
	}
	free(beside);
	return err ? err : fd;
}

const char *named_output_explain(int err)
{
	switch (err) {
	case -ENXIO:
		return "that pipe has no reader";
	case -ELOOP:
		return "it is a symbolic link to a device or a pipe";
	case -ESTALE:
		return "it was replaced meanwhile";
	default:
		return strerror(-err);
	}
}
