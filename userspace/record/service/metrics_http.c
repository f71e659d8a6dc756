/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/metrics_http.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/http_library.h"
#include "record/service/metrics_clients.h"
#include "record/service/metrics_sheet.h"

#define CONNECTIONS_MAX 128 /* with those that were shut down and are still to be closed */
#define CLIENT_SECONDS_MAX 10
#define CLIENT_BYTES_MAX (16u << 10) /* of a request */

#define OPEN_METRICS "application/openmetrics-text"
#define PROTOBUF "application/vnd.google.protobuf"
#define PROTOBUF_FAMILY "proto=io.prometheus.client.MetricFamily"

static const char *const page_types[] = {
	[METRICS_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
	[METRICS_OPEN] = OPEN_METRICS "; version=1.0.0; charset=utf-8",
	[METRICS_PROTOBUF] = PROTOBUF "; " PROTOBUF_FAMILY "; encoding=delimited",
};

struct server {
	struct http_library library;
	struct MHD_Daemon *daemon;
	struct metrics_clients clients;
};

/* ---- pages ---- */

/* The recorder has gone, or gave us up, if it does not come. */
static void receive(void *bytes, size_t size)
{
	ssize_t got;

	for (size_t done = 0; done < size; done += (size_t)got) {
		got = recv(OUTSIDE_SOCKET_FD, (char *)bytes + done, size - done, 0);
		if (got < 0 && errno == EINTR)
			got = 0;
		else if (got <= 0)
			_exit(0);
	}
}

static char *ask_for_page(enum metrics_format format, uint32_t *size)
{
	char request = (char)format, *page;

	if (send(OUTSIDE_SOCKET_FD, &request, 1, MSG_NOSIGNAL) != 1)
		_exit(0);
	receive(size, sizeof(*size));
	page = *size <= METRICS_PAGE_MAX ? malloc(*size + 1) : NULL;
	if (!page)
		_exit(1);
	receive(page, *size);
	return page;
}

/* ---- requests ---- */

static enum MHD_Result answer(const struct server *server, struct MHD_Connection *connection,
			      unsigned int status, const char *type, const void *bytes, size_t size)
{
	const struct http_library *library = &server->library;
	struct MHD_Response *response = library->create_response_from_buffer(size, (void *)(uintptr_t)bytes,
									     MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	library->add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	result = library->queue_response(connection, status, response);
	library->destroy_response(response);
	return result;
}

static enum MHD_Result answer_text(const struct server *server, struct MHD_Connection *connection,
				   unsigned int status, const char *text)
{
	return answer(server, connection, status, "text/plain", text, strlen(text));
}

/* Prometheus asks for protobuf, too, if it wants native histograms, and prefers it then. */
static enum metrics_format wanted_format(const struct server *server, struct MHD_Connection *connection)
{
	const char *accepted = server->library.lookup_connection_value(connection, MHD_HEADER_KIND,
								       MHD_HTTP_HEADER_ACCEPT);

	if (accepted && strstr(accepted, PROTOBUF) && strstr(accepted, PROTOBUF_FAMILY))
		return METRICS_PROTOBUF;
	return accepted && strstr(accepted, OPEN_METRICS) ? METRICS_OPEN : METRICS_TEXT;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload_data,
			      size_t *upload_data_size, void **request)
{
	const struct server *server = context;
	enum metrics_format format;
	enum MHD_Result result;
	uint32_t size;
	char *page;

	(void)version;
	(void)upload_data;
	(void)upload_data_size;
	(void)request;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_text(server, connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
	if (strcmp(url, "/metrics") != 0)
		return answer_text(server, connection,
				   strcmp(url, "/") == 0 ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND,
				   "txtrace-bpf: the metrics are at /metrics\n");
	format = wanted_format(server, connection);
	page = ask_for_page(format, &size);
	result = size ? answer(server, connection, MHD_HTTP_OK, page_types[format], page, size) : MHD_NO;
	free(page);
	return result;
}

/* When a client has come, and before it goes. */
static void notice(void *context, struct MHD_Connection *connection, void **own,
		   enum MHD_ConnectionNotificationCode code)
{
	struct server *server = context;
	const union MHD_ConnectionInfo *fd, *address;

	fd = server->library.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	address = server->library.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	(void)own;
	if (!fd)
		return;
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		metrics_clients_add(&server->clients, fd->connect_fd, address ? address->client_addr : NULL);
	else
		metrics_clients_remove(&server->clients, fd->connect_fd);
}

/* What a client does wrong is the client's business. */
static void ignore(void *context, const char *format, va_list arguments)
{
	(void)context;
	(void)format;
	(void)arguments;
}

/* ---- the process ---- */

static void start(struct server *server, bool is_v6, struct metrics_outcome *outcome)
{
	if (!http_library_load(&server->library)) {
		outcome->err = -ELIBACC;
		snprintf(outcome->why, sizeof(outcome->why), "%s", dlerror());
		return;
	}
	errno = 0;
	server->daemon = server->library.start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG | (is_v6 ? MHD_USE_IPv6 : 0), 0, NULL, NULL, handle, server,
		MHD_OPTION_EXTERNAL_LOGGER, ignore, NULL, MHD_OPTION_LISTEN_SOCKET, OUTSIDE_KEPT_FD,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX, MHD_OPTION_NOTIFY_CONNECTION,
		notice, server, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)CLIENT_SECONDS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_BYTES_MAX, MHD_OPTION_END);
	if (server->daemon)
		return;
	outcome->err = errno ? -errno : -EADDRNOTAVAIL;
	snprintf(outcome->why, sizeof(outcome->why), "%s", strerror(-outcome->err));
}

/* On our socket nothing comes by itself but its end. */
static void run(struct server *server)
{
	struct pollfd fds[] = {
		{ .fd = server->library.get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		  .events = POLLIN },
		{ .fd = OUTSIDE_SOCKET_FD, .events = POLLIN },
	};

	while (!fds[1].revents) {
		MHD_UNSIGNED_LONG_LONG timeout_ms;
		bool has_timeout = server->library.get_timeout(server->daemon, &timeout_ms) == MHD_YES;

		if (poll(fds, 2, has_timeout ? (int)(timeout_ms < 1000 ? timeout_ms : 1000) : -1) < 0 &&
		    errno != EINTR)
			return;
		server->library.run(server->daemon);
	}
}

void metrics_http_serve(void *context)
{
	const struct metrics_http *http = context;
	struct metrics_outcome outcome = { .err = 0 };
	struct server server = { .daemon = NULL };

	signal(SIGPIPE, SIG_IGN); /* a client may go at any time */
	start(&server, http->is_v6, &outcome);
	tzset(); /* reads a file, and is called for each date that is written */
	if (http->settle.settle)
		http->settle.settle(http->settle.context);
	if (send(OUTSIDE_SOCKET_FD, &outcome, sizeof(outcome), MSG_NOSIGNAL) == sizeof(outcome) &&
	    !outcome.err)
		run(&server);
}
