/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends requests of OTLP over HTTP, one at a time. What may be tried again and
 * what may not is decided by OTLP's rules.
 */
#ifndef OTLP_CLIENT_H
#define OTLP_CLIENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "otlp/otlp_endpoint.h"
#include "otlp/otlp_request.h"

struct otlp_client;

enum otlp_outcome {
	OTLP_TAKEN = 0,
	OTLP_AGAIN = 1,	    /* not now; or no answer: it may have come */
	OTLP_TOO_LARGE = 2, /* less of it might do */
	OTLP_REFUSED = 3,   /* and so will it be if it is sent again */
	OTLP_HOPELESS = 4,  /* and so will be all others: no such place, or no right to send */
	OTLP_STOPPED = 5,
};

struct otlp_answer {
	enum otlp_outcome outcome;
	uint64_t wait_ms;      /* AGAIN: what the receiver asks for; 0: nothing */
	uint64_t rejected_cnt; /* TAKEN: spans that it did not take */
	/* why, or, with TAKEN, what the receiver has to say; "": nothing */
	struct error reason;
};

/* The endpoint and *is_stopped must live as long. 0, or a negative errno and a sentence. */
int otlp_client_open(struct otlp_client **client, const struct otlp_endpoint *endpoint,
		     const atomic_bool *is_stopped, struct error *error);
void otlp_client_close(struct otlp_client *client); /* NULL is allowed */

/* is_stopped is looked at while it waits for an answer, about once a second. */
void otlp_client_send(struct otlp_client *client, const struct otlp_request *request,
		      struct otlp_answer *answer);

#endif
