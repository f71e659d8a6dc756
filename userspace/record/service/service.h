/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a recorder has that runs on and on without anybody looking: metrics for
 * Prometheus, over HTTP or in a file, and a word to the service manager. All of
 * it may be off, and then costs nothing. One thread: the recorder's.
 */
#ifndef SERVICE_H
#define SERVICE_H

#include "attach/process/outside_process.h"
#include "base/error.h"
#include "record/messages/messages.h"
#include "record/service/metrics.h"
#include "record/options/record_options.h"

struct service;

struct service_options {
	const struct record_options *record;
	const struct messages *messages;
	const char *log_path; /* the metrics file must be another one */
	int manager_fd;	      /* of service_manager_open(); stays the caller's */

	/* How it goes now. Called from service_run() and service_tick(). */
	void (*look)(void *context, struct metrics_figures *figures);
	void *context;

	struct outside_settle metrics; /* in the process that serves them */
};

/*
 * Before anything is opened that the process that serves metrics may not hold.
 * Negative errno and a sentence. options lives as long.
 */
int service_open(struct service **service, const struct service_options *options, struct error *error);

/* The spans are to be added here; NULL: nobody asks for metrics. */
struct span_metrics *service_spans(struct service *service);

void service_ready(struct service *service);

/* Readable (poll) when somebody asks for metrics; -1: nobody can. */
int service_fd(const struct service *service);
void service_run(struct service *service);

/* About once a second: writes the file when it is time, says what was lost. */
void service_tick(struct service *service, uint64_t now_ns);

/* The service manager is told that options are read again; service_ready() tells that it is done. */
void service_reloading(struct service *service, uint64_t now_ns);

/* Recording is over: the file for the last time. */
void service_finish(struct service *service);

void service_close(struct service *service); /* NULL is allowed */

#endif
