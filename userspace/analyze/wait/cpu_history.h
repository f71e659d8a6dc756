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
};

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
