/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder, for its parts: opening (recorder.c), running (recorder_loop.c),
 * who observes what is recorded (recorder_observers.c), the flight recorder,
 * what is given up, and targets.
 */
#ifndef RECORDER_STATE_H
#define RECORDER_STATE_H

#include <limits.h>

#include "attach/attach.h"
#include "attach/process/child_count.h"
#include "attach/process/file_identity.h"
#include "attach/process/process_reader.h"
#include "record/targets/attach_watch.h"
#include "record/sandbox/confinement.h"
#include "record/cost/cost_meter.h"
#include "record/cost/cost_watch.h"
#include "analyze/label/label_report.h"
#include "analyze/thread/worker_report.h"
#include "record/flight/flight_recorder.h"
#include "record/kernel/kernel_filter.h"
#include "record/kernel/kernel_side.h"
#include "record/mark_rings.h"
#include "record/marks_choice.h"
#include "record/pipeline.h"
#include "record/sandbox/privileges.h"
#include "record/options/record_options.h"
#include "record/recorder.h"
#include "record/service/service.h"
#include "record/stacks/code_stacks.h"
#include "record/messages/status_line.h"
#include "record/targets/otel_watch.h"
#include "record/targets/target_set.h"
#include "ring/loss_counters.h"
#include "ring/ring_set.h"

#define FORMER_EXES_MAX 512       /* and 64 rules, and files that had these names before: of 1,024 */
#define TICK_MS 100               /* the rings are looked at this often, or when they fill up */
#define PERIOD_NS 1000000000u     /* clocks, status line */
/* with the ticks that an event waits for its turn, it is in the file within a second */
#define FLUSH_NS 700000000u
#define QUIET_NS 1000000000u /* without a record: then all is flushed, and any record wakes us up */

/* How long it took until events were recorded. */
struct start_times {
	uint64_t begin_ns;
	uint64_t load_us;   /* of it: until the kernel had accepted the BPF programs */
	uint64_t attach_us; /* of it: to find the threads and the probes, and to attach to them */
	uint64_t all_us;
};

struct recorder {
	const struct record_options *options;
	struct start_times start;
	struct kernel_features features;
	struct process_reader *reader;
	struct target_set *targets;
	struct kernel_side *kernel;
	struct ring_set *rings;
	size_t ring_cnt;
	uint64_t *watermarks; /* of the drain before the last */
	struct loss_counters losses;
	struct cost_meter *costs;
	struct cost_watch *cost_watch;
	struct program_memory *memory;
	struct label_files *label_files;
	struct otel_watch *otel; /* NULL: contexts that threads publish are not recorded */
	struct foreign_plan *foreign; /* NULL: marks of txtrace alone */
	struct child_count children; /* of the processes that were named, when they were attached to */
	struct elf_reader *elf_reader;
	struct attach *attach;
	struct attach_watch *watch;
	struct kernel_filter *filter;
	struct flight_recorder *flight; /* NULL: the log is written as it comes */
	uint64_t told_dump_cnt;
	uint64_t told_missed_cnt;
	struct log_writer *log;
	char log_path[PATH_MAX];
	FILE *stream;
	bool is_stream_broken;
	struct code_stacks *stacks; /* NULL: none are recorded, and no futex is named */
	struct marks_choice marks_choice;
	struct mark_rings *marks; /* NULL: marks come through probes alone */
	bool has_told_unasked;    /* that threads could not be asked for their clocks */
	struct pipeline *pipeline;
	struct object_names *objects;  /* what descriptors refer to */
	struct label_report *report;   /* of what was recorded, by label */
	struct worker_report *workers; /* what each thread did; NULL without --threads */
	struct service *service;
	int manager_fd; /* -1: there is no service manager */
	const struct messages *messages;
	const struct confinement_handler *confinement;
	struct privileges privileges;
	uint64_t refused_cnt; /* system calls; told so far */
	struct status_line status;
	int signal_fd;
	int signal_cnt;
	bool is_told_to_stop; /* by a signal */
	bool is_target_gone;
	int exit_status;
	uint64_t begin_ns; /* when the probes were let loose: attaching takes its time, too */
	uint64_t begin_realtime_ns;
	uint64_t next_periodic_ns;
	uint64_t next_flush_ns;
	struct file_identity exes[TARGET_RULE_MAX]; /* what the paths of the rules lead to */
	/* a ring: what they led to before. Processes may run that still, and fork. */
	struct file_identity former_exes[FORMER_EXES_MAX];
	size_t former_exe_at;
	uint64_t process_lost_cnt; /* WIRE_PROCESS events, as far as has been looked */
	uint64_t next_cost_ns;
	uint64_t seen_cnt; /* records of the rings, at the last look */
	uint64_t busy_ns;  /* the last look that found something */
	bool is_quiet;     /* the kernel side was told that any record is to wake us up */
	bool is_asleep;    /* at a look before the last one */
	bool wants_seed;           /* a process with several threads has joined */
	struct recorder_result result;
};

