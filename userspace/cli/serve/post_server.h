/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes what others send by HTTP POST. Memory is bounded: a request for which
 * there is no room is refused before its body is read, or in the midst of it,
 * and its sender is asked to try again.
 *
 *	status = post_server_open(&server, cli, "127.0.0.1:4318", &site);
 *	post_server_run(server);                        until SIGINT, SIGTERM or SIGHUP
 *	post_server_close(server);
 */
#ifndef POST_SERVER_H
#define POST_SERVER_H

#include <stddef.h>

#include "cli/cli.h"

struct post_server;

struct post_request {
	const char *path;     /* "/v1/traces" */
	const char *type;     /* of the body; NULL: the sender does not say */
	const char *encoding; /* likewise; NULL: none */
	/* "Name: value", NULL-terminated, but for those of the body and of the connection */
	const char *const *headers;
	const char *bytes;
	size_t length;
};

struct post_reply {
	unsigned int status; /* 200 at first */
	const char *type;    /* "text/plain; charset=utf-8" at first */
	const char *text;    /* "" at first */
	unsigned int retry_after_s;
};

struct post_site {
	void (*take)(void *context, const struct post_request *request, struct post_reply *reply);
	/* bytes that all bodies may have that are not complete yet */
	size_t (*room)(void *context);
	/* between requests, and at least every turn_ms */
	void (*turn)(void *context);
	void *context;
	unsigned int turn_ms;
	size_t body_max; /* of one request */
};

/* The site lives as long. CLI_OK, or a sentence was said. */
int post_server_open(struct post_server **server, struct cli *cli, const char *address,
		     const struct post_site *site);
const char *post_server_host(const struct post_server *server); /* "127.0.0.1:4318" */
void post_server_run(struct post_server *server);
void post_server_close(struct post_server *server);

#endif
