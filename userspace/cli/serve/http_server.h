/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An HTTP server of one thread, by libmicrohttpd.
 *
 *	status = http_server_open(&server, cli, "127.0.0.1:8080", &handler);
 *	http_server_run(&server);                       until SIGINT, SIGTERM or SIGHUP
 *	http_server_close(&server);
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stdbool.h>

#include "base/http_library.h"
#include "cli/cli.h"

#define HTTP_ADDRESS_SIZE 64

struct http_handler {
	MHD_AccessHandlerCallback handle;
	MHD_RequestCompletedCallback completed; /* NULL: nobody */
	/* after whatever happened, and at least every turn_ms; NULL: nothing */
	void (*turn)(void *context);
	void *context; /* of all three */
	unsigned int turn_ms;
	unsigned int connections_max;
	bool is_public; /* other addresses than those of this machine alone are fine */
};

struct http_server {
	struct cli *cli;
	const struct http_handler *handler;
	struct http_library library;
	struct MHD_Daemon *daemon;
	int fd;
	char host[HTTP_ADDRESS_SIZE]; /* "127.0.0.1:8080" */
	char port[8];
};

/*
 * address: "ADDRESS:PORT", "[ADDRESS]:PORT" or "PORT" (of 127.0.0.1); port 0:
 * any. It listens then. CLI_OK, or a sentence was said. Both live as long.
 */
int http_server_open(struct http_server *server, struct cli *cli, const char *address,
		     const struct http_handler *handler);

void http_server_run(struct http_server *server);

/* Requests that were not answered are not. */
void http_server_close(struct http_server *server);

#endif
