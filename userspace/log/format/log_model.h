/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What writer and reader both remember of the records of a batch so far, to
 * tell the next one by its difference from what was to be expected
 * (docs/log-format.md, "Records"). All arithmetic is modulo 2^64.
 */
#ifndef LOG_MODEL_H
#define LOG_MODEL_H

#include "log/format/log_field.h"

struct model_thread {
	uint64_t last_end_ns; /* end of its last run; 0: none yet */
	uint64_t span_end_ns; /* end of the last span that it had begun */
	uint64_t ready_ns;    /* when it was last woken or left a CPU; 0: unknown */
	uint64_t stay_end_ns; /* of its last stay in a span */
	uint64_t current_id;  /* of the span that it has last said something of */
	uint32_t tid;
	uint32_t pid;
};

/* From one stay of a thread on a CPU to the next. */
struct model_wait {
	uint64_t from_ns;
	uint64_t ready_ns;
	uint64_t until_ns;
	uint64_t part; /* of the ledger, that the time until ready_ns goes to; the rest is runnable */
};

#define MODEL_WAITS 8u

struct model_waits {
	struct model_wait last[MODEL_WAITS]; /* a ring */
	uint64_t cnt;
	uint64_t part;    /* of the wait that began when the thread last left a CPU */
	uint64_t stay_ns; /* when that wait ended, as a span has told; 0: none has */
};

/* The sums of what the spans with this parent say: on-CPU, runnable, blocked. */
#define MODEL_CHILD_PARTS (2 + LOG_MODEL_REASONS)
#define MODEL_PARENTS_BITS 10
#define MODEL_PARENTS (1u << MODEL_PARENTS_BITS)

struct model_parent {
	uint64_t id;
	uint64_t parts[MODEL_CHILD_PARTS];
};

/* The earliest moment at which a span is known to have been there: a mark of it, or the begin of a child. */
#define MODEL_MENTIONS_BITS 12
#define MODEL_MENTIONS (1u << MODEL_MENTIONS_BITS)

struct model_mention {
	uint64_t id;
	uint64_t time_ns;
};

struct model {
	uint64_t time_ns;  /* of the last record */
	uint64_t text_cnt; /* texts that have been used so far */
	struct model_thread *threads;
	struct model_waits *waits;    /* of the threads; NULL: nobody asks for them in this batch */
	struct model_parent *parents; /* the same; each at its place, a later one takes it over */
	struct model_mention *mentions; /* the same */
	uint64_t *slots; /* by slot - SLOT_FIRST */
	uint64_t cpu_end_ns[LOG_CPU_CONTEXTS];
};

static inline uint64_t *model_cpu_end(struct model *model, uint32_t cpu)
{
	return &model->cpu_end_ns[cpu % LOG_CPU_CONTEXTS];
}

/*
 * What a RUN that got its CPU at begin_ns is expected to have waited; pass on
 * the real runnable time for the second.
 */
static inline uint64_t model_runnable(const struct model_thread *thread, uint64_t begin_ns)
{
	return thread->ready_ns ? begin_ns - thread->ready_ns : 0;
}

static inline uint64_t model_blocked(const struct model_thread *thread, uint64_t begin_ns,
				     uint64_t runnable_ns)
{
	return thread->last_end_ns ? begin_ns - runnable_ns - thread->last_end_ns : 0;
}

static inline struct model_parent *model_parent(struct model *model, uint64_t id)
{
	return &model->parents[id * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MODEL_PARENTS_BITS)];
}

static inline struct model_mention *model_mention(struct model *model, uint64_t id)
{
	return &model->mentions[id * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MODEL_MENTIONS_BITS)];
}

static inline void model_note_mention(struct model *model, uint64_t id, uint64_t time_ns)
{
	struct model_mention *mention = model_mention(model, id);

	if (mention->id != id || mention->time_ns > time_ns)
		*mention = (struct model_mention){ id, time_ns };
}

static inline void model_forget_waits(struct model_waits *waits)
{
	waits->cnt = waits->stay_ns = 0;
	waits->part = PART_RUNNABLE;
}

/* When a thread got the CPU that it is on, by SPAN_BASIS_READY and above. */
static inline uint64_t model_stay(const struct model *model, const struct model_thread *thread,
				  uint64_t basis)
{
	return basis == SPAN_BASIS_READY ? thread->ready_ns :
	       basis == SPAN_BASIS_TOLD	 ? model->waits[thread - model->threads].stay_ns :
					   model->cpu_end_ns[(basis - SPAN_BASIS_CPU) % LOG_CPU_CONTEXTS];
}

/*
 * A run that began after runnable_ns of waiting has ended; to be called before
 * the thread forgets the end of the run before.
 */
static inline void model_note_run(struct model *model, const struct model_thread *thread,
				  const struct txtrace_run *run)
{
	struct model_waits *waits = &model->waits[thread - model->threads];

	if (thread->last_end_ns)
		waits->last[waits->cnt++ % MODEL_WAITS] = (struct model_wait){
			thread->last_end_ns, run->begin_ns - run->runnable_ns, run->begin_ns, waits->part
		};
	waits->part = run->left_as == TXTRACE_LEFT_BLOCKED && run->reason < LOG_MODEL_REASONS
			      ? PART_BLOCKED + run->reason
			      : PART_RUNNABLE;
	waits->stay_ns = 0;
}

/*
 * A span by the waits of its thread has told when the thread got the CPU that
 * it is on, if the thread waited within the span.
 */
static inline void model_note_span(struct model *model, const struct model_thread *thread, uint64_t begin_ns,
				   const uint64_t *fields)
{
	if (fields[SPAN_BASIS] >= SPAN_BASIS_READY && begin_ns < thread->last_end_ns)
		model->waits[thread - model->threads].stay_ns = model_stay(model, thread,
									   fields[SPAN_BASIS]) +
								fields[SPAN_RUNNABLE];
}

/* Adds to its parent's sums. */
static inline void model_note_child(struct model *model, uint64_t parent, const uint64_t *parts)
{
	struct model_parent *of = model_parent(model, parent);

	if (of->id != parent)
		*of = (struct model_parent){ .id = parent };
	for (unsigned int i = 0; i < MODEL_CHILD_PARTS; i++)
		of->parts[i] += parts[i];
}

/*
 * Adds to parts what a span that began at begin_ns and ends now has waited for,
 * by the waits of the thread that ends it; stay_ns: when that thread got the
 * CPU that it is on.
 */
void model_expect_waits(const struct model *model, const struct model_thread *thread, uint64_t begin_ns,
			uint64_t stay_ns, uint64_t *parts);

/* The same by its children. */
void model_expect_children(struct model *model, uint64_t id, uint64_t *parts);

#endif
