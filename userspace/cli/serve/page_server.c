/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/serve/page_server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/serve/http_server.h"

#define CONNECTIONS_MAX 32
#define WORD_BYTES 16

struct page_server {
	struct http_server http;
	const struct page_site *site;
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

static int choose_word(struct page_server *server)
{
	uint8_t bytes[WORD_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(server->word + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

/* ---- requests ---- */

static enum MHD_Result send_response(const struct page_server *server, struct MHD_Connection *connection,
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
	server->http.library.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		server->http.library.add_response_header(response, headers[i][0], headers[i][1]);
	result = server->http.library.queue_response(connection, status, response);
	server->http.library.destroy_response(response);
	return result;
}

static enum MHD_Result send_text(const struct page_server *server, struct MHD_Connection *connection,
				 unsigned int status, const char *text)
{
	return send_response(server, connection, status, "text/plain; charset=utf-8",
			     server->http.library.create_response_from_buffer(strlen(text),
									      (void *)(uintptr_t)text,
									      MHD_RESPMEM_MUST_COPY));
}

/* A name that a web page has led here is none of ours. */
static bool is_our_host(const struct page_server *server, struct MHD_Connection *connection)
{
	const char *host = server->http.library.lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	char local[HTTP_ADDRESS_SIZE];

	snprintf(local, sizeof(local), "localhost:%s", server->http.port);
	return host && (!strcmp(host, server->http.host) || !strcmp(host, local));
}

static enum MHD_Result send_page(const struct page_server *server, struct MHD_Connection *connection,
				 const char *path)
{
	const struct page_request request = { &server->http.library, connection };
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
				     server->http.library.create_response_from_buffer(reply.length,
										      reply.bytes,
										      MHD_RESPMEM_MUST_FREE));
	fd = dup(reply.fd);
	return fd < 0 ? MHD_NO
		      : send_response(server, connection, MHD_HTTP_OK, reply.type,
				      server->http.library.create_response_from_fd(reply.length, fd));
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload_data,
			      size_t *upload_data_size, void **own)
{
	const struct page_server *server = context;
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

/* ---- the server ---- */

static void tell(const struct page_server *server)
{
	char address[2 * HTTP_ADDRESS_SIZE];

	snprintf(address, sizeof(address), "http://%s/%s/", server->http.host, server->word);
	fprintf(server->http.cli->out.file, "%s is at %s\nCtrl-C ends it\n", server->site->what, address);
	fflush(server->http.cli->out.file);
	if (server->site->started)
		server->site->started(server->site->context, address);
}

int page_server_run(struct cli *cli, const char *address, const struct page_site *site)
{
	struct page_server server = { .site = site };
	const struct http_handler handler = { .handle = handle,
					      .context = &server,
					      .connections_max = CONNECTIONS_MAX };
	int status;

	cli_stream(cli);
	if (choose_word(&server))
		return cli_fail(cli, "can't serve at '%s': there are no random numbers", address);
	status = http_server_open(&server.http, cli, address, &handler);
	if (status)
		return status;
	tell(&server);
	http_server_run(&server.http);
	http_server_close(&server.http);
	return CLI_OK;
}
