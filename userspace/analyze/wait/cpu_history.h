/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who had each CPU lately. Stays are added in the order of the log, by their
 * ends; where two say the same time of one CPU, the first one stands. Of a CPU
 * the last 65,536 stays are known, of CPUs 4,096, and no more stays in all than
 * fit into max_bytes: what is left out is as if nobody had been there.
 */
#ifndef CPU_HISTORY_H
#define CPU_HISTORY_H

#include <stddef.h>
#include <stdint.h>

struct cpu_stay {
	uint64_t begin_ns;
	uint64_t end_ns;
	uint32_t pid;
	uint32_t tid;  /* 0: nobody, it was idle */
	uint32_t name; /* the user's */
	uint64_t stolen_ns; /* of it: in a part of a stay what is sure to be in that part */
};

/*
 * Leaves of it what lies in that time. When the stolen part was is not known:
 * it may be in what is cut off.
 */
static inline void cpu_stay_cut(struct cpu_stay *stay, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t before_ns = stay->begin_ns < stay->end_ns ? stay->end_ns - stay->begin_ns : 0, cut_ns;

	if (stay->begin_ns < from_ns)
		stay->begin_ns = from_ns;
	if (stay->end_ns > to_ns)
		stay->end_ns = to_ns;
	if (stay->begin_ns > stay->end_ns)
		stay->begin_ns = stay->end_ns;
	cut_ns = before_ns - (stay->end_ns - stay->begin_ns);
	stay->stolen_ns = stay->stolen_ns > cut_ns ? stay->stolen_ns - cut_ns : 0;
}

struct cpu_history;

struct cpu_history *cpu_history_new(size_t max_bytes); /* NULL: no memory */
void cpu_history_free(struct cpu_history *history);
void cpu_history_clear(struct cpu_history *history);

/* 0 or -ENOMEM */
int cpu_history_add(struct cpu_history *history, uint32_t cpu, const struct cpu_stay *stay);

typedef int (*cpu_history_take)(void *context, const struct cpu_stay *stay);

/* The stays on this CPU in that time, cut off to it, the last one first. 0, or what take returned. */
int cpu_history_look(const struct cpu_history *history, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
		     cpu_history_take take, void *context);

#endif
