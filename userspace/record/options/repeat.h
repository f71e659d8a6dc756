/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs of a command, one after the other, each recorded into a log of its own:
 * DIR/new-001.txtrace, DIR/new-002.txtrace, …; with a base command in turn,
 * DIR/base-001.txtrace, DIR/new-001.txtrace, DIR/base-002.txtrace, …. Numbers
 * go on from those that are there. Each run is a process of its own, forked
 * from this one, which has no threads and has opened nothing.
 *
 * A run whose command fails, or that is stopped, ends it all; its log, and that
 * of the base run before it, is renamed to aside-…, so that no pattern of logs
 * to compare matches it.
 */
#ifndef REPEAT_H
#define REPEAT_H

#include "record/messages/messages.h"
#include "record/options/record_options.h"

/* Records once, and returns the exit status. */
typedef int (*repeat_record)(const struct record_options *options, const struct messages *messages);

/* The exit status: 0; 2: it could not begin; 3: a signal stopped it; or that of the run that failed. */
int repeat_run(const struct record_options *options, const struct messages *messages, repeat_record record);

#endif
