/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/serve/post_server.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "cli/serve/http_server.h"

#define CONNECTIONS_MAX 256
#define HEADERS_MAX 64
#define RETRY_AFTER_S 1

struct post_server {
	struct http_server http;
	struct http_handler handler;
	const struct post_site *site;
	size_t body_bytes; /* of bodies that are not complete */
};

/* A request whose body comes. */
struct upload {
	struct text body;
	/*
	 * with which it is refused, and what comes is not kept; 0: it is fine. There can be an answer before
	 * the body, and behind it
	 */
	unsigned int status;
};

/* ---- headers ---- */

struct header_list {
	const char *lines[HEADERS_MAX + 1];
	size_t cnt;
	bool has_failed;
};

/* Those of the connection, and those that whoever sends the body on says himself. */
static bool is_passed_on(const char *name)
{
	static const char *const others[] = {
		"Connection",
		"Keep-Alive",
		"Proxy-Connection",
		"Proxy-Authenticate",
		"Proxy-Authorization",
		"TE",
		"Trailer",
		"Transfer-Encoding",
		"Upgrade",
		"Host",
		"Content-Length",
		"Content-Type",
		"Content-Encoding",
		"Expect",
		"Accept-Encoding",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcasecmp(name, others[i]))
			return false;
	return true;
}

static enum MHD_Result add_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct header_list *list = context;
	char *line;

	(void)kind;
	if (!is_passed_on(name))
		return MHD_YES;
	if (list->cnt == HEADERS_MAX || asprintf(&line, "%s: %s", name, value ? value : "") < 0) {
		list->has_failed = true;
		return MHD_NO;
	}
	list->lines[list->cnt++] = line;
	return MHD_YES;
}

static void release_headers(struct header_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		free((char *)(uintptr_t)list->lines[i]);
}

/* ---- answers ---- */

