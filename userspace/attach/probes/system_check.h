/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What works on this machine and what does not, and what to do about it:
 * `txtrace-bpf --check`. The facts are gathered once; what they mean is a pure
 * function of them, a table with a row for each subject.
 */
#ifndef SYSTEM_CHECK_H
#define SYSTEM_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/probes/kernel_features.h"
#include "base/error.h"

#define SYSTEM_UNKNOWN INT32_MIN

struct system_facts {
	struct kernel_features features;
	int32_t perf_event_paranoid;       /* these four: SYSTEM_UNKNOWN where the kernel does not say */
	int32_t unprivileged_bpf_disabled;
	int32_t bpf_stats_enabled;
	int32_t ptrace_scope;
	bool has_cap_sys_ptrace;
	bool has_cap_sys_resource;
	bool has_tracefs;         /* mounted */
	bool is_in_user_namespace;
	bool has_seccomp;         /* a filter is in force */
	uint64_t memlock_bytes;   /* RLIMIT_MEMLOCK; UINT64_MAX: none */
	uint64_t ring_cnt;        /* as recording would make them */
	uint64_t ring_bytes;      /* each */
	int ring_errno;           /* why they cannot be made; 0: they can; not tried: -1 */
	int load_err;             /* of all programs: 0, a negative errno, or 1: not tried */
};

/*
 * root: "", or a folder that stands for "/", whose proc/sys and sys are read;
 * whatever else is asked is asked of the kernel.
 */
void system_facts_gather(struct system_facts *facts, const char *root);

enum check_verdict {
	CHECK_OK = 0,      /* works */
	CHECK_LIMITED = 1, /* recording works, something is missing in it */
	CHECK_MISSING = 2, /* recording does not work */
	CHECK_UNKNOWN = 3, /* it could not be asked, as something else is missing */
};

extern const char *const check_verdict_names[]; /* "ok", "limited", "missing", "unknown" */

struct check_row {
	const char *subject; /* static */
	enum check_verdict verdict;
	struct error found;  /* what is so here */
	struct error advice; /* what to do; "": nothing */
};

/* Fills up to max rows; returns how many there are. */
size_t system_check(const struct system_facts *facts, struct check_row *rows, size_t max);

#endif
