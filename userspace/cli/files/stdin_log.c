/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/stdin_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/temporary_file.h"

#define PIECE_BYTES (256u << 10)

static int write_all(int fd, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t done = write(fd, bytes, length);

		if (done < 0 && errno != EINTR)
			return -errno;
		bytes += done > 0 ? done : 0;
		length -= done > 0 ? (size_t)done : 0;
	}
	return 0;
}

/* *is_write: writing failed, else reading. */
static int copy(int to, bool *is_write)
{
	char *piece = malloc(PIECE_BYTES);
	ssize_t got = 1;
	int err = piece ? 0 : -ENOMEM;

	*is_write = false;
	while (!err && got != 0) {
		got = read(STDIN_FILENO, piece, PIECE_BYTES);
		if (got < 0 && errno != EINTR)
			err = -errno;
		if (got > 0)
			*is_write = (err = write_all(to, piece, (size_t)got)) != 0;
	}
	free(piece);
	return err;
}

/* The descriptor of a file with all of it, or a negative errno and a sentence was said. */
static int spool(struct cli *cli)
{
	int fd = temporary_file_open(NULL), err;
	bool is_write = true;

	err = fd < 0 ? fd : copy(fd, &is_write);
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	if (is_write)
		cli_fail(cli,
			 "can't copy the standard input into a temporary file in '%s': %s; TMPDIR names "
			 "another folder",
			 temporary_folder(), strerror(-err));
	else
		cli_fail(cli, "can't read the standard input: %s", strerror(-err));
	return err;
}

const char *stdin_log_path(struct cli *cli)
{
	struct stat status;
	int fd = STDIN_FILENO;

	if (cli->stdin_path[0])
		return cli->stdin_path;
	if (isatty(STDIN_FILENO)) {
		cli_fail(cli, "'-' is the standard input, which is a terminal: give a file, or a log through "
			      "a pipe");
		return NULL;
	}
	if (fstat(STDIN_FILENO, &status) || !S_ISREG(status.st_mode))
		fd = spool(cli);
	if (fd < 0)
		return NULL;
	snprintf(cli->stdin_path, sizeof(cli->stdin_path), "/proc/self/fd/%d", fd);
	return cli->stdin_path;
}

const char *stdin_log_name(const struct cli *cli, const char *path)
{
	return path && cli->stdin_path[0] && strcmp(path, cli->stdin_path) == 0 ? "-" : path;
}
