/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serves one page, GET /metrics, to Prometheus. A process of its own, without
 * privilege, speaks with the clients (metrics_http.h); we open the port and
 * write pages for it. It cannot delay us: what it does not take waits, and if
 * it ends there are no metrics any more.
 */
#ifndef METRICS_SERVER_H
#define METRICS_SERVER_H

#include <stdbool.h>

#include "attach/process/outside_process.h"
#include "base/error.h"
#include "base/text.h"
#include "record/service/metrics_sheet.h"

struct metrics_server;

/* The page as it is now, into text. Called from metrics_server_run(). */
typedef void (*metrics_page)(void *context, enum metrics_format format, struct text *text);

struct metrics_server_options {
	/* "127.0.0.1:9464", "[::1]:9464"; "localhost:9464" is refused, as names would be looked up */
	const char *address;
	metrics_page page;
	void *context;
	struct outside_settle settle;
};

/*
 * Before anything is opened that nobody else may hold; waits until the process
 * serves. Negative errno and a sentence.
 */
int metrics_server_open(struct metrics_server **server, const struct metrics_server_options *options,
			struct error *error);

/* Readable (poll) when there is something to do; -1: never any more. */
int metrics_server_fd(const struct metrics_server *server);
void metrics_server_run(struct metrics_server *server); /* never waits */

/* The process has ended, or talks nonsense: nobody is served any more. */
bool metrics_server_is_gone(const struct metrics_server *server);

void metrics_server_close(struct metrics_server *server); /* NULL is allowed */

#endif
