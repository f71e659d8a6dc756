/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What writer and reader both remember of the records of a batch so far, to tell the next one by its difference from what was to be
 * expected (docs/log-format.md, "Records"). All arithmetic is modulo 2^64.
 */
#ifndef LOG_MODEL_H
#define LOG_MODEL_H

#include "log/log_field.h"

struct model_thread {
	uint64_t last_end_ns; /* end of its last run; 0: none yet */
	uint64_t span_end_ns; /* end of the last span that it had begun */
	uint64_t ready_ns;    /* when it was last woken or left a CPU; 0: unknown */
	uint32_t tid;
	uint32_t pid;
};

struct model {
	uint64_t time_ns;  /* of the last record */
	uint64_t text_cnt; /* texts that have been used so far */
	struct model_thread *threads;
	uint64_t *slots; /* by slot - SLOT_FIRST */
	uint64_t cpu_end_ns[LOG_CPU_CONTEXTS];
};

static inline uint64_t *model_cpu_end(struct model *model, uint32_t cpu)
{
	return &model->cpu_end_ns[cpu % LOG_CPU_CONTEXTS];
}

/* What a RUN that got its CPU at begin_ns is expected to have waited; pass on the real runnable time for the second. */
static inline uint64_t model_runnable(const struct model_thread *thread, uint64_t begin_ns)
{
	return thread->ready_ns ? begin_ns - thread->ready_ns : 0;
}

static inline uint64_t model_blocked(const struct model_thread *thread, uint64_t begin_ns, uint64_t runnable_ns)
{
	return thread->last_end_ns ? begin_ns - runnable_ns - thread->last_end_ns : 0;
}

#endif
