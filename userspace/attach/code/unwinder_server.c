/* SPDX-License-Identifier: BSD-2-Clause */
/* The unwinder's process: it has the files, and reads what they say. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attach/code/code_file.h"
#include "attach/code/unwinder.h"
#include "base/id_map.h"

static bool take_request(struct unwinder_request *request, int *fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec data = { request, sizeof(*request) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *header;
	ssize_t got;

	*fd = -1;
	do {
		got = recvmsg(OUTSIDE_SOCKET_FD, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got != sizeof(*request))
		return false;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return !request->has_fd || *fd >= 0;
}

static void reply(const void *bytes, size_t size)
{
	if (send(OUTSIDE_SOCKET_FD, bytes, size, MSG_NOSIGNAL) < 0)
		_exit(0);
}

static void open_file(struct id_map *files, uint32_t number, int fd)
{
	struct code_segments none = { .cnt = 0 };
	struct code_file *file = code_file_new(number, fd, "");

	if (file && id_map_put(files, number, 0, file)) {
		code_file_free(file);
		file = NULL;
	}
	reply(file ? &file->segments : &none, sizeof(none));
}

static void find_row(const struct id_map *files, const struct unwinder_request *request)
{
	struct code_file *file = id_map_get(files, request->file, 0);
	struct unwinder_row_reply answer;

	memset(&answer, 0, sizeof(answer));
	answer.is_known = file && code_file_unwind(file, request->address, &answer.row);
	reply(&answer, sizeof(answer));
}

void unwinder_serve(void *context)
{
	const struct outside_settle *settle = context;
	struct unwinder_request request;
	struct id_map files; /* number -> struct code_file */
	int fd;

	id_map_init(&files);
	if (settle->settle)
		settle->settle(settle->context);
	while (take_request(&request, &fd)) {
		if (request.has_fd)
			open_file(&files, request.file, fd);
		else
			find_row(&files, &request);
	}
}
