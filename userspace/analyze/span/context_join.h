/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the threads of a program did for spans that another tracer has recorded:
 * from a log with --otel (include/txtrace/otel.h), by trace and span id.
 *
 *	join = context_join_new();
 *	context_join_begin(join, start_ns);
 *	for each record of the log: context_join_record(join, &record, to_unix_ns);
 *	for each span of the traces: context_join_span(join, &span);
 *	for each of them once more: found = context_join_get(join, &span, &sums);
 *
 * A span has what was done for it and for the spans below it of the same
 * process. Records and spans may also come by turns, without an end: then
 * context_join_forget() bounds the memory, which is some 350 bytes for each stay
 * of the log and 250 for each span whose trace is in the log.
 *
 * All times are Unix times in ns.
 */
#ifndef CONTEXT_JOIN_H
#define CONTEXT_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtrace/log.h"

#define CONTEXT_TRACE_BYTES 16
#define CONTEXT_SPAN_BYTES 8

struct context_join;

struct context_join *context_join_new(void);	   /* NULL: no memory */
void context_join_free(struct context_join *join); /* NULL is allowed */

/* A log that began at start_ns. What was before is of another one, or in none. */
void context_join_begin(struct context_join *join, uint64_t start_ns);

/* to_unix_ns: what to add to a time of the record, see txtrace_log_realtime_ns(). 0 or -ENOMEM. */
int context_join_record(struct context_join *join, const struct txtrace_record *record, int64_t to_unix_ns);

struct context_span {
	uint8_t trace_id[CONTEXT_TRACE_BYTES];
	uint8_t span_id[CONTEXT_SPAN_BYTES];
	uint8_t parent_id[CONTEXT_SPAN_BYTES]; /* all 0: none */
	uint64_t process;		       /* the same for spans of one process */
	uint64_t begin_ns;
	uint64_t end_ns;
};

/* 0 or -ENOMEM; a span that was there already is the first one. */
int context_join_span(struct context_join *join, const struct context_span *span);

struct context_sums {
	uint64_t work_ns; /* the walls of its stays */
	/*
	 * on_cpu_ns is what is certain; detached_ns: nobody worked for it; unknown_ns: also
	 * what of the span's time the log does not have
	 */
	struct txtrace_ledger ledger;
	/* on a CPU, for it or for another one: it is not known. Its begin and end narrow that */
	uint64_t between_ns;
	uint64_t stay_cnt;
	/* lost events may have touched it, a stay did not end, or the log does not have all of its time */
	bool is_lower_bound;
};

/* 1, 0: the log has nothing of it, or -ENOMEM. */
int context_join_get(struct context_join *join, const struct context_span *span, struct context_sums *sums);

/*
 * Forgets the traces that nothing was heard of since before_ns, and those that
 * nothing was heard of for the longest time while there are more than max_cnt
 * stays and spans.
 */
void context_join_forget(struct context_join *join, uint64_t before_ns, size_t max_cnt);

/* What happened until then was read. */
uint64_t context_join_until_ns(const struct context_join *join);

struct context_join_stats {
	uint64_t stay_cnt;
	uint64_t context_cnt; /* spans that the log has */
	uint64_t unknown_cnt; /* of them: not among the traces */
	uint64_t late_cnt;    /* stays that came when their span was asked for already */
	uint64_t crowded_cnt; /* traces that were forgotten for their number */
};

void context_join_stats(const struct context_join *join, struct context_join_stats *stats);

#endif