/* Takes what is in the rings and handles what is old enough. 0 or a negative errno: final. */
int recorder_drain(struct recorder *recorder);

/* Adds all observers to the pipeline. */
void recorder_observe(struct recorder *recorder);

/* An EVENT_PROCESS in its turn. */
int recorder_see_process(struct recorder *recorder, const struct event *event);

/*
 * A process has a new program: forgets the old one's strings, looks for the new
 * one's probes soon. old_tid: that of the thread that exec'd, until then.
 */
void recorder_see_exec(struct recorder *recorder, uint32_t tgid, uint32_t old_tid, uint64_t exec_ns);

/* What tracing has cost goes into the file that ends. */
int recorder_put_costs(struct recorder *recorder, uint64_t time_ns);

/*
 * What is in the flight recorder's memory goes into a file, if its time has
 * come; and what is to be said of that. 0 or a negative errno.
 */
int recorder_fly(struct recorder *recorder, uint64_t now_ns);

/* The same at the end; summary: that of the recording. */
int recorder_land(struct recorder *recorder, const struct txtrace_record *summary);

/* The recorder's own counts, as far as it has come. */
void recorder_summarize(struct recorder *recorder, struct txtrace_summary *summary, uint64_t now_ns);

/* What a target has mapped, for the names of their code. */
void recorder_look_at_code(void *recorder, uint32_t pid);
/* Whether, and where, its threads publish contexts: with --otel. */
void recorder_look_at_contexts(void *recorder, uint32_t pid);

/* At the end: a signal asks to stop again. */
bool recorder_is_hurried(struct recorder *recorder);

/* Takes out the probes, and says whom that waits for if it takes long. */
void recorder_detach(struct recorder *recorder);

/* How it goes now. Its summary lacks what only the end can tell. */
void recorder_look(void *context, struct metrics_figures *figures);

/* At the start: what will be given up, and what was never there, which is said. */
int recorder_plan_restraint(struct recorder *recorder, struct error *error);

/*
 * Closes the log, or leaves what there is of it after an error; with the
 * caller's rights. Nothing if there is none. err, or what closing gives.
 */
int recorder_end_log(struct recorder *recorder, int err);

/* What a person is told of an output of the caller's that cannot be opened. err: negative errno. */
const char *recorder_explain_output(const struct recorder *recorder, int err);

/*
 * What is needed no more is given up, for good: in the process that calibrates,
 * in the one that names code, in the one that serves metrics, in those that
 * read of others, in the thread that writes the log (contexts: the recorder),
 * in us.
 */
void recorder_restrain_trial(void *context);
void recorder_restrain_symbols(void *context);
void recorder_restrain_metrics(void *context);
void recorder_restrain_reader(void *context, int socket_fd);
void recorder_restrain_log(void *context);
void recorder_restrain(struct recorder *recorder);

/* Files that could not be read since it was asked last. */
void recorder_tell_unread(struct recorder *recorder);
void recorder_tell_held(struct recorder *recorder); /* files that cannot be attached yet */

/* System calls that were refused since it was asked last. */
void recorder_tell_refused(struct recorder *recorder);

#endif
