/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the BPF programs counted: sent and lost, per CPU and kind, in memory that they share with us. Read after each drain, it tells which
 * losses are new, where and when: they become events of their own.
 */
#ifndef LOSS_COUNTERS_H
#define LOSS_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#include "event/event_decode.h"
#include "txtrace/event.h"

struct loss_counters {
	const struct wire_counters *shared; /* WIRE_CPU_MAX of them */
	volatile uint64_t *generation;
	size_t cpu_cnt;
	uint64_t look_ns;    /* when the last look began */
	uint64_t (*seen)[WIRE_KIND_COUNT]; /* per CPU: lost so far */
};

/* cpu_cnt: those that may be in use are the first so many, at most WIRE_CPU_MAX. Each is read after each drain. */
int loss_counters_open(struct loss_counters *counters, const struct wire_counters *shared, size_t cpu_cnt, volatile uint64_t *generation);
void loss_counters_close(struct loss_counters *counters);

/*
 * Calls take for each CPU that lost something since the last call, with a range of time that covers it and begins no earlier than the last call. A
 * non-zero return stops and is the result.
 */
typedef int (*loss_take)(void *context, const struct wire_loss *loss);
int loss_counters_read(struct loss_counters *counters, loss_take take, void *context);

struct loss_totals {
	uint64_t sent_cnt;
	uint64_t lost_cnt;
	uint64_t lost_clocks_cnt;
};

/* How many events of one kind were lost. */
uint64_t loss_counters_of_kind(const struct loss_counters *counters, unsigned int kind);

void loss_counters_totals(const struct loss_counters *counters, struct loss_totals *totals);

#endif
