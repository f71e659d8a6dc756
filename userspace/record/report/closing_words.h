/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the user sees when recording is over: the report by label, what was
 * lost, where the log is and what to run next.
 */
#ifndef CLOSING_WORDS_H
#define CLOSING_WORDS_H

#include <stdio.h>

#include "record/messages/messages.h"
#include "record/options/record_options.h"
#include "record/recorder.h"

/* The report goes to `out`, the rest to `messages`. Quiet: only what was lost or went wrong is said. */
void closing_words_print(struct recorder *recorder, const struct record_options *options, FILE *out,
			 const struct messages *messages);

#endif