static enum MHD_Result answer(const struct post_server *server, struct MHD_Connection *connection,
			      const struct post_reply *reply)
{
	const struct http_library *library = &server->http.library;
	struct MHD_Response *response = library->create_response_from_buffer(strlen(reply->text),
									     (void *)(uintptr_t)reply->text,
									     MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;
	char seconds[16];

	if (!response)
		return MHD_NO;
	library->add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
	if (reply->retry_after_s) {
		snprintf(seconds, sizeof(seconds), "%u", reply->retry_after_s);
		library->add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
	}
	result = library->queue_response(connection, reply->status, response);
	library->destroy_response(response);
	return result;
}

static struct post_reply plain_reply(unsigned int status, const char *text)
{
	return (struct post_reply){ .status = status, .type = "text/plain; charset=utf-8", .text = text };
}

static enum MHD_Result refuse(const struct post_server *server, struct MHD_Connection *connection,
			      struct upload *upload, unsigned int status, const char *text)
{
	struct post_reply reply = plain_reply(status, text);

	if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
		reply.retry_after_s = RETRY_AFTER_S;
	upload->status = status;
	return answer(server, connection, &reply);
}

/* ---- requests ---- */

static const char *header_of(const struct post_server *server, struct MHD_Connection *connection,
			     const char *name)
{
	return server->http.library.lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* 0, or the status with which a body of so many bytes more is refused. */
static unsigned int check_room(const struct post_server *server, const struct upload *upload, uint64_t more)
{
	const struct post_site *site = server->site;

	if (more > site->body_max - upload->body.length)
		return MHD_HTTP_CONTENT_TOO_LARGE;
	if (server->body_bytes + more > site->room(site->context))
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	return 0;
}

static enum MHD_Result refuse_size(const struct post_server *server, struct MHD_Connection *connection,
				   struct upload *upload, unsigned int status)
{
	return refuse(server, connection, upload, status,
		      status == MHD_HTTP_CONTENT_TOO_LARGE ? "The body is too large.\n"
							   : "There is no room now, try again.\n");
}

static enum MHD_Result begin(struct post_server *server, struct MHD_Connection *connection,
			     const char *method, void **own)
{
	const char *length = header_of(server, connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
	struct upload *upload = calloc(1, sizeof(*upload));
	unsigned int status;

	if (!upload)
		return MHD_NO;
	*own = upload;
	if (strcmp(method, MHD_HTTP_METHOD_POST) != 0)
		return refuse(server, connection, upload, MHD_HTTP_METHOD_NOT_ALLOWED,
			      "Only POST is answered.\n");
	status = length ? check_room(server, upload, strtoull(length, NULL, 10)) : 0;
	return status ? refuse_size(server, connection, upload, status) : MHD_YES;
}

static void forget_body(struct post_server *server, struct upload *upload)
{
	server->body_bytes -= upload->body.length;
	text_release(&upload->body);
	upload->body = (struct text){ 0 };
}

static enum MHD_Result append(struct post_server *server, struct upload *upload, const char *bytes,
			      size_t *length)
{
	size_t more = *length;

	*length = 0;
	if (!upload->status)
		upload->status = check_room(server, upload, more);
	if (upload->status) {
		forget_body(server, upload);
		return MHD_YES;
	}
	text_append_bytes(&upload->body, bytes, more);
	if (upload->body.err)
		return MHD_NO;
	server->body_bytes += more;
	return MHD_YES;
}

static enum MHD_Result finish(struct post_server *server, struct MHD_Connection *connection, const char *url,
			      const struct upload *upload)
{
	struct header_list list = { .cnt = 0 };
	const struct post_request request = {
		.path = url,
		.type = header_of(server, connection, MHD_HTTP_HEADER_CONTENT_TYPE),
		.encoding = header_of(server, connection, MHD_HTTP_HEADER_CONTENT_ENCODING),
		.headers = list.lines,
		.bytes = text_string(&upload->body),
		.length = upload->body.length,
	};
	struct post_reply reply = plain_reply(MHD_HTTP_OK, "");

	server->http.library.get_connection_values(connection, MHD_HEADER_KIND, add_header, &list);
	if (list.has_failed)
		reply = plain_reply(MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE,
				    "There are too many headers.\n");
	else
		server->site->take(server->site->context, &request, &reply);
	release_headers(&list);
	return answer(server, connection, &reply);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload_data,
			      size_t *upload_data_size, void **own)
{
	struct post_server *server = context;
	struct upload *upload = *own;

	(void)version;
	if (!upload)
		return begin(server, connection, method, own);
	if (*upload_data_size)
		return append(server, upload, upload_data, upload_data_size);
	if (upload->status)
		return refuse_size(server, connection, upload, upload->status);
	return finish(server, connection, url, upload);
}

/* Answered, or its sender has gone. */
static void completed(void *context, struct MHD_Connection *connection, void **own,
		      enum MHD_RequestTerminationCode code)
{
	struct post_server *server = context;
	struct upload *upload = *own;

	(void)connection;
	(void)code;
	if (!upload)
		return;
	forget_body(server, upload);
	free(upload);
	*own = NULL;
}

static void turn(void *context)
{
	const struct post_site *site = ((const struct post_server *)context)->site;

	site->turn(site->context);
}

/* ---- the server ---- */

int post_server_open(struct post_server **made, struct cli *cli, const char *address,
		     const struct post_site *site)
{
	struct post_server *server = calloc(1, sizeof(*server));
	int status;

	*made = NULL;
	if (!server)
		return cli_fail(cli, "not enough memory");
	server->site = site;
	server->handler = (struct http_handler){ .handle = handle,
						 .completed = completed,
						 .turn = turn,
						 .context = server,
						 .turn_ms = site->turn_ms,
						 .connections_max = CONNECTIONS_MAX,
						 .is_public = true };
	status = http_server_open(&server->http, cli, address, &server->handler);
	if (status)
		free(server);
	else
		*made = server;
	return status;
}

const char *post_server_host(const struct post_server *server)
{
	return server->http.host;
}

void post_server_run(struct post_server *server)
{
	http_server_run(&server->http);
}

void post_server_close(struct post_server *server)
{
	http_server_close(&server->http);
	free(server);
}
