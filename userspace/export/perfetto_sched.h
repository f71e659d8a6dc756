/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs as events of the scheduler, from which Perfetto makes its tables
 * thread_state and sched: sched_switch at both ends of a run, sched_waking
 * where the thread became runnable, and sched_blocked_reason, whose function is
 * the reason of the block. docs/export.md, "thread states", says what is in
 * these tables then.
 *
 * The log knows the traced threads alone: the other task of a switch is 0.
 */
#ifndef PERFETTO_SCHED_H
#define PERFETTO_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "export/perfetto_packet.h"
#include "export/picture.h"

struct perfetto_sched {
	struct packet_writer *writer; /* not owned */
	int64_t preempted_state;      /* of a sched_switch: its number changed with the kernel */
	uint64_t no_cpu_cnt;	      /* runs that were left out: their CPU is not known */
};

/* kernel: as in struct txtrace_log_info. */
void perfetto_sched_init(struct perfetto_sched *sched, struct packet_writer *writer, const char *kernel);

/* 0 or a negative errno. Runs of a CPU in the order of their ends. */
int perfetto_sched_run(struct perfetto_sched *sched, const struct thread_run *run);

#endif
