/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the BPF programs counted: sent and lost, per CPU and kind, in memory
 * that they share with us. Read after each drain, it tells which losses are
 * new, where and when: they become events of their own.
 *
 * What a program could not count because it was not run at all, the kernel has
 * counted: it leaves out a program that runs on the CPU already. Each time
 * counts as one event sent and lost, though it may have been about somebody who
 * is not traced.
 */
#ifndef LOSS_COUNTERS_H
#define LOSS_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "event/event_decode.h"
#include "txtrace/event.h"

#define LOSS_PROGRAM_MAX 16
#define LOSS_CPU_UNKNOWN 0xffff

/* A program that may be left out. */
struct loss_program {
	int prog_fd;
	uint32_t kind; /* enum wire_kind: what it would have sent */
	uint64_t seen_cnt;
};

/* How often the kernel has left the program out. Those before 5.12 leave out none. */
typedef uint64_t (*loss_misses)(int prog_fd);

struct loss_counters {
	const struct wire_counters *shared; /* WIRE_CPU_MAX of them */
	volatile uint64_t *generation;
	size_t cpu_cnt;
	uint64_t look_ns;    /* when the last look began */
	uint64_t (*seen)[WIRE_KIND_COUNT]; /* per CPU: lost so far */
	loss_misses misses;
	struct loss_program programs[LOSS_PROGRAM_MAX];
	size_t program_cnt;
};

/*
 * cpu_cnt: those that may be in use are the first so many, at most
 * WIRE_CPU_MAX. Each is read after each drain.
 */
int loss_counters_open(struct loss_counters *counters, const struct wire_counters *shared, size_t cpu_cnt,
		       volatile uint64_t *generation);
void loss_counters_close(struct loss_counters *counters);

/* From now on, what this program was left out of is a loss, too. The fd stays the caller's. */
void loss_counters_watch(struct loss_counters *counters, int prog_fd, uint32_t kind);

/*
 * Calls take for each CPU that lost something since the last call, with a range
 * of time that covers it and begins no earlier than the last call; and for each
 * program that was left out, with LOSS_CPU_UNKNOWN and the time since the last
 * call. A non-zero return stops and is the result.
 */
typedef int (*loss_take)(void *context, const struct wire_loss *loss);
int loss_counters_read(struct loss_counters *counters, loss_take take, void *context);

struct loss_totals {
	uint64_t sent_cnt;
	uint64_t lost_cnt;
	uint64_t missed_cnt; /* of these: of programs that the kernel left out */
	uint64_t lost_clocks_cnt;
};

/* How many events of one kind were lost. */
uint64_t loss_counters_of_kind(const struct loss_counters *counters, unsigned int kind);

void loss_counters_totals(const struct loss_counters *counters, struct loss_totals *totals);

#endif
