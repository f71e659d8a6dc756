/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serves one page, GET /metrics, to Prometheus. The HTTP is libmicrohttpd's. It
 * has no thread of its own: the recorder's loop waits for metrics_server_fd()
 * among others and calls metrics_server_run(). Clients are untrusted: 16 at a
 * time, ten seconds each; one more takes the place of another
 * (metrics_clients.h), so that none who asks is kept out.
 */
#ifndef METRICS_SERVER_H
#define METRICS_SERVER_H

#include "base/error.h"
#include "base/text.h"

struct metrics_server;

/* The page as it is now, into text. Called from metrics_server_run(). */
typedef void (*metrics_page)(void *context, struct text *text);

/* address: "127.0.0.1:9464", "[::1]:9464"; "localhost:9464" is refused, as names would be looked up. Negative errno and a sentence. */
int metrics_server_open(struct metrics_server **server, const char *address, metrics_page page, void *context, struct error *error);

/* Readable (poll) when there is something to do. */
int metrics_server_fd(const struct metrics_server *server);
void metrics_server_run(struct metrics_server *server);

void metrics_server_close(struct metrics_server *server); /* NULL is allowed */

#endif
