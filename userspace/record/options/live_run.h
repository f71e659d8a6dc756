/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --top: records, and shows the live view of the log meanwhile. Two processes
 * are forked from this one, which has no threads and has opened nothing: the
 * recorder, whose messages are kept until the view has ended, and `txtrace top`,
 * as the user who called sudo. When the view ends, so does the recording.
 */
#ifndef LIVE_RUN_H
#define LIVE_RUN_H

#include "record/options/repeat.h"

/* The recorder's exit status; 2: it could not begin. */
int live_run(const struct record_options *options, const struct messages *messages, repeat_record record);

#endif
