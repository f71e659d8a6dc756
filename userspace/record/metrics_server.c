/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/metrics_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "record/metrics_clients.h"

#define CONNECTIONS_MAX 128 /* with those that were shut down and are still to be closed */
#define CLIENT_SECONDS_MAX 10
#define CLIENT_BYTES_MAX (16u << 10) /* of a request */

#define PAGE_TYPE "text/plain; version=0.0.4; charset=utf-8"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct metrics_server {
	struct MHD_Daemon *daemon;
	metrics_page page;
	void *context;
	struct metrics_clients clients;
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
		return inet_pton(AF_INET6, host, &address->v6.sin6_addr) == 1 && parse_port(colon + 1, &address->v6.sin6_port);
	}
	address->v4.sin_family = AF_INET;
	return inet_pton(AF_INET, host, &address->v4.sin_addr) == 1 && parse_port(colon + 1, &address->v4.sin_port);
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status, const char *type, const struct text *text)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(text->length, (void *)(uintptr_t)text_string(text), MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
			      const char *upload_data, size_t *upload_data_size, void **request)
{
	struct metrics_server *server = context;
	struct text text = { 0 };
	enum MHD_Result result;

	(void)version;
	(void)upload_data;
	(void)upload_data_size;
	(void)request;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
		text_append(&text, "only GET\n");
		result = answer(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", &text);
	} else if (strcmp(url, "/metrics") != 0) {
		text_append(&text, "txtrace-bpf: the metrics are at /metrics\n");
		result = answer(connection, strcmp(url, "/") == 0 ? MHD_HTTP_OK : MHD_HTTP_NOT_FOUND, "text/plain", &text);
	} else {
		server->page(server->context, &text);
		result = text.err ? MHD_NO : answer(connection, MHD_HTTP_OK, PAGE_TYPE, &text);
	}
	text_release(&text);
	return result;
}

/* When a client has come, and before it goes. */
static void notice(void *context, struct MHD_Connection *connection, void **own,
		   enum MHD_ConnectionNotificationCode code)
{
	struct metrics_server *server = context;
	const union MHD_ConnectionInfo *fd, *address;

	fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	address = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
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

int metrics_server_open(struct metrics_server **result, const char *text, metrics_page page, void *context, struct error *error)
{
	struct metrics_server *server = calloc(1, sizeof(*server));
	union address address;

	if (!server) {
		error_set(error, "not enough memory to serve metrics");
		return -ENOMEM;
	}
	server->page = page;
	server->context = context;
	if (!parse_address(text, &address)) {
		free(server);
		error_set(error, "cannot serve metrics at '%s': give an address and a port, such as 127.0.0.1:9464 or [::1]:9464", text);
		return -EINVAL;
	}
	errno = 0;
	server->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG | (address.any.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0), 0,
					  NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER, ignore, NULL, MHD_OPTION_SOCK_ADDR,
					  &address.any, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS_MAX,
					  MHD_OPTION_NOTIFY_CONNECTION, notice, server,
					  MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)CLIENT_SECONDS_MAX,
					  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_BYTES_MAX, MHD_OPTION_END);
	if (!server->daemon) {
		int err = errno ? -errno : -EADDRNOTAVAIL;

		free(server);
		error_set(error, "cannot serve metrics at '%s': %s", text, strerror(-err));
		return err;
	}
	*result = server;
	return 0;
}

int metrics_server_fd(const struct metrics_server *server)
{
	return MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

void metrics_server_run(struct metrics_server *server)
{
	MHD_run(server->daemon);
}

void metrics_server_close(struct metrics_server *server)
{
	if (!server)
		return;
	MHD_stop_daemon(server->daemon);
	free(server);
}
