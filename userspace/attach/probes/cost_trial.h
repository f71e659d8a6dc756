/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What it costs to get to a program of ours and back: measured on empty
 * programs, in a child of our own, by the attachment and the nop that are
 * really used. The kernel's statistics of BPF programs tell how long a program
 * runs, and not this.
 *
 *	cost_trial_start(&trial, &options)     the child begins
 *	cost_trial_wait(trial)                 until it has tried all, some 30 ms after that
 *	cost_trial_wake(trial, cnt)            the child and we wake each other: for whoever wants switches
 *	                                       and wakeups now
 *	cost_trial_time(trial, true)           the child has the kernel time all BPF programs, until it is
 *	                                       told otherwise or ends
 *	cost_trial_ask(trial)                  one more batch of the probe's, 0.2 ms of the child's time; …
 *	cost_trial_result(trial, &result)      … counts in what is asked later. Machines become slower and
 *	                                       faster
 *	cost_trial_free(trial)
 *
 * Figures are in ns / 1000, 0: not known. Each is the median of batches, so
 * that what else the machine does meanwhile hardly shows. It is that of a warm
 * cache: in a program that has other things to do it is more rather than less.
 * The child ends with us, however we end. It, and not the recorder, times
 * programs, since that takes CAP_SYS_ADMIN: it listens to nobody but us, and to
 * single bytes.
 */
#ifndef COST_TRIAL_H
#define COST_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/probes/kernel_features.h"

struct bpf_program;
struct cost_trial;

struct cost_trial_options {
	const struct kernel_features *features;
	struct bpf_program *probe;      /* empty; for uprobes. NULL: not asked for */
	/* what a probe costs whose instruction is single-stepped is asked for, too */
	bool wants_step;
	struct bpf_program *tracepoint; /* empty; raw_tp/task_rename. NULL: not asked for */
	/* in the child, once it has attached its probe: to give up what it needs no more. May be NULL */
	void (*settle)(void *context);
	void *context;
};

struct cost_trial_entry {
	uint64_t entry_ps;     /* to the program and back */
	uint64_t empty_run_ps; /* what the kernel's timing says of its run; 0 also without CAP_SYS_ADMIN */
	uint64_t run_cnt;      /* runs that entry_ps was taken from */
};

struct cost_trial_result {
	struct cost_trial_entry probe;
	struct cost_trial_entry tracepoint;
	/* of the probe on an instruction that is single-stepped; tried at the start only */
	struct cost_trial_entry step;
};

/* 0 or a negative errno. The programs are loaded. */
int cost_trial_start(struct cost_trial **trial, const struct cost_trial_options *options);

/* Once, before what is below. 0; or a negative errno, and nothing is known. */
int cost_trial_wait(struct cost_trial *trial);

/* Back and forth so many times. */
void cost_trial_wake(struct cost_trial *trial, unsigned int cnt);

/*
 * 0 once it is so; -EPERM: it may not; another negative errno: the child did
 * not answer in time, and what it does is what it is told next.
 */
int cost_trial_time(struct cost_trial *trial, bool is_timed);

/* Neither waits; at most one batch is under way, and a new one is asked for only when that has come. */
void cost_trial_ask(struct cost_trial *trial);
void cost_trial_result(struct cost_trial *trial, struct cost_trial_result *result);

/*
 * NULL is allowed in both. Its probe goes with the child, which takes the
 * kernel some 50 ms: free waits for that, end does not.
 */
void cost_trial_end(struct cost_trial *trial);
void cost_trial_free(struct cost_trial *trial);

/* The kernel's time and number of all timed runs of a program so far. 0 or a negative errno. */
int cost_trial_timed(int prog_fd, uint64_t *run_cnt, uint64_t *run_ns);

#endif
