/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/root_overlap.h"

void root_overlap_see(struct root_overlap *overlap, const struct txtrace_record *record)
{
	if (record->kind != TXTRACE_RECORD_OVERLAP)
		return;
	overlap->last = record->overlap;
	overlap->is_known = true;
}

/* A hostile log may say that more of it is others' than there is. */
static void take_off(uint64_t *part_ns, uint64_t by_ns, uint64_t *taken_ns)
{
	if (by_ns > *part_ns)
		by_ns = *part_ns;
	*part_ns -= by_ns;
	*taken_ns += by_ns;
}

const struct txtrace_span *root_overlap_take_off(const struct root_overlap *overlap,
						 const struct txtrace_span *span, struct txtrace_span *alone)
{
	const struct txtrace_overlap *of = &overlap->last;
	const struct txtrace_ledger *shared = &of->ledger;
	uint64_t taken_ns = 0;

	if (!overlap->is_known || of->span != span->id || of->pid != span->pid ||
	    of->time_ns != span->end_ns ||
	    of->is_keyed != !!(span->flags & TXTRACE_SPAN_KEYED))
		return span;
	*alone = *span;
	take_off(&alone->ledger.on_cpu_ns, shared->on_cpu_ns, &taken_ns);
	take_off(&alone->ledger.runnable_ns, shared->runnable_ns, &taken_ns);
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		take_off(&alone->ledger.blocked_ns[i], shared->blocked_ns[i], &taken_ns);
	take_off(&alone->ledger.unknown_ns, shared->unknown_ns, &taken_ns);
	take_off(&alone->ledger.interrupt_ns, shared->interrupt_ns, &taken_ns);
	take_off(&alone->ledger.stolen_ns, shared->stolen_ns, &taken_ns);
	alone->work_ns -= taken_ns < alone->work_ns ? taken_ns : alone->work_ns;
	return alone;
}
