/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a log is going to lack because it was asked for so: said in its header
 * (analyze/capture_scope.h reads it).
 */
#ifndef CAPTURE_LIMITS_H
#define CAPTURE_LIMITS_H

#include <stdbool.h>

#include "base/text.h"
#include "record/options/record_options.h"

/*
 * ", --sched ledger, --sample 1/100, --min-duration 5000000ns, --flight,
 * --label a*, --label b"; nothing if it lacks nothing.
 */
void capture_limits_append(struct text *text, const struct record_options *options);

/* As capture_scope_has_silent_runs(). */
bool capture_limits_have_silent_runs(const struct record_options *options);

#endif
