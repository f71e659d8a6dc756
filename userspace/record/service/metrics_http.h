/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that speaks HTTP with whoever asks for metrics. It knows no
 * figure: for each request it asks the recorder for the page, and waits for it.
 * The HTTP is libmicrohttpd's, which only this process loads. Clients are
 * untrusted: 16 at a time, ten seconds each; one more takes the place of
 * another (metrics_clients.h), so that none who asks is kept out.
 *
 * On its socket, a stream, it says first, once, whether it serves:
 *
 *	struct metrics_outcome   from it
 *	a byte                   from it: a page is wanted, in that enum metrics_format
 *	uint32_t, the page       to it: bytes, and that many; 0: there is none now
 */
#ifndef METRICS_HTTP_H
#define METRICS_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/process/outside_process.h"

#define METRICS_PAGE_MAX (64u << 20) /* bytes; a larger one is not served */

struct metrics_outcome {
	int32_t err;   /* 0: it serves; otherwise a negative errno */
	char why[236]; /* terminated: why not */
};

struct metrics_http {
	bool is_v6; /* the socket that is listened at: OUTSIDE_KEPT_FD */
	struct outside_settle settle;
};

/* The process: serves until the socket is closed. context: a metrics_http. */
void metrics_http_serve(void *context);

#endif
