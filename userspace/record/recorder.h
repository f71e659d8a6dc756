/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder: target, kernel side, rings, pipeline and log, opened in that
 * order and closed in the other; between them a loop that waits, drains, and
 * looks after the target.
 */
#ifndef RECORDER_H
#define RECORDER_H

#include <stdio.h>

#include "analyze/cost/cost_sums.h"
#include "analyze/label/label_report.h"
#include "analyze/thread/worker_report.h"
#include "base/error.h"
#include "record/targets/attach_watch.h"
#include "record/stacks/code_stacks.h"
#include "record/sandbox/confinement.h"
#include "record/cost/cost_watch.h"
#include "record/messages/loss_advice.h"
#include "record/messages/messages.h"
#include "record/pipeline.h"
#include "record/options/record_options.h"

struct recorder;

/*
 * Up to the point where the target runs, traced, and the recorder has given up
 * what it needs no more: the process can do nothing but record from then on. On
 * failure a negative errno, a sentence, *exit_status, and nothing is left.
 */
int recorder_open(struct recorder **recorder, const struct record_options *options,
		  const struct messages *messages, const struct confinement_handler *confinement,
		  int *exit_status, struct error *error);

/*
 * Records until the target ends, the time is up or a signal says so, then
 * finishes the log: the probes do nothing any more. 0, or a negative errno and
 * a sentence: it stopped early, and the log holds what came before.
 */
int recorder_run(struct recorder *recorder, struct error *error);

struct recorder_result {
	struct pipeline_stats pipeline;
	struct txtrace_summary summary;
	const char *log_path; /* the recorder's */
	struct log_writer_result log;
	uint64_t dropped_record_cnt;
	struct txtrace_dropped dropped; /* batches that found no room in the queue */
	uint64_t duration_ns;
	struct cost_sums costs;
	struct cost_share share;
	struct program_memory_stats labels;
	struct loss_causes losses; /* without those that were refused */
	uint64_t otel_cnt;      /* processes that have published contexts of threads */
	uint64_t otel_full_cnt; /* contexts for which there was no room */
	uint64_t otel_fail_cnt; /* looks that found what is no context */
	size_t site_cnt;     /* probe sites that were attached */
	struct attach_watch_stats watch;
	struct code_stack_stats stacks;
	uint64_t process_cnt;      /* that were traced at any time */
	/* processes that blocked reads of their memory, and were not asked again */
	uint64_t frozen_cnt;
	uint64_t lost_process_cnt; /* that were to be traced, and for which there was no room */
	int exit_status;     /* the command's; 0 of a process that we did not start */
	bool is_target_alive;
};

/* After the run. */
void recorder_result(const struct recorder *recorder, struct recorder_result *result);
/* Says why there are no spans, or not all that were asked for. */
void recorder_explain(const struct recorder *recorder);
struct label_report *recorder_report(struct recorder *recorder);
struct worker_report *recorder_workers(struct recorder *recorder); /* NULL without --threads */

/*
 * Before the end, when nothing remains but to take out the probes, which may
 * take long: true: a signal has come again, and the process may end as it is,
 * the kernel does the rest. Otherwise, if a signal has ended the recording, the
 * next one ends the process.
 */
bool recorder_leave_signals(struct recorder *recorder);

void recorder_close(struct recorder *recorder); /* takes out the probes. NULL is allowed */

#endif
