/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The trace context of W3C (Trace Context, level 2): the headers traceparent
 * and tracestate, which programs note as attributes of these names. Both come
 * from a traced program, or from whoever sent it a request: anything may be in
 * them.
 */
#ifndef TRACE_CONTEXT_H
#define TRACE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "txtrace/log.h"

#define TRACE_ID_BYTES 16
#define TRACE_SPAN_ID_BYTES 8
#define TRACE_FLAGS_KNOWN 3 /* sampled, random: other bits are sent on as 0 */
#define TRACE_FLAG_SAMPLED 1

#define TRACEPARENT_NAME "traceparent"
#define TRACESTATE_NAME "tracestate"
#define TRACE_SENT_NAME "traceparent.sent" /* what TXTRACE_TRACEPARENT has written: with the span's own id */

#define TRACE_ID_DIGITS (2 * TRACE_ID_BYTES)

/* Whether the attribute is a header of this name, as the program had it: whole. */
bool trace_header_is(const struct txtrace_attribute *attribute, const char *name);

struct trace_parent {
	uint8_t trace_id[TRACE_ID_BYTES]; /* as in the header: in its order, never all 0 */
	uint8_t span_id[TRACE_SPAN_ID_BYTES];
	uint8_t flags; /* of TRACE_FLAGS_KNOWN */
};

/*
 * false: it is not valid, and counts as not there. A version that is newer than
 * ours (00) is read as far as it must look like ours.
 */
bool trace_parent_parse(struct trace_parent *parent, struct txtrace_string text);

/* A trace id as it is written: 32 hexadecimal digits, not all 0. false: it is none. */
bool trace_id_parse(uint8_t id[TRACE_ID_BYTES], const char *text);
void trace_id_format(char text[TRACE_ID_DIGITS + 1], const uint8_t id[TRACE_ID_BYTES]);

/* Whether a tracestate may be sent on: at most 32 members, each key=value, in the characters allowed. */
bool trace_state_is_valid(struct txtrace_string text);

#endif
