/* SPDX-License-Identifier: BSD-2-Clause */
/* What opening (recorder.c) and running (recorder_loop.c) share. */
#ifndef RECORDER_INTERNAL_H
#define RECORDER_INTERNAL_H

#include <limits.h>

#include "attach/attach.h"
#include "record/kernel_side.h"
#include "record/pipeline.h"
#include "record/record_options.h"
#include "record/recorder.h"
#include "record/service.h"
#include "record/status_line.h"
#include "ring/loss_counters.h"
#include "ring/ring_set.h"

#define TICK_MS 100               /* the rings are looked at this often, or when they fill up */
#define HOUSEKEEPING_NS 1000000000u /* clocks, status line */
#define FLUSH_NS 700000000u       /* with the ticks that an event waits for its turn, it is in the file within a second */
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
	char log_path[PATH_MAX];
	FILE *stream;
	bool is_stream_broken;
	struct pipeline *pipeline;
	struct service *service;
	const struct messages *messages;
	struct status_line status;
	int signal_fd;
	int signal_cnt;
	bool is_target_gone;
	int exit_status;
	uint64_t begin_ns; /* when the probes were let loose: attaching takes its time, too */
	uint64_t begin_realtime_ns;
	uint64_t next_housekeeping_ns;
	uint64_t next_flush_ns;
	uint64_t next_scan_ns;
	uint64_t scan_delay_ns;
	struct recorder_result result;
};

/* How it goes now. Its summary lacks what only the end can tell. */
void recorder_look(void *context, struct metrics_figures *figures);

/* For the pipeline: forgets the old program's strings, looks for the new one's probes soon. */
void recorder_on_exec(void *context, uint32_t tgid, uint32_t old_tid, uint64_t exec_ns);

#endif
