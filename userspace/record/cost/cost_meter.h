/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures what recording costs, and tells the log (TXTRACE_RECORD_COST).
 *
 * How often programs ran is known exactly: they count what they send. How long
 * they run is timed by the kernel when asked to, which costs every run of every
 * BPF program of the machine some 50 ns more; so it is asked once a second, for
 * 10 ms, or until the next tick if little happens. Timing cannot see what it
 * takes to get to a program: that is tried beforehand (attach/probes/cost_trial.h).
 * Turning it on and off takes 0.3 ms, of the trial's process, which alone keeps
 * CAP_SYS_ADMIN for that. Without the capability nothing is timed.
 *
 *	cost_meter_new()               trials of the empty programs begin
 *	cost_meter_connect()           all programs are loaded
 *	cost_meter_look_idle()         the scheduler's programs are attached, and know no thread yet
 *	cost_meter_begin()             all that is sent counts from here on
 *	cost_meter_tick()              in the loop
 *	cost_meter_tell()              when a file ends, and at the end
 */
#ifndef COST_METER_H
#define COST_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cost/cost_sums.h"
#include "attach/probes/kernel_features.h"
#include "record/mark_records.h"
#include "txtrace/event.h"
#include "txtrace/log.h"

struct cost_meter;
struct kernel_side;

struct cost_meter_options {
	const struct kernel_features *features;
	const struct kernel_side *kernel;
	uint32_t cpu_cnt; /* that may send */
	bool has_foreign; /* there may be probes on instructions that are single-stepped */
	void (*settle)(void *context); /* for the trial (attach/probes/cost_trial.h) */
	void *context;
};

struct cost_meter *cost_meter_new(const struct cost_meter_options *options); /* NULL: no memory */

/* Waits until the trials have ended, some 30 ms after they began. */
void cost_meter_connect(struct cost_meter *meter);
void cost_meter_free(struct cost_meter *meter); /* NULL is allowed */

/* Marks in shared memory count, too. `counts` must outlive the meter. Measures one mark, which takes 2 ms. */
void cost_meter_see_marks(struct cost_meter *meter, const struct mark_counts *counts);

void cost_meter_look_idle(struct cost_meter *meter);
void cost_meter_begin(struct cost_meter *meter, uint64_t now_ns);

bool cost_meter_is_timing(const struct cost_meter *meter);

/* Begins or ends timing, if it is time; returns when it wants the next tick. */
uint64_t cost_meter_tick(struct cost_meter *meter, uint64_t now_ns);

/* Before the programs are silenced: what is being timed counts. */
void cost_meter_stop(struct cost_meter *meter, uint64_t now_ns);

/* Bytes since the beginning. */
struct cost_meter_bytes {
	uint64_t ring_bytes;
	uint64_t log_bytes;
};

typedef int (*cost_sink)(void *context, const struct txtrace_record *record);

/*
 * What was since the last time: a record for each kind of event, and one of the
 * recorder. 0, or what the sink returned.
 */
int cost_meter_tell(struct cost_meter *meter, uint64_t time_ns, const struct cost_meter_bytes *bytes,
		    cost_sink sink, void *context);

/*
 * What it takes to get to a program by a probe and back, in ns / 1000; 0: not
 * known. is_stepped: where the kernel single-steps its instruction.
 */
uint64_t cost_meter_probe_ps(struct cost_meter *meter, bool is_stepped);

/*
 * What the traced threads have paid since the begin, as far as is known by now.
 * It may become less where prices change.
 */
uint64_t cost_meter_estimate_ns(const struct cost_meter *meter);

/* All that was told. */
const struct cost_sums *cost_meter_sums(const struct cost_meter *meter);

#endif
