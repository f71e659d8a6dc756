/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which trace each span belongs to, and its id in it, as OpenTelemetry has
 * them. A span's trace is decided at the top of its tree, whose record comes
 * last, so it takes a pass over the log of its own.
 *
 *	trace_ids_see(ids, &record);               for every record of the log
 *	trace_ids_place(ids, &span, &place);       in the second pass
 *
 * In both passes trace_ids_begin_capture() comes before a capture's first
 * record. docs/formats.md says how ids are made: the same at every export.
 *
 * The passes may advance together, the second some seconds behind the first, for
 * a log that is being written: checkpoints tell of spans that have not ended.
 *
 * Memory: about 90 bytes for each span that has a parent, a key or a trace
 * context, up to 4 million of them. What is beyond is counted: such a span has
 * the trace of its parent alone. Where the passes advance together, all but the
 * last 262,144 of those that were placed are forgotten.
 */
#ifndef TRACE_IDS_H
#define TRACE_IDS_H

#include <stdbool.h>

#include "analyze/trace_context.h"
#include "txtrace/log.h"

struct trace_ids;

struct trace_span_id {
	uint8_t trace_id[TRACE_ID_BYTES];
	uint8_t span_id[TRACE_SPAN_ID_BYTES];
};

struct trace_place {
	struct trace_span_id own;
	uint8_t parent_id[TRACE_SPAN_ID_BYTES];
	bool has_parent;
	bool is_remote; /* the parent is not in the log: its id came in a traceparent */
	uint8_t flags;	/* of W3C */
	/* empty: there is none. Until the next trace_ids_see() */
	struct txtrace_string state;
};

struct trace_ids *trace_ids_new(void); /* NULL: no memory */
void trace_ids_free(struct trace_ids *ids);

/* What follows is of this capture. 0 or -ENOMEM */
int trace_ids_begin_capture(struct trace_ids *ids, const uint8_t capture_id[16]);
int trace_ids_see(struct trace_ids *ids, const struct txtrace_record *record); /* 0 or -ENOMEM */

void trace_ids_place(struct trace_ids *ids, const struct txtrace_span *span, struct trace_place *place);
/* The ids of any span, one that a link names, say. is_keyed: its id was given by the recorder. */
void trace_ids_find(struct trace_ids *ids, uint32_t pid, uint64_t id, bool is_keyed,
		    struct trace_span_id *found);

/* Spans that found no room in the first pass. */
uint64_t trace_ids_missed_cnt(const struct trace_ids *ids);

/* Of memory that it holds for spans, about. */
size_t trace_ids_bytes(const struct trace_ids *ids);

#endif
