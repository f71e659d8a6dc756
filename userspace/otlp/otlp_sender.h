/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A queue of requests, and a thread that sends them: it tries again what may be
 * tried again, halves what is too large, and gives a request up after a while.
 *
 *	err = otlp_sender_open(&sender, &options, &error);
 *	err = otlp_sender_add(sender, &request);
 *	otlp_sender_close(sender, wait_ns, &totals);
 *
 * All functions are for one thread, which says what is to be said.
 */
#ifndef OTLP_SENDER_H
#define OTLP_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "otlp/otlp_endpoint.h"
#include "otlp/otlp_request.h"

#define OTLP_QUEUE_BYTES (32u << 20)
#define OTLP_QUEUE_MESSAGES 128u

struct otlp_sender_options {
	const struct otlp_endpoint *endpoint; /* which lives as long */
	uint64_t give_up_ns;		      /* so long a request is tried */
	/*
	 * what is added to a full queue in which nothing has moved for so long is dropped; 0: it waits for
	 * ever
	 */
	uint64_t stall_ns;
	/* the first request that is given up, or refused as all others will be, ends it all */
	bool ends_at_failure;
	void (*say)(void *context, const char *sentence);
	void *context;
};

struct otlp_sender_totals {
	uint64_t sent_cnt;     /* spans that were taken */
	uint64_t rejected_cnt; /* that the receiver says it did not take, of messages that it took */
	uint64_t dropped_cnt;  /* that were refused, given up, or found no room */
	/* requests without spans */
	uint64_t other_sent_cnt;
	uint64_t other_dropped_cnt;
	bool has_failed;     /* with ends_at_failure: it has ended so */
	struct error reason; /* why the first ones were not taken */
};

struct otlp_sender;

int otlp_sender_open(struct otlp_sender **sender, const struct otlp_sender_options *options,
		     struct error *error);

/* Copies. Waits for room. 0, -ENOMEM, or -ECANCELED: it has ended. */
int otlp_sender_add(struct otlp_sender *sender, const struct otlp_request *request);

/* One with so many bytes need not wait for room. */
bool otlp_sender_has_room(struct otlp_sender *sender, size_t length);

/* Says what there is to say. */
void otlp_sender_look(struct otlp_sender *sender);

/* For a signal's handler: all that waits ends, at once. */
void otlp_sender_stop(struct otlp_sender *sender);

/* What is not sent within this time (0: as long as it takes) is dropped, and counted. Frees. */
void otlp_sender_close(struct otlp_sender *sender, uint64_t wait_ns, struct otlp_sender_totals *totals);

#endif
