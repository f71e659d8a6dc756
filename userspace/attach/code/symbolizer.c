/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/code/symbolizer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/id_map.h"

#define MEMORY_MAX (UINT64_C(4) << 30)
#define IN_FLIGHT_MAX 64 /* the socket holds about as many */

struct symbolizer {
	struct outside_process process;
	struct id_map files_sent; /* number + 1 -> anything */
	struct symbol_query *queries; /* a ring: first those that were sent */
	size_t size;
	size_t begin;
	size_t cnt;
	size_t sent_cnt;
	bool has_failed;
};

int symbolizer_new(struct symbolizer **result, const struct outside_settle *settle)
{
	const struct outside_program program = {
		.name = "txtrace-symbols",
		.socket_type = SOCK_SEQPACKET,
		.kept_fd = -1,
		.memory_max = MEMORY_MAX,
		.serve = symbolizer_serve,
		.context = (void *)settle,
	};
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));
	int err;

	if (!symbolizer)
		return -ENOMEM;
	err = outside_process_start(&symbolizer->process, &program);
	if (err) {
		free(symbolizer);
		return err;
	}
	id_map_init(&symbolizer->files_sent);
	*result = symbolizer;
	return 0;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	outside_process_end(&symbolizer->process);
	id_map_release(&symbolizer->files_sent);
	free(symbolizer->queries);
	free(symbolizer);
}

int symbolizer_ask(struct symbolizer *symbolizer, const struct symbol_query *query)
{
	if (symbolizer->process.socket_fd < 0)
		return -EPIPE;
	if (symbolizer->cnt == symbolizer->size) {
		size_t size = symbolizer->size ? symbolizer->size * 2 : 256;
		struct symbol_query *grown = malloc(size * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		for (size_t i = 0; i < symbolizer->cnt; i++)
			grown[i] = symbolizer->queries[(symbolizer->begin + i) % symbolizer->size];
		free(symbolizer->queries);
		symbolizer->queries = grown;
		symbolizer->size = size;
		symbolizer->begin = 0;
	}
	symbolizer->queries[(symbolizer->begin + symbolizer->cnt++) % symbolizer->size] = *query;
	return 0;
}

/* False: the socket is full, or broken. */
static bool send_query(struct symbolizer *symbolizer, const struct symbol_query *query)
{
	struct symbol_request request = { .address = query->address, .file = query->file };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct iovec data = { &request, sizeof(request) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };

	if (!id_map_get(&symbolizer->files_sent, query->file, 0)) {
		struct cmsghdr *header;

		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &query->fd, sizeof(int));
		request.has_fd = 1;
	}
	if (sendmsg(symbolizer->process.socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		symbolizer->has_failed |= errno != EAGAIN && errno != EINTR && errno != ENOBUFS;
		return false;
	}
	if (request.has_fd && id_map_put(&symbolizer->files_sent, query->file, 0, symbolizer))
		symbolizer->has_failed = true; /* it would be sent twice */
	return true;
}

static void send_queries(struct symbolizer *symbolizer)
{
	while (symbolizer->sent_cnt < symbolizer->cnt && symbolizer->sent_cnt < IN_FLIGHT_MAX &&
	       !symbolizer->has_failed &&
	       send_query(symbolizer, &symbolizer->queries[(symbolizer->begin + symbolizer->sent_cnt) %
							   symbolizer->size]))
		symbolizer->sent_cnt++;
}

static struct symbol_query next_query(struct symbolizer *symbolizer)
{
	struct symbol_query query = symbolizer->queries[symbolizer->begin];

	symbolizer->begin = (symbolizer->begin + 1) % symbolizer->size;
	symbolizer->cnt--;
	symbolizer->sent_cnt -= symbolizer->sent_cnt > 0;
	return query;
}

/* Answers come in the order of the queries. What comes from the other process is not trusted either. */
static int take_reply(struct symbolizer *symbolizer, const char *bytes, size_t size, symbol_take take,
		      void *context)
{
	struct symbol_reply reply;
	char source[256];
	struct symbol_answer answer = { .source = source };

	if (size < sizeof(reply) || symbolizer->sent_cnt == 0) {
		symbolizer->has_failed = true;
		return 0;
	}
	memcpy(&reply, bytes, sizeof(reply));
	if (reply.names_length > SYMBOL_TEXT_MAX || reply.source_length >= sizeof(source) ||
	    size != sizeof(reply) + reply.names_length + reply.source_length) {
		symbolizer->has_failed = true;
		return 0;
	}
	answer.cookie = next_query(symbolizer).cookie;
	answer.names = bytes + sizeof(reply);
	answer.names_length = reply.names_length;
	answer.offset = reply.offset;
	answer.line = reply.line;
	memcpy(source, bytes + sizeof(reply) + reply.names_length, reply.source_length);
	source[reply.source_length] = '\0';
	return take(context, &answer);
}

static int give_up(struct symbolizer *symbolizer, symbol_take take, void *context)
{
	int err = 0;

	outside_process_end(&symbolizer->process);
	while (!err && symbolizer->cnt > 0) {
		struct symbol_answer answer = { .cookie = next_query(symbolizer).cookie, .source = "" };

		err = take(context, &answer);
	}
	return err;
}

int symbolizer_poll(struct symbolizer *symbolizer, symbol_take take, void *context, uint64_t wait_ns)
{
	uint64_t until_ns = clock_now_ns() + wait_ns, time_ns;
	char bytes[SYMBOL_REPLY_MAX];
	int err = 0;

	while (!err && symbolizer->cnt > 0) {
		struct pollfd ready = { .fd = symbolizer->process.socket_fd, .events = POLLIN };
		ssize_t got;

		if (!symbolizer->has_failed)
			send_queries(symbolizer);
		if (symbolizer->has_failed || symbolizer->process.socket_fd < 0)
			return give_up(symbolizer, take, context);
		time_ns = clock_now_ns();
		if (poll(&ready, 1, time_ns < until_ns ? (int)((until_ns - time_ns) / 1000000 + 1) : 0) <=
		    0) {
			if (time_ns >= until_ns)
				break;
			continue;
		}
		got = recv(symbolizer->process.socket_fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (got > 0)
			err = take_reply(symbolizer, bytes, (size_t)got, take, context);
		else if (got == 0 || (errno != EAGAIN && errno != EINTR))
			symbolizer->has_failed = true;
	}
	return err;
}

size_t symbolizer_outstanding_cnt(const struct symbolizer *symbolizer)
{
	return symbolizer->cnt;
}

bool symbolizer_has_failed(const struct symbolizer *symbolizer)
{
	return symbolizer->has_failed;
}
