/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/serve/page_server.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/http_library.h"

#define CONNECTIONS_MAX 32
#define CLIENT_SECONDS_MAX 60
#define WORD_BYTES 16
#define ADDRESS_SIZE 64

struct server {
	struct cli *cli;
	const struct page_site *site;
	struct http_library library;
	struct MHD_Daemon *daemon;
	int fd;
	char host[ADDRESS_SIZE]; /* "127.0.0.1:8080" */
	char port[8];
	char word[2 * WORD_BYTES + 1];
};

struct page_request {
	const struct http_library *library;
	struct MHD_Connection *connection;
};

const char *page_request_value(const struct page_request *request, const char *name)
{
	return request->library->lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

/* ---- the address ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* false: it is no address of this machine alone. */
static bool parse_address(const char *text, union address *address, socklen_t *length)
{
	char host[ADDRESS_SIZE] = "127.0.0.1";
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
		return inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1 &&
		       IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
	}
	address->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)number) };
	return inet_pton(AF_INET, host, &address->v4.sin_addr) == 1 &&
	       ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

static int listen_at(struct server *server, union address *address, socklen_t length)
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

static int choose_word(struct server *server)
{
	uint8_t bytes[WORD_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(server->word + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* ---- requests ---- */

static enum MHD_Result send_response(const struct server *server, struct MHD_Connection *connection,
				     unsigned int status, const char *type, struct MHD_Response *response)
{
	static const char *const headers[][2] = {
		{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
	};
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	server->library.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		server->library.add_response_header(response, headers[i][0], headers[i][1]);
	result = server->library.queue_response(connection, status, response);
	server->library.destroy_response(response);
	return result;
}

static enum MHD_Result send_text(const struct server *server, struct MHD_Connection *connection,
				 unsigned int status, const char *text)
{
	return send_response(server, connection, status, "text/plain; charset=utf-8",
			     server->library.create_response_from_buffer(strlen(text),
									 (void *)(uintptr_t)text,
									 MHD_RESPMEM_MUST_COPY));
}

/* A name that a web page has led here is none of ours. */
static bool is_our_host(const struct server *server, struct MHD_Connection *connection)
{
	const char *host = server->library.lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	char local[ADDRESS_SIZE];

	snprintf(local, sizeof(local), "localhost:%s", server->port);
	return host && (!strcmp(host, server->host) || !strcmp(host, local));
}

static enum MHD_Result send_page(const struct server *server, struct MHD_Connection *connection,
				 const char *path)
{
	const struct page_request request = { &server->library, connection };
	struct page_reply reply = { .type = "text/html; charset=utf-8" };
	int err = server->site->answer(server->site->context, path, &request, &reply), fd;

	if (err == -ENOENT)
		return send_text(server, connection, MHD_HTTP_NOT_FOUND, "There is no such page.\n");
	if (err) {
		free(reply.bytes);
		return send_text(server, connection, MHD_HTTP_INTERNAL_SERVER_ERROR, strerror(-err));
	}
	if (!reply.fd)
		return send_response(server, connection, MHD_HTTP_OK, reply.type,
				     server->library.create_response_from_buffer(reply.length, reply.bytes,
										 MHD_RESPMEM_MUST_FREE));
	fd = dup(reply.fd);
	return fd < 0 ? MHD_NO
		      : send_response(server, connection, MHD_HTTP_OK, reply.type,
				      server->library.create_response_from_fd(reply.length, fd));
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload_data,
			      size_t *upload_data_size, void **own)
{
	const struct server *server = context;
	size_t length = strlen(server->word);

	(void)version;
	(void)upload_data;
	(void)upload_data_size;
	(void)own;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0)
		return send_text(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET is answered.\n");
	if (!is_our_host(server, connection))
		return send_text(server, connection, MHD_HTTP_FORBIDDEN, "This is another host.\n");
	if (*url != '/' || strncmp(url + 1, server->word, length) != 0 || url[1 + length] != '/')
		return send_text(server, connection, MHD_HTTP_NOT_FOUND, "There is no such page.\n");
	return send_page(server, connection, url + 2 + length);
}

/* What a client does wrong is the client's business. */
static void ignore(void *context, const char *format, va_list arguments)
{
	(void)context;
	(void)format;
	(void)arguments;
}

/* ---- the server ---- */

static volatile sig_atomic_t has_ended;

static void end(int signal)
{
	(void)signal;
	has_ended = 1;
}

/* Signals come only while it waits. */
static void serve(struct server *server, const sigset_t *waiting)
{
	struct pollfd fd = {
		.fd = server->library.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		.events = POLLIN
	};

	while (!has_ended) {
		MHD_UNSIGNED_LONG_LONG timeout_ms;
		bool has_timeout = server->library.get_timeout(server->daemon, &timeout_ms) == MHD_YES;
		struct timespec time = { .tv_sec = (time_t)(timeout_ms / 1000),
					 .tv_nsec = (long)(timeout_ms % 1000) * 1000000 };

		if (ppoll(&fd, 1, has_timeout ? &time : NULL, waiting) < 0 && errno != EINTR)
			return;
		server->library.run(server->daemon);
	}
}

static int start(struct server *server, bool is_v6)
{
	errno = 0;
	server->daemon = server->library.start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG |
							      (is_v6 ? MHD_USE_IPv6 : 0),
						      0, NULL, NULL, handle, server,
						      MHD_OPTION_EXTERNAL_LOGGER, ignore, NULL,
						      MHD_OPTION_LISTEN_SOCKET, server->fd,
						      MHD_OPTION_CONNECTION_LIMIT,
						      (unsigned int)CONNECTIONS_MAX,
						      MHD_OPTION_CONNECTION_TIMEOUT,
						      (unsigned int)CLIENT_SECONDS_MAX, MHD_OPTION_END);
	return server->daemon ? 0 : errno ? -errno : -EADDRNOTAVAIL;
}

static void tell(const struct server *server)
{
	char address[2 * ADDRESS_SIZE];

	snprintf(address, sizeof(address), "http://%s/%s/", server->host, server->word);
	fprintf(server->cli->out.file, "%s is at %s\nCtrl-C ends it\n", server->site->what, address);
	fflush(server->cli->out.file);
	if (server->site->started)
		server->site->started(server->site->context, address);
}

static void run(struct server *server)
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
	tell(server);
	sigprocmask(SIG_BLOCK, &ending, &before);
	serve(server, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	server->library.stop_daemon(server->daemon);
}

int page_server_run(struct cli *cli, const char *address, const struct page_site *site)
{
	struct server server = { .cli = cli, .site = site, .fd = -1 };
	union address where;
	socklen_t length;
	int err;

	if (!parse_address(address, &where, &length))
		return cli_fail(
			cli,
			"'%s' is no address of this machine alone: give one as in 127.0.0.1:8080, or a port",
			address);
	if (!http_library_load(&server.library))
		return cli_fail(cli, "a server needs libmicrohttpd, which can't be loaded: %s", dlerror());
	cli_stream(cli);
	err = listen_at(&server, &where, length);
	err = err ? err : choose_word(&server);
	err = err ? err : start(&server, where.any.sa_family == AF_INET6);
	if (err) {
		if (server.fd >= 0)
			close(server.fd);
		return cli_fail(cli, "can't serve at '%s': %s", address, strerror(-err));
	}
	run(&server);
	return CLI_OK;
}
