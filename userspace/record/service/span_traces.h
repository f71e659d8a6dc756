/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In which W3C trace spans are that have not ended: those that have a
 * traceparent, of SPAN_TRACES_MAX at a time; and their children, when they end.
 */
#ifndef SPAN_TRACES_H
#define SPAN_TRACES_H

#include <stdbool.h>

#include "analyze/trace_context.h"
#include "txtrace/log.h"

#define SPAN_TRACES_MAX 65536u /* with one more, those before it are forgotten */

struct span_traces;

struct span_traces *span_traces_new(void); /* NULL: no memory */
void span_traces_free(struct span_traces *traces);

/* What is no traceparent is ignored. 0 or -ENOMEM. */
int span_traces_see(struct span_traces *traces, const struct txtrace_attribute *attribute);

/* Of a span that has ended, which is forgotten. false: it is in none, or that is not known. */
bool span_traces_take(struct span_traces *traces, const struct txtrace_span *span,
		      uint8_t id[TRACE_ID_BYTES]);

#endif
