/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/context_ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int context_ledger_open(struct context_ledger *ledger)
{
	*ledger = (struct context_ledger){ .join = context_join_new() };
	for (int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++)
		snprintf(ledger->names[reason], sizeof(ledger->names[reason]), "txtrace.blocked.%s_ns",
			 txtrace_block_reason_name(reason));
	return ledger->join ? 0 : -ENOMEM;
}

void context_ledger_close(struct context_ledger *ledger)
{
	context_join_free(ledger->join);
}

void context_ledger_begin(struct context_ledger *ledger, uint64_t start_ns, const uint8_t *capture_id)
{
	context_join_begin(ledger->join, start_ns);
	for (size_t i = 0; i < sizeof(ledger->capture) / 2; i++)
		snprintf(ledger->capture + 2 * i, 3, "%02x", capture_id[i]);
}

static struct context_span context_of(const struct otlp_traces_span *span)
{
	struct context_span context = {
		.process = span->process,
		.begin_ns = span->begin_ns,
		.end_ns = span->end_ns,
	};

	memcpy(context.trace_id, span->trace_id, sizeof(context.trace_id));
	memcpy(context.span_id, span->span_id, sizeof(context.span_id));
	memcpy(context.parent_id, span->parent_id, sizeof(context.parent_id));
	return context;
}

int context_ledger_see(struct context_ledger *ledger, const struct otlp_traces_span *span)
{
	const struct context_span wanted = context_of(span);

	ledger->span_cnt++;
	return context_join_span(ledger->join, &wanted);
}

static void add(struct otlp_traces_added *added, const char *name, uint64_t value)
{
	added->attributes[added->cnt++] = (struct otlp_traces_attribute){ .name = name, .number = value };
}

/* What is not there is 0, but for those that are always looked for. */
static void add_if_any(struct otlp_traces_added *added, const char *name, uint64_t value)
{
	if (value)
		add(added, name, value);
}

int context_ledger_add(struct context_ledger *ledger, const struct otlp_traces_span *span,
		       struct otlp_traces_added *added)
{
	const struct context_span wanted = context_of(span);
	struct context_sums sums;
	int found;

	found = context_join_get(ledger->join, &wanted, &sums);
	if (found <= 0)
		return found;
	if (span->has_own) {
		ledger->own_cnt++;
		return 0;
	}
	ledger->joined_cnt++;
	add(added, "txtrace.work_ns", sums.work_ns);
	add(added, "txtrace.on_cpu_ns", sums.ledger.on_cpu_ns);
	add(added, "txtrace.on_cpu_between_ns", sums.between_ns);
	add_if_any(added, "txtrace.runnable_ns", sums.ledger.runnable_ns);
	add(added, "txtrace.blocked_ns", txtrace_ledger_blocked_ns(&sums.ledger));
	for (int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++)
		add_if_any(added, ledger->names[reason], sums.ledger.blocked_ns[reason]);
	add_if_any(added, "txtrace.detached_ns", sums.ledger.detached_ns);
	add_if_any(added, "txtrace.stolen_ns", sums.ledger.stolen_ns);
	add_if_any(added, "txtrace.interrupt_ns", sums.ledger.interrupt_ns);
	add(added, "txtrace.unknown_ns", sums.ledger.unknown_ns);
	if (sums.is_lower_bound)
		added->attributes[added->cnt++] = (struct otlp_traces_attribute){
			.name = "txtrace.lower_bound", .is_flag = true
		};
	added->attributes[added->cnt++] = (struct otlp_traces_attribute){ .name = "txtrace.capture_id",
									  .text = ledger->capture };
	return 0;
}

_Static_assert(TXTRACE_BLOCK_REASON_COUNT + 12 <= OTLP_TRACES_ADDED_MAX, "OTLP_TRACES_ADDED_MAX");
