/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/code/unwinder.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"

#define MEMORY_MAX (UINT64_C(4) << 30)
/* For one question: the rings hold what comes meanwhile, and it is waited for in vain only once. */
#define WAIT_NS UINT64_C(2000000000)

struct unwinder {
	struct outside_process process;
	bool has_failed;
};

int unwinder_new(struct unwinder **result, const struct outside_settle *settle)
{
	const struct outside_program program = {
		.name = "txtrace-unwind",
		.socket_type = SOCK_SEQPACKET,
		.kept_fd = -1,
		.memory_max = MEMORY_MAX,
		.serve = unwinder_serve,
		.context = (void *)settle,
	};
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));
	int err;

	if (!unwinder)
		return -ENOMEM;
	err = outside_process_start(&unwinder->process, &program);
	if (err) {
		free(unwinder);
		return err;
	}
	*result = unwinder;
	return 0;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	outside_process_end(&unwinder->process);
	free(unwinder);
}

/* fd: -1: none comes along. */
static bool send_request(const struct unwinder *unwinder, const struct unwinder_request *request, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec data = { (void *)request, sizeof(*request) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	if (fd >= 0) {
		struct cmsghdr *header;

		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &fd, sizeof(int));
	}
	return sendmsg(unwinder->process.socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       sizeof(*request);
}

/* Of exactly that size. */
static bool receive(const struct unwinder *unwinder, void *answer, size_t size)
{
	uint64_t until_ns = clock_now_ns() + WAIT_NS, time_ns;

	while ((time_ns = clock_now_ns()) < until_ns) {
		struct pollfd ready = { .fd = unwinder->process.socket_fd, .events = POLLIN };
		ssize_t got;

		if (poll(&ready, 1, (int)((until_ns - time_ns) / 1000000 + 1)) <= 0)
			continue;
		got = recv(unwinder->process.socket_fd, answer, size, MSG_DONTWAIT | MSG_TRUNC);
		if (got == (ssize_t)size)
			return true;
		if (got >= 0 || (errno != EAGAIN && errno != EINTR))
			return false;
	}
	return false;
}

static bool ask(struct unwinder *unwinder, const struct unwinder_request *request, int fd, void *answer,
		size_t size)
{
	if (unwinder->has_failed)
		return false;
	if (send_request(unwinder, request, fd) && receive(unwinder, answer, size))
		return true;
	unwinder->has_failed = true;
	outside_process_end(&unwinder->process);
	return false;
}

bool unwinder_open(struct unwinder *unwinder, uint32_t number, int fd, struct code_segments *segments)
{
	const struct unwinder_request request = { .file = number, .has_fd = 1 };

	if (!ask(unwinder, &request, fd, segments, sizeof(*segments)) || segments->cnt > CODE_SEGMENT_MAX) {
		*segments = (struct code_segments){ .cnt = 0 };
		return false;
	}
	return true;
}

static bool is_plausible(const struct unwind_row *row)
{
	for (int i = 0; i < UNWIND_REGISTER_COUNT; i++)
		if (row->rules[i] > UNWIND_STRANGE)
			return false;
	return row->frame_register < UNWIND_REGISTER_COUNT &&
	       (row->return_register == UNWIND_PC || row->return_register == UNWIND_LINK);
}

bool unwinder_row(struct unwinder *unwinder, uint32_t number, uint64_t address, struct unwind_row *row)
{
	const struct unwinder_request request = { .file = number, .address = address };
	struct unwinder_row_reply reply;

	if (!ask(unwinder, &request, -1, &reply, sizeof(reply)) || !reply.is_known ||
	    !is_plausible(&reply.row))
		return false;
	*row = reply.row;
	return true;
}

bool unwinder_has_failed(const struct unwinder *unwinder)
{
	return unwinder->has_failed;
}
