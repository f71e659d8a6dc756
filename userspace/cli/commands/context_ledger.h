/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The attributes that spans of OpenTelemetry traces get from a log with --otel:
 * what otlp_traces_walk() asks for, of what analyze/span/context_join.h knows.
 */
#ifndef CONTEXT_LEDGER_H
#define CONTEXT_LEDGER_H

#include <stdint.h>

#include "analyze/span/context_join.h"
#include "otlp/otlp_traces.h"

struct context_ledger {
	struct context_join *join;
	char capture[33]; /* of the log, in hex */
	char names[TXTRACE_BLOCK_REASON_COUNT][40];
	uint64_t span_cnt;   /* that were seen */
	uint64_t joined_cnt; /* that got a ledger */
	uint64_t own_cnt;    /* that had attributes of ours */
};

/* 0 or -ENOMEM; to be closed in any case. */
int context_ledger_open(struct context_ledger *ledger);
void context_ledger_close(struct context_ledger *ledger);

/* The log that is read from now on; start_ns: Unix time. Its records are the caller's to give to join. */
void context_ledger_begin(struct context_ledger *ledger, uint64_t start_ns, const uint8_t *capture_id);

/* First for all spans: 0 or -ENOMEM. */
int context_ledger_see(struct context_ledger *ledger, const struct otlp_traces_span *span);

/* Then for each: what is added to it. 0 or -ENOMEM. */
int context_ledger_add(struct context_ledger *ledger, const struct otlp_traces_span *span,
		       struct otlp_traces_added *added);

#endif
