/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/service_manager.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* "/run/…", or "@…" in the abstract namespace. */
static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = strlen(path);
	int fd;

	if ((path[0] != '/' && path[0] != '@') || length >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, length);
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address,
			       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length))) {
		close(fd);
		return -1;
	}
	return fd;
}

int service_manager_open(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	int fd = path ? connect_to(path) : -1;

	unsetenv("NOTIFY_SOCKET");
	return fd;
}

void service_manager_tell(int fd, const char *state)
{
	if (fd >= 0)
		send(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT);
}
