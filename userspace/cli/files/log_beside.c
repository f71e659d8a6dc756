/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/log_beside.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the guard ---- */

/* A byte says that all is well; an end of the line without one, that its other end died. */
__attribute__((noreturn)) static void watch(int fd, const struct log_beside *beside)
{
	ssize_t got;
	char byte;

	/* What ends the command is sent to both of them by a terminal. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	do {
		got = read(fd, &byte, 1);
	} while (got < 0 && errno == EINTR);
	if (got == 0) {
		unlink(beside->partial);
		unlink(beside->name); /* it may have been complete, and not been renamed yet */
	}
	_exit(0);
}

static void start_guard(struct log_beside *beside)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return;
	beside->guard = fork();
	if (beside->guard == 0) {
		close(fds[1]);
		watch(fds[0], beside);
	}
	close(fds[0]);
	beside->guard_fd = fds[1];
}

static void end_guard(struct log_beside *beside)
{
	if (beside->guard > 0) {
		while (send(beside->guard_fd, "", 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
			;
		while (waitpid(beside->guard, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (beside->guard_fd > 0)
		close(beside->guard_fd);
}

/* ---- the name ---- */

static void forget(struct log_beside *beside)
{
	end_guard(beside);
	free(beside->name);
	free(beside->partial);
	*beside = (struct log_beside){ .path = beside->path };
}

int log_beside_init(struct log_beside *beside, const char *path)
{
	uint32_t number = (uint32_t)getpid();
	struct stat status;

	*beside = (struct log_beside){ .path = path };
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return S_ISDIR(status.st_mode) ? -EISDIR : 0;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0 && errno != EAGAIN)
		return -errno;
	if (asprintf(&beside->name, "%s.%08x", path, number) < 0)
		beside->name = NULL;
	if (asprintf(&beside->partial, "%s.%08x.partial", path, number) < 0)
		beside->partial = NULL;
	if (!beside->name || !beside->partial) {
		forget(beside);
		return -ENOMEM;
	}
	start_guard(beside);
	return 0;
}

const char *log_beside_name(const struct log_beside *beside)
{
	return beside->name ? beside->name : beside->path;
}

int log_beside_commit(struct log_beside *beside)
{
	int err = beside->name && rename(beside->name, beside->path) ? -errno : 0;

	if (err)
		unlink(beside->name);
	forget(beside);
	return err;
}

void log_beside_abort(struct log_beside *beside)
{
	if (beside->partial)
		unlink(beside->partial);
	forget(beside);
}
