/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/serve/http_server.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENT_SECONDS_MAX 60

/* ---- the address ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool is_loopback(const union address *address)
{
	if (address->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
	return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

/* false: it is no address. */
static bool parse_address(const char *text, union address *address, socklen_t *length)
{
	char host[HTTP_ADDRESS_SIZE] = "127.0.0.1";
	const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
	char *end;
	unsigned long number = strtoul(port, &end, 10);
	size_t host_length = colon ? (size_t)(colon - text) : 0;
	bool is_v6 = host_length > 2 && *text == '[' && colon[-1] == ']';

	if (*port < '0' || *port > '9' || *end || number > UINT16_MAX || host_length >= sizeof(host))
		return false;
	if (is_v6)
		snprintf(host, sizeof(host), "%.*s", (int)host_length - 2, text + 1);
	else if (colon && strncmp(text, "localhost:", host_length + 1) != 0)
		snprintf(host, sizeof(host), "%.*s", (int)host_length, text);
	memset(address, 0, sizeof(*address));
	*length = is_v6 ? sizeof(address->v6) : sizeof(address->v4);
	if (is_v6) {
		address->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
						     .sin6_port = htons((uint16_t)number) };
		return inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1;
	}
	address->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)number) };
	return inet_pton(AF_INET, host, &address->v4.sin_addr) == 1;
}

static int listen_at(struct http_server *server, union address *address, socklen_t length)
{
	char host[INET6_ADDRSTRLEN];
	bool is_v6 = address->any.sa_family == AF_INET6;
	int yes = 1;

	server->fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->fd < 0 || setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(server->fd, &address->any, length) || listen(server->fd, SOMAXCONN) ||
	    getsockname(server->fd, &address->any, &length))
		return -errno;
	if (!inet_ntop(address->any.sa_family,
		       is_v6 ? (void *)&address->v6.sin6_addr : (void *)&address->v4.sin_addr, host,
		       sizeof(host)))
		return -errno;
	snprintf(server->port, sizeof(server->port), "%u",
		 ntohs(is_v6 ? address->v6.sin6_port : address->v4.sin_port));
	snprintf(server->host, sizeof(server->host), is_v6 ? "[%s]:%s" : "%s:%s", host, server->port);
	return 0;
}

/* ---- the server ---- */

/* What a client does wrong is the client's business. */
static void ignore(void *context, const char *format, va_list arguments)
{
	(void)context;
	(void)format;
	(void)arguments;
}

static int start(struct http_server *server, bool is_v6)
{
	const struct http_handler *handler = server->handler;

	errno = 0;
	server->daemon = server->library.start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG |
							      (is_v6 ? MHD_USE_IPv6 : 0),
						      0, NULL, NULL, handler->handle, handler->context,
						      MHD_OPTION_EXTERNAL_LOGGER, ignore, NULL,
						      MHD_OPTION_LISTEN_SOCKET, server->fd,
						      MHD_OPTION_CONNECTION_LIMIT, handler->connections_max,
						      MHD_OPTION_CONNECTION_TIMEOUT,
						      (unsigned int)CLIENT_SECONDS_MAX,
						      MHD_OPTION_NOTIFY_COMPLETED, handler->completed,
						      handler->context, MHD_OPTION_END);
	return server->daemon ? 0 : errno ? -errno : -EADDRNOTAVAIL;
}

int http_server_open(struct http_server *server, struct cli *cli, const char *address,
		     const struct http_handler *handler)
{
	union address where;
	socklen_t length;
	int err;

	*server = (struct http_server){ .cli = cli, .handler = handler, .fd = -1 };
	if (!parse_address(address, &where, &length) || (!handler->is_public && !is_loopback(&where)))
		return cli_fail(cli, "'%s' is no address%s: give one as in 127.0.0.1:8080, or a port",
				address, handler->is_public ? "" : " of this machine alone");
	if (!http_library_load(&server->library))
		return cli_fail(cli, "a server needs libmicrohttpd, which can't be loaded: %s", dlerror());
	err = listen_at(server, &where, length);
	err = err ? err : start(server, where.any.sa_family == AF_INET6);
	if (!err)
		return CLI_OK;
	if (server->fd >= 0)
		close(server->fd);
	return cli_fail(cli, "can't serve at '%s': %s", address, strerror(-err));
}

static volatile sig_atomic_t has_ended;

static void end(int signal)
{
	(void)signal;
	has_ended = 1;
}

/* Signals come only while it waits. */
static void serve(struct http_server *server, const sigset_t *waiting)
{
	const struct http_handler *handler = server->handler;
	struct pollfd fd = {
		.fd = server->library.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		.events = POLLIN
	};

	while (!has_ended) {
		MHD_UNSIGNED_LONG_LONG wait_ms;
		bool has_wait = server->library.get_timeout(server->daemon, &wait_ms) == MHD_YES;
		struct timespec wait;

		if (handler->turn && (!has_wait || wait_ms > handler->turn_ms)) {
			wait_ms = handler->turn_ms;
			has_wait = true;
		}
		wait = (struct timespec){ .tv_sec = (time_t)(wait_ms / 1000),
					  .tv_nsec = (long)(wait_ms % 1000) * 1000000 };
		if (ppoll(&fd, 1, has_wait ? &wait : NULL, waiting) < 0 && errno != EINTR)
			return;
		server->library.run(server->daemon);
		if (handler->turn)
			handler->turn(handler->context);
	}
}

void http_server_run(struct http_server *server)
{
	const struct sigaction action = { .sa_handler = end };
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t ending, before;

	signal(SIGPIPE, SIG_IGN); /* a client may go at any time */
	sigemptyset(&ending);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		sigaddset(&ending, signals[i]);
		sigaction(signals[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &ending, &before);
	serve(server, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void http_server_close(struct http_server *server)
{
	server->library.stop_daemon(server->daemon);
}
