/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The BPF programs, loaded: from here on the rest of the recorder sees rings,
 * counters and a table of programs for the probes.
 *
 * Order: open (begins to load), wait (until that is done), kernel_targets
 * (which processes), start (the scheduler's events flow), seed (the threads
 * that are there), then attach the probes with kernel_side_programs(), record.
 * At the end: silence, drain for the last time, remove the probes, stop, close.
 */
#ifndef KERNEL_SIDE_H
#define KERNEL_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/unmodified/foreign_plan.h"
#include "attach/probes/kernel_features.h"
#include "attach/probes/probe_links.h"
#include "attach/process/target_rules.h"
#include "base/error.h"
#include "event/sched_mode.h"
#include "ring/loss_counters.h"
#include "txtrace/event.h"

struct bpf_program;
struct span_choices;
struct kernel_side;
struct txtrace_bpf;

struct kernel_side_options {
	bool has_mark_rings; /* programs may mark in memory that they share with the recorder */
	const struct kernel_features *features;
	size_t ring_cnt; /* as in ring_set_options */
	size_t ring_bytes;
	size_t wake_bytes; /* see ring_set.h */
	bool wants_interrupts;
	enum sched_mode sched;
	const struct span_choices *choices;
	const struct target_rules *rules; /* who is a target besides those that are named */
	bool has_foreign; /* the programs of foreign.bpf.c are needed */
	bool has_otel;    /* those of otel.bpf.c */
	bool names_futexes;
	bool has_stacks_off_cpu;
	bool has_stacks_on_cpu;
	bool copies_stacks;  /* rather than follow frame pointers */
	uint64_t sample_ns;  /* between two stacks on a CPU */
};

/*
 * Makes the maps, and loads programs that do nothing; the others are being
 * loaded meanwhile. 0, or a negative errno and a sentence.
 */
int kernel_side_open(struct kernel_side **side, const struct kernel_side_options *options,
		     struct error *error);

/* Until then there are the maps, and kernel_side_program() of the empty ones. As above. */
int kernel_side_wait(struct kernel_side *side, struct error *error);

/* the skeleton, for what has a file of its own */
struct txtrace_bpf *kernel_side_bpf(struct kernel_side *side);
int kernel_side_rings_fd(const struct kernel_side *side);
int kernel_side_label_files_fd(const struct kernel_side *side); /* bpf/label.h */
const struct wire_counters *kernel_side_counters(const struct kernel_side *side);
/* begins that found no room, see bpf/foreign.bpf.c */
uint64_t kernel_side_full_cnt(const struct kernel_side *side);
/* where the threads of a process publish their contexts, see txtrace/otel.h */
int kernel_side_otel_fd(const struct kernel_side *side);
/* to be raised when that has changed */
volatile uint64_t *kernel_side_otel_generation(const struct kernel_side *side);
/* threads in a context, and children, for which there was no room; looks that found what is no context */
uint64_t kernel_side_otel_full_cnt(const struct kernel_side *side);
uint64_t kernel_side_otel_fail_cnt(const struct kernel_side *side);
/* hits of foreign probes that were single-stepped */
uint64_t kernel_side_step_cnt(const struct kernel_side *side);
size_t kernel_side_cpu_cnt(void); /* that have counters: as many as there may ever be */
volatile uint64_t *kernel_side_loss_generation(const struct kernel_side *side);
/* by programs that the kernel leaves out */
void kernel_side_watch_losses(const struct kernel_side *side, struct loss_counters *losses);
/* NULL: there is none of this name */
struct bpf_program *kernel_side_program(const struct kernel_side *side, const char *name);
const struct probe_program *kernel_side_programs(const struct kernel_side *side, size_t *cnt);

/* Of foreign.bpf.c, if it was asked for. */
void kernel_side_connect(const struct kernel_side *side, const struct kernel_features *features,
			 struct foreign_plan *plan);

/* Whether any record wakes the reader up, or only many. */
void kernel_side_set_sleeping(const struct kernel_side *side, bool sleeps);

/*
 * Has the thread on each CPU tell its clocks, if it has marked where the kernel
 * side sees nothing. 0, or a negative errno: some were not asked.
 */
int kernel_side_ask(const struct kernel_side *side);

int kernel_side_start(struct kernel_side *side, struct error *error);
/* again for processes that became targets later */
int kernel_side_seed(struct kernel_side *side, struct error *error);
void kernel_side_record(struct kernel_side *side);  /* the probes speak from now on, all at once */
/* nothing does any more: programs that run at this moment finish */
void kernel_side_silence(struct kernel_side *side);

/*
 * After that: waits until these have finished. false: it cannot be known; what
 * comes by kernel_side_stop() is the last.
 */
bool kernel_side_is_silent(const struct kernel_side *side);

/* removes the scheduler's programs; waits for those that run */
void kernel_side_stop(struct kernel_side *side);

void kernel_side_close(struct kernel_side *side); /* NULL is allowed */

#endif
