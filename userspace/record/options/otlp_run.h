/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --otlp: sends the spans while they are recorded. `txtrace export --otlp`
 * follows the log, in a process of its own: of the user who called sudo, or
 * without any capability. Whatever becomes of it, the recording is not affected.
 *
 *	err = otlp_run_fork(&run, options, &error);      before there are threads
 *	otlp_run_begin(&run);                            the log is there
 *	otlp_run_end(&run, messages);                    the log is complete, or there will be none
 */
#ifndef OTLP_RUN_H
#define OTLP_RUN_H

#include <sys/types.h>

#include "record/messages/messages.h"
#include "record/options/record_options.h"

struct otlp_run {
	pid_t child; /* 0: none */
	int go_fd;
	int words_fd; /* what it says, with --messages json; -1: it says that itself */
};

/* Does nothing without --otlp. 0, or a negative errno and a sentence. */
int otlp_run_fork(struct otlp_run *run, const struct record_options *options, struct error *error);
void otlp_run_begin(struct otlp_run *run);

/* Waits for what is being sent: some seconds at most, if the receiver takes nothing. */
void otlp_run_end(struct otlp_run *run, const struct messages *messages);

#endif
