/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/metrics_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/units.h"
#include "record/service/metrics_http.h"

#define MEMORY_MAX (UINT64_C(2) << 30) /* of the process: 16 clients may each have to be sent a page */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct metrics_server {
	struct outside_process process;
	int epoll_fd; /* of its socket alone: for what is awaited there, a request or room */
	metrics_page page;
	void *context;
	struct text out; /* a page with its length before it */
	size_t sent;	 /* bytes of it */
};

static bool parse_port(const char *text, in_port_t *port)
{
	uint64_t number;

	if (units_parse_u64(text, &number) || !number || number > UINT16_MAX)
		return false;
	*port = htons((uint16_t)number);
	return true;
}

/* "1.2.3.4:80" or "[::1]:80" */
static bool parse_address(const char *text, union address *address)
{
	const char *colon = strrchr(text, ':');
	bool is_v6 = text[0] == '[';
	char host[INET6_ADDRSTRLEN];
	size_t length;

	memset(address, 0, sizeof(*address));
	if (!colon || (is_v6 && (colon == text || colon[-1] != ']')))
		return false;
	length = (size_t)(colon - text) - (is_v6 ? 2 : 0);
	if (length >= sizeof(host))
		return false;
	memcpy(host, text + is_v6, length);
	host[length] = '\0';
	if (is_v6) {
		address->v6.sin6_family = AF_INET6;
		return inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1 &&
		       parse_port(colon + 1, &address->v6.sin6_port);
	}
	address->v4.sin_family = AF_INET;
	return inet_pton(AF_INET, host, &address->v4.sin_addr) == 1 &&
	       parse_port(colon + 1, &address->v4.sin_port);
}

static int listen_at(const union address *address)
{
	bool is_v6 = address->any.sa_family == AF_INET6;
	socklen_t length = is_v6 ? sizeof(address->v6) : sizeof(address->v4);
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1,
	    err = 0;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    (is_v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on))) ||
	    bind(fd, &address->any, length) || listen(fd, SOMAXCONN))
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static void expect(const struct metrics_server *server, int operation, uint32_t events)
{
	struct epoll_event event = { .events = events };

	epoll_ctl(server->epoll_fd, operation, server->process.socket_fd, &event);
}

/* What the process says first. */
static int hear_outcome(struct metrics_server *server, struct metrics_outcome *outcome)
{
	if (recv(server->process.socket_fd, outcome, sizeof(*outcome), MSG_WAITALL) != sizeof(*outcome)) {
		*outcome = (struct metrics_outcome){ -EPIPE, "the process that serves them ended" };
		return -EPIPE;
	}
	outcome->why[sizeof(outcome->why) - 1] = '\0';
	return outcome->err > 0 ? -EPROTO : outcome->err;
}

static int start(struct metrics_server *server, const struct metrics_server_options *options,
		 const union address *address, struct metrics_outcome *outcome)
{
	struct metrics_http http = { .is_v6 = address->any.sa_family == AF_INET6, .settle = options->settle };
	struct outside_program program = {
		.name = "txtrace-metrics",
		.socket_type = SOCK_STREAM,
		.kept_fd = listen_at(address),
		.memory_max = MEMORY_MAX,
		.serve = metrics_http_serve,
		.context = &http,
	};
	int err = program.kept_fd;

	if (err >= 0) {
		err = outside_process_start(&server->process, &program);
		close(program.kept_fd);
	}
	if (err < 0) {
		strncpy(outcome->why, strerror(-err), sizeof(outcome->why) - 1);
		return err;
	}
	err = hear_outcome(server, outcome);
	if (err)
		return err;
	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	expect(server, EPOLL_CTL_ADD, EPOLLIN);
	return 0;
}

int metrics_server_open(struct metrics_server **result, const struct metrics_server_options *options,
			struct error *error)
{
	struct metrics_server *server = calloc(1, sizeof(*server));
	struct metrics_outcome outcome = { .err = 0 };
	union address address;
	int err;

	if (!server) {
		error_set(error, "not enough memory to serve metrics");
		return -ENOMEM;
	}
	server->process.socket_fd = server->epoll_fd = -1;
	server->page = options->page;
	server->context = options->context;
	if (!parse_address(options->address, &address)) {
		free(server);
		error_set(error,
			  "cannot serve metrics at '%s': give an address and a port, such as 127.0.0.1:9464 "
			  "or [::1]:9464",
			  options->address);
		return -EINVAL;
	}
	err = start(server, options, &address, &outcome);
	if (!err) {
		*result = server;
		return 0;
	}
	error_set(error, "cannot serve metrics at '%s': %s", options->address, outcome.why);
	metrics_server_close(server);
	return err;
}

int metrics_server_fd(const struct metrics_server *server)
{
	return server->epoll_fd;
}

static void give_up(struct metrics_server *server)
{
	if (server->epoll_fd >= 0)
		close(server->epoll_fd);
	server->epoll_fd = -1;
	outside_process_end(&server->process);
	text_release(&server->out);
}

/* As much as there is room for. */
static void send_page(struct metrics_server *server)
{
	const char *bytes = text_string(&server->out);
	ssize_t sent = send(server->process.socket_fd, bytes + server->sent,
			    server->out.length - server->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (sent < 0 && errno != EAGAIN && errno != EINTR) {
		give_up(server);
		return;
	}
	server->sent += sent > 0 ? (size_t)sent : 0;
	if (server->sent == server->out.length) {
		text_clear(&server->out);
		server->sent = 0;
		expect(server, EPOLL_CTL_MOD, EPOLLIN);
	}
}

static void answer(struct metrics_server *server, enum metrics_format format)
{
	struct text page = { 0 };
	uint32_t size;

	server->page(server->context, format, &page);
	size = (uint32_t)page.length;
	text_append_bytes(&server->out, (const char *)&size, sizeof(size));
	text_append_bytes(&server->out, text_string(&page), page.length);
	if (page.err || server->out.err || page.length > METRICS_PAGE_MAX) {
		text_release(&server->out);
		size = 0;
		text_append_bytes(&server->out, (const char *)&size, sizeof(size));
	}
	text_release(&page);
	if (server->out.err) {
		give_up(server);
		return;
	}
	expect(server, EPOLL_CTL_MOD, EPOLLOUT);
	send_page(server);
}

/* It asks for one page at a time. */
void metrics_server_run(struct metrics_server *server)
{
	char request[2];
	ssize_t got;

	if (server->process.socket_fd < 0)
		return;
	if (server->out.length) {
		send_page(server);
		return;
	}
	got = recv(server->process.socket_fd, request, sizeof(request), MSG_DONTWAIT);
	if (got == 1 && request[0] >= 0 && request[0] < METRICS_FORMATS)
		answer(server, (enum metrics_format)request[0]);
	else if (got >= 0 || (errno != EAGAIN && errno != EINTR))
		give_up(server);
}

bool metrics_server_is_gone(const struct metrics_server *server)
{
	return server->process.socket_fd < 0;
}

void metrics_server_close(struct metrics_server *server)
{
	if (!server)
		return;
	give_up(server);
	free(server);
}
