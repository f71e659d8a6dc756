/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/format/ledger_basis.h"

#include <string.h>

/*
 * How many bits numbers that are given apart from a basis take, about; far too many if one is less than the
 * basis.
 */
static unsigned int bits_apart(const uint64_t *parts, const uint64_t *basis)
{
	unsigned int bits = 0;

	for (unsigned int i = 0; i < MODEL_CHILD_PARTS; i++)
		if (parts[i] != basis[i])
			bits += 65 - (unsigned int)__builtin_clzll(parts[i] - basis[i]);
	return bits;
}

/*
 * By the waits of the thread, if these say why it was blocked. If they tell all but when it got the CPU that
 * it is on, that follows, and is a moment that is known for another reason, perhaps.
 */
static bool pick_waits(const struct model *model, uint32_t cpu_cnt, const struct model_thread *thread,
		       uint64_t begin_ns, const uint64_t *parts, uint64_t *basis, uint64_t *field)
{
	uint64_t expected[SPAN_PART_COUNT] = { 0 }, stay_ns;
	const struct model_waits *waits = &model->waits[thread - model->threads];

	if (!thread->last_end_ns || begin_ns >= thread->last_end_ns)
		return false;
	model_expect_waits(model, thread, begin_ns, thread->ready_ns, expected);
	if (memcmp(parts + PART_BLOCKED, expected + PART_BLOCKED, LOG_MODEL_REASONS * sizeof(*parts)) ||
	    parts[PART_RUNNABLE] < expected[PART_RUNNABLE])
		return false;
	stay_ns = thread->ready_ns + parts[PART_RUNNABLE] - expected[PART_RUNNABLE];
	*field = SPAN_BASIS_READY;
	if (stay_ns != thread->ready_ns && stay_ns == waits->stay_ns)
		*field = SPAN_BASIS_TOLD;
	for (uint32_t cpu = 0; cpu < cpu_cnt && stay_ns != thread->ready_ns && *field == SPAN_BASIS_READY;
	     cpu++)
		if (model->cpu_end_ns[cpu] == stay_ns)
			*field = SPAN_BASIS_CPU + cpu;
	memcpy(basis, expected, sizeof(expected));
	if (*field != SPAN_BASIS_READY)
		basis[PART_RUNNABLE] = parts[PART_RUNNABLE];
	return true;
}

uint64_t ledger_basis_pick(struct model *model, uint32_t cpu_cnt, const struct txtrace_span *span,
			   const struct model_thread *thread, const uint64_t *parts, uint64_t *basis)
{
	uint64_t children[SPAN_PART_COUNT] = { 0 }, field = SPAN_BASIS_ZERO;

	if (parts[PART_ON_CPU] == span->work_ns ||
	    pick_waits(model, cpu_cnt, thread, span->begin_ns, parts, basis, &field))
		return field;
	model_expect_children(model, span->id, children);
	if (bits_apart(parts, children) >= bits_apart(parts, basis))
		return field;
	memcpy(basis, children, sizeof(children));
	return SPAN_BASIS_CHILDREN;
}
