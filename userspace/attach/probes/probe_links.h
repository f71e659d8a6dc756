/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link between BPF programs and the probe sites of one object.
 *
 * With uprobe_multi there is one link per program with all sites of its probes;
 * the kernel's pid filter keeps other processes that run the same file at
 * untraced speed, and costs the traced one nothing: measured, an empty program
 * takes 257 ns (5-byte nop) or 539 ns (1-byte nop) with the filter as without
 * it (6.18, medians of 40 interleaved rounds, quartiles within 2 %). Else there
 * is one perf uprobe per site, which fires in every process: the BPF programs
 * have to look at the tgid in any case.
 */
#ifndef PROBE_LINKS_H
#define PROBE_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/probes/kernel_features.h"
#include "attach/probes/probe_sites.h"
#include "base/error.h"

struct bpf_program;
struct label_file;
struct link_opener;

/*
 * Which program handles a probe. A probe may have several, a program may handle
 * several: what tells them apart is the cookie.
 */
struct probe_program {
	const char *probe; /* as in struct probe_site */
	int prog_fd;
	struct bpf_program *prog; /* perf uprobes are attached through libbpf */
	uint64_t cookie;          /* bpf_get_attach_cookie; 0 for kernels before 5.15 */
};

/*
 * To be called for each program before it is loaded: the kernel has to know by
 * then how it will be attached. 0 or a negative errno.
 */
int probe_program_prepare(struct bpf_program *prog, const struct kernel_features *features);

struct probe_links_options {
	const struct kernel_features *features;
	const struct probe_program *programs;
	size_t program_cnt;
	/* the file's, for the cookies of marks instead of the programs' own; NULL: those */
	const struct label_file *label_file;
	pid_t pid; /* the process to probe; 0: every process that maps the file */
	/* makes the links of uprobe_multi; NULL: we wait for as long as that takes */
	struct link_opener *opener;
};

struct probe_links;

/*
 * Attaches the programs to the sites of the object open at fd (needed only
 * during the call). Returns how many sites have at least one program, and
 * *links, to be closed; or a negative errno and a sentence, and nothing is
 * attached: -ESRCH (the process is gone), -EPERM, -ETIMEDOUT (of the opener), ….
 * If the kernel refuses the fast nops, the first nops are used for the whole object.
 */
int probe_links_attach(struct probe_links **links, const struct probe_links_options *options, int fd,
		       const struct probe_sites *sites, struct error *error);

/* A probe that is no mark of txtrace: at any instruction. */
struct probe_spot {
	uint64_t offset;
	uint64_t semaphore_offset; /* 0: none */
	uint64_t cookie;
	size_t program; /* index */
};

struct probe_spot_program {
	int prog_fd;
	struct bpf_program *prog;
	bool is_return; /* hooks the return of a function whose first instruction the spot is */
};

/*
 * Adds probes on spots of the object open at fd to its links; *links may be
 * NULL and is made then. options->programs do not count. In the order of the
 * programs. 0, or a negative errno and a sentence: then none of them is
 * attached, and *links is as it was. Needs what tells the spots apart:
 * has_cookies or has_probe_paths.
 */
int probe_links_add(struct probe_links **links, const struct probe_links_options *options,
		    const struct probe_spot_program *programs, size_t program_cnt, int fd,
		    const struct probe_spot *spots, size_t spot_cnt, struct error *error);

/* How many kernel links there are, and whether they sit on the fast nops. */
size_t probe_links_cnt(const struct probe_links *links);
bool probe_links_are_fast(const struct probe_links *links);

/*
 * Removes the probes: when it returns, no program runs from them any more. The
 * kernel restores the nops and lowers the semaphores, so the traced program is
 * at untraced speed again. NULL is allowed. To be closed before the programs
 * are unloaded and before the rings are drained for the last time: then the
 * last events are in the rings.
 */
void probe_links_close(struct probe_links *links);

/* The same for several objects at once, in the time of one; none of them may be NULL. */
void probe_links_close_several(struct probe_links **links, size_t cnt);

#endif
