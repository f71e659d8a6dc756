/* SPDX-License-Identifier: BSD-2-Clause */
/* What opening (recorder.c) and running (recorder_loop.c) share. */
#ifndef RECORDER_INTERNAL_H
#define RECORDER_INTERNAL_H

#include "attach/attach.h"
#include "record/kernel_side.h"
#include "record/pipeline.h"
#include "record/record_options.h"
#include "record/recorder.h"
#include "record/status_line.h"
#include "ring/loss_counters.h"
#include "ring/ring_set.h"

#define TICK_MS 100               /* the rings are looked at this often, or when they fill up */
/*
 * Flush, checkpoint, status line. A crash is to cost the last second at most: what is flushed is as old as the tick before, the flush may come a tick
 * late, and its work takes time.
 */
#define HOUSEKEEPING_NS (1000000000u - 3 * TICK_MS * 1000000u)
#define SCAN_NS 1000000000u       /* for objects that were mapped later */
#define FIRST_SCAN_NS 1000000u    /* after an exec; doubles up to SCAN_NS */

struct recorder {
	const struct record_options *options;
	struct kernel_features features;
	struct target *target;
	struct kernel_side *kernel;
	struct ring_set *rings;
	size_t ring_cnt;
	uint64_t *watermarks; /* of the drain before the last */
	struct loss_counters losses;
	struct program_memory *memory;
	struct attach *attach;
	struct log_writer *log;
	FILE *stream;
	bool is_stream_broken;
	struct pipeline *pipeline;
	struct status_line status;
	int signal_fd;
	int signal_cnt;
	bool is_target_gone;
	int exit_status;
	uint64_t begin_ns; /* when the probes were let loose: attaching takes its time, too */
	uint64_t next_housekeeping_ns;
	uint64_t next_scan_ns;
	uint64_t scan_delay_ns;
	struct recorder_result result;
};

/* For the pipeline: forgets the old program's strings, looks for the new one's probes soon. */
void recorder_on_exec(void *context, uint32_t tgid, uint32_t old_tid, uint64_t exec_ns);

#endif
