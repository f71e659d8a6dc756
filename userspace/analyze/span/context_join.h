/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the threads of a program did for spans that another tracer has recorded:
 * from a log with --otel (include/txtrace/otel.h), by trace and span id.
 *
 *	join = context_join_new();
 *	for each record of the log: context_join_record(join, &record);
 *	for each span of the traces: context_join_span(join, &span);
 *	context_join_sum(join);
 *	for each of them once more: if (context_join_get(join, &span, &sums)) …
 *
 * A span has what was done for it and for the spans below it of the same
 * process. Memory: some 250 bytes for each stay of the log, 500 for each span
 * whose trace is in the log, and 16 for each stay in each span above its own.
 */
#ifndef CONTEXT_JOIN_H
#define CONTEXT_JOIN_H

#include <stdbool.h>
#include <stdint.h>

#include "txtrace/log.h"

#define CONTEXT_TRACE_BYTES 16
#define CONTEXT_SPAN_BYTES 8

struct context_join;

struct context_join *context_join_new(void);	   /* NULL: no memory */
void context_join_free(struct context_join *join); /* NULL is allowed */

/* 0 or -ENOMEM. */
int context_join_record(struct context_join *join, const struct txtrace_record *record);

struct context_span {
	uint8_t trace_id[CONTEXT_TRACE_BYTES];
	uint8_t span_id[CONTEXT_SPAN_BYTES];
	uint8_t parent_id[CONTEXT_SPAN_BYTES]; /* all 0: none */
	uint64_t process;		       /* the same for spans of one process */
	uint64_t begin_ns;		       /* of the log's clock */
	uint64_t end_ns;
};

/* 0 or -ENOMEM; a span that was there already is the first one. */
int context_join_span(struct context_join *join, const struct context_span *span);

/* 0 or -ENOMEM. */
int context_join_sum(struct context_join *join);

struct context_sums {
	uint64_t work_ns; /* the walls of its stays */
	/* on_cpu_ns is what is certain; detached_ns: nobody worked for it */
	struct txtrace_ledger ledger;
	uint64_t between_ns; /* on a CPU, for it or for another one: it is not known */
	uint64_t stay_cnt;
	bool is_lower_bound; /* lost events may have touched it, or a stay did not end */
};

/* false: the log has nothing of it. */
bool context_join_get(const struct context_join *join, const struct context_span *span,
		      struct context_sums *sums);

struct context_join_stats {
	uint64_t stay_cnt;
	uint64_t context_cnt; /* spans that the log has */
	uint64_t unknown_cnt; /* of them: not among the traces */
};

void context_join_stats(const struct context_join *join, struct context_join_stats *stats);

#endif
