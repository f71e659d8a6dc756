/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/span_budget.h"

#include <stdlib.h>

static void forget_process(struct attribution *attribution, struct process *process)
{
	id_map_remove(&attribution->processes, 0, process->tgid);
	free(process);
}

void budget_start(struct attribution *attribution, const struct process *process)
{
	attribution->budget.orphaned_bytes -= process->open_bytes;
}

void budget_stop(struct attribution *attribution, struct process *process)
{
	attribution->budget.orphaned_bytes += process->open_bytes;
	if (!process->open_bytes)
		forget_process(attribution, process);
}

struct process *budget_payer(const struct attribution *attribution, const struct span *span)
{
	return id_map_get(&attribution->processes, 0, span->pid);
}

void budget_disown(struct attribution *attribution, struct process *process, uint64_t bytes)
{
	attribution->budget.orphaned_bytes -= bytes;
	if (!process->open_bytes)
		forget_process(attribution, process);
}

bool budget_tag(struct attribution *attribution, const struct span *span, const struct event_text *text)
{
	size_t bytes = span_tag_growth(span, text);

	return !bytes || budget_take(attribution, budget_payer(attribution, span), bytes, 0);
}

static int tell(struct attribution *attribution, struct refusal *refusal)
{
	struct txtrace_record record;

	record.kind = TXTRACE_RECORD_LOSS;
	record.loss = (struct txtrace_loss){
		.first_ns = refusal->first_ns,
		.last_ns = refusal->last_ns,
		.cpu = refusal->cpu,
		.span_event_cnt = refusal->cnt,
	};
	refusal->cnt = 0;
	return put_record(attribution, &record);
}

int budget_refuse(struct attribution *attribution, const struct event *event)
{
	struct refusal *refusal = &attribution->refusals[event->cpu % REFUSAL_CPUS];
	int err = refusal->cnt && refusal->cpu != event->cpu ? tell(attribution, refusal) : 0;

	attribution->stats.refused_cnt++;
	if (!refusal->cnt++)
		refusal->first_ns = event->time_ns;
	refusal->cpu = event->cpu;
	refusal->last_ns = event->time_ns;
	return err;
}

int budget_tell(struct attribution *attribution)
{
	int err = 0;

	for (size_t i = 0; !err && i < REFUSAL_CPUS; i++)
		if (attribution->refusals[i].cnt)
			err = tell(attribution, &attribution->refusals[i]);
	return err;
}
