/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service manager of a test: hears when a recorder records (sd_notify), and makes a file for it, whose
 * name is its pid. Returns when it listens; the process that does ends with the one that it watches. truth.h
 * has the programs wait for these files.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "program_options.h"

static int listen_at(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), yes = 1;
	size_t length = strlen(name);

	if (fd < 0 || length == 0 || length + 1 > sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path + 1, name, length); /* in the abstract namespace */
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) ||
	    bind(fd, (struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)))
		return -1;
	return fd;
}

static void note(const char *folder, pid_t pid)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%d", folder, pid);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
}

static void hear(int fd, const char *folder)
{
	char text[256], control[CMSG_SPACE(sizeof(struct ucred))];
	struct iovec part = { .iov_base = text, .iov_len = sizeof(text) - 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	ssize_t length = recvmsg(fd, &message, 0);
	const struct cmsghdr *header = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	struct ucred sender;

	if (!header || header->cmsg_type != SCM_CREDENTIALS)
		return;
	text[length] = '\0';
	memcpy(&sender, CMSG_DATA(header), sizeof(sender));
	if (strstr(text, "READY=1"))
		note(folder, sender.pid);
}

int main(int argc, char **argv)
{
	const char *socket_name = NULL, *folder = NULL;
	uint64_t watched = 0;
	const struct option_spec table[] = {
		{ .name = "socket", .help = "its name, an abstract one", .text = &socket_name },
		{ .name = "folder", .help = "for the files", .text = &folder },
		{ .name = "watch", .help = "pid", .count = &watched, .max = INT32_MAX },
	};
	struct pollfd fds[2];

	options_parse(table, sizeof(table) / sizeof(table[0]), "notified: hears of recorders", argc,
		      argv);
	if (!socket_name || !folder || !watched)
		return 2;
	fds[0] = (struct pollfd){ .fd = listen_at(socket_name), .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = (int)syscall(SYS_pidfd_open, (pid_t)watched, 0),
				  .events = POLLIN };
	if (fds[0].fd < 0 || fds[1].fd < 0)
		return 1;
	if (fork())
		return 0;
	while (poll(fds, 2, -1) >= 0 || errno == EINTR) {
		if (fds[0].revents)
			hear(fds[0].fd, folder);
		if (fds[1].revents)
			break;
	}
	return 0;
}
