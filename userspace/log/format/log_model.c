/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/format/log_model.h"

/* What of a time lies after begin_ns. */
static uint64_t time_after(uint64_t begin_ns, uint64_t from_ns, uint64_t to_ns)
{
	from_ns = from_ns > begin_ns ? from_ns : begin_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

static void add_wait(const struct model_wait *wait, uint64_t begin_ns, uint64_t *parts)
{
	parts[wait->part] += time_after(begin_ns, wait->from_ns, wait->ready_ns);
	parts[PART_RUNNABLE] += time_after(begin_ns, wait->ready_ns, wait->until_ns);
}

void model_expect_waits(const struct model *model, const struct model_thread *thread, uint64_t begin_ns,
			uint64_t stay_ns, uint64_t *parts)
{
	const struct model_waits *waits = &model->waits[thread - model->threads];
	uint64_t cnt = waits->cnt < MODEL_WAITS ? waits->cnt : MODEL_WAITS;
	struct model_wait last = { thread->last_end_ns, thread->ready_ns, stay_ns, waits->part };

	for (uint64_t i = 0; i < cnt; i++)
		add_wait(&waits->last[i], begin_ns, parts);
	if (thread->last_end_ns)
		add_wait(&last, begin_ns, parts);
}

void model_expect_children(struct model *model, uint64_t id, uint64_t *parts)
{
	const struct model_parent *parent = model_parent(model, id);

	if (parent->id == id)
		for (unsigned int i = 0; i < MODEL_CHILD_PARTS; i++)
			parts[i] += parent->parts[i];
}
