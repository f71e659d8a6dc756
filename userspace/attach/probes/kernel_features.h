/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this kernel offers and what we may do: asked once at the start, by
 * trying where a version number would lie (backports).
 */
#ifndef KERNEL_FEATURES_H
#define KERNEL_FEATURES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/probes/percpu_layout.h"
#include "attach/probes/steal_source.h"
#include "base/error.h"

/* The nop that the kernel turns into a call when it is probed; every other one costs a trap. */
enum fast_nop {
	FAST_NOP_NONE = 0,
	FAST_NOP_5 = 1,  /* x86-64, from 6.18 on */
	/*
	 * x86-64, the kernels after those: a call in the place of a 5-byte nop could write into the red zone
	 */
	FAST_NOP_10 = 2,
};

enum lockdown {
	LOCKDOWN_NONE = 0, /* off, or a kernel without it */
	LOCKDOWN_INTEGRITY = 1,
	LOCKDOWN_CONFIDENTIALITY = 2, /* BPF programs may not read kernel memory: tracing does not work */
};

/* Tracepoints that tell an io_uring's requests. */
enum uring_place {
	URING_PLACE_COMPLETE = 1,   /* 5.19 and later */
	URING_PLACE_SUBMIT_REQ = 2, /* 6.4 and later */
	URING_PLACE_SUBMIT_SQE = 4, /* 5.19 to 6.3 */
	URING_PLACE_CREATE = 8,
};

struct btf;

struct kernel_features {
	char release[65];
	uint32_t version; /* KERNEL_VERSION(major, minor, patch) of linux/version.h */
	bool has_btf;
	bool can_load;                /* a BPF program was accepted; false: load_errno says why not */
	int load_errno;
	bool has_uprobe_multi;        /* 6.6 and later */
	/* its pid filter means the process; the first kernels took it for the thread */
	bool has_uprobe_multi_pid;
	/* of the BTF tracepoint: 3, or 4 with prev_state (5.18 and later); 0: unknown, no BTF */
	uint32_t sched_switch_arg_cnt;
	bool has_task_storage;        /* tracing programs may keep things with a task: 5.13 and later */
	bool has_cookies;             /* a program is told which of its probes was hit: 5.15 and later */
	/* it can read under which path that probe was attached, see probe_path.h: before */
	bool has_probe_paths;
	/*
	 * its BTF describes sockets, so that a program can tell their addresses; not: a kernel without
	 * CONFIG_INET
	 */
	bool has_socket_types;
	uint32_t uring_places;        /* enum uring_place; 0 also: a kernel without io_uring */
	struct percpu_layout percpu;
	struct steal_source steal;    /* where it is told what a hypervisor takes of the CPUs */
	/*
	 * the one to use: NONE if a child that the target forks would not survive it, and until that is
	 * settled
	 */
	enum fast_nop fast_nop;
	enum fast_nop reckless_nop;   /* the one that the kernel has, whatever becomes of forked children */
	enum lockdown lockdown;
	bool is_root; /* effective uid 0 */
	bool has_cap_sys_admin;
	bool has_cap_bpf;
	bool has_cap_perfmon;
	bool is_unprivileged_bpf_disabled;
	bool is_in_pid_namespace; /* other than the machine's own */
	/* until that is settled: */
	struct btf *types; /* all of the kernel's; NULL: they cannot be read */
	pthread_t nop_trial;
	bool has_nop_trial;
};

/* Asks all of it; never fails: what cannot be asked is not there. */
void kernel_features_probe(struct kernel_features *features);

/*
 * The same in two steps, with time for other work in between: what a fast nop
 * does to a child takes the kernel some 50 ms to show. `features` stays where
 * it is meanwhile. The second step may be done again; also if all is 0.
 */
void kernel_features_begin(struct kernel_features *features);
void kernel_features_settle(struct kernel_features *features);

/*
 * What stands in the way of recording, worst first: one sentence each, what is
 * missing and what to do. Fills up to `max` of them and returns how many there
 * are; 0: recording can work.
 */
size_t kernel_features_missing(const struct kernel_features *features, struct error *sentences, size_t max);

#endif
