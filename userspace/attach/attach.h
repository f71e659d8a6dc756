/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a process to attached probes: the face of this folder.
 *
 *	kernel_features_probe(&features);                         what works here
 *	for each program: probe_program_prepare(prog, &features); then load
 *	target_open_pid() or target_launch()
 *	attach_new(&attach, &options);
 *	attach_command(attach, target, &error);                   launched: the files it will run, if it
 *	                                                          cannot be held
 *	target_go(target, …);                                     launched
 *	attach_scan(attach, pid, &error);                         everything it has mapped; again when it has
 *	                                                          exec'd, and from time to time
 *	target_resume(target);                                    launched
 *	…
 *	attach_close(attach);                                     before the programs are unloaded and the
 *	                                                          rings drained for the last time
 *
 * Objects (executables, shared libraries, plugins) are known by device and
 * inode, and opened by what is mapped. One that was looked at is not read again
 * while it stays mapped, so a scan costs one reading of /proc/PID/maps.
 */
#ifndef ATTACH_H
#define ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/elf/elf_reader.h"
#include "attach/unmodified/foreign_plan.h"
#include "attach/probes/kernel_features.h"
#include "attach/probes/probe_links.h"
#include "attach/probes/probe_sites.h"
#include "attach/process/program_memory.h"
#include "attach/process/target.h"
#include "base/error.h"

struct label_files;
struct process_reader;
struct attach;

struct attach_options {
	const struct kernel_features *features; /* these live as long as the attach */
	const struct probe_program *programs; /* for the probes of txtrace.h */
	size_t program_cnt;                   /* 0: they are left alone */
	bool uses_ring; /* where an object has the probe `ring`, that stands for the others */
	/* a process has a shared anonymous mapping of these bytes; may be NULL */
	void (*see_shared)(void *context, pid_t pid, uint64_t address);
	void *shared_context;
	uint64_t shared_bytes;
	struct program_memory *memory; /* is told about the files in which labels lie; may be NULL */
	struct label_files *label_files; /* is told which files have marks; may be NULL */
	struct process_reader *reader; /* reads what processes have mapped; NULL: we do */
	struct foreign_plan *foreign;  /* spans of programs that were never changed; NULL: none */
	struct elf_reader *elf_reader; /* of the files; NULL: in this process, for tests */
	/* what is removed before attach_close(), in a thread of its own, so that nobody waits for it */
	bool closes_aside;
	/* probe each process that runs the same files (to follow children), not only those given */
	bool is_every_process;
	/*
	 * The kernel waits for the lock of the memory of each process that has mapped the file. If that takes
	 * longer than this, the file is put off, as if it had not been looked at. 0: there is no limit.
	 */
	uint64_t link_wait_ns;
};

int attach_new(struct attach **attach, const struct attach_options *options);

/*
 * The files that a launched target will run, by their names; nothing if it can
 * be held at its exec, for then attach_scan sees what it really runs before it
 * does. Returns how many sites were attached, or a negative errno and a
 * sentence.
 */
int attach_command(struct attach *attach, const struct target *target, struct error *error);

/*
 * Looks at what the process has mapped and attaches what is new. Returns how
 * many sites were attached, 0 if there is nothing new; -ESRCH: the process has
 * ended; another negative errno and a sentence if there were new sites and none
 * of them could be attached; what is put off does not count as new. Objects that
 * cannot be read or attached are remembered and counted, and not tried again
 * while they stay mapped; unless it was an exec that took them away meanwhile:
 * then what is mapped now is looked at.
 */
int attach_scan(struct attach *attach, pid_t pid, struct error *error);

/*
 * One file, for every process (is_every_process): of one that is to come. fd is
 * taken over. How many sites, or a negative errno and a sentence.
 */
int attach_file(struct attach *attach, const char *path, int fd, struct error *error);

/*
 * For every process: the file with these numbers in the maps is attached, or
 * was looked at a moment ago: a scan would find nothing new in it.
 */
bool attach_knows(struct attach *attach, uint32_t dev_major, uint32_t dev_minor, uint64_t inode);

/*
 * Of a process that ended before its maps could be read: notes for its labels
 * where its executable was, which is known if that is attached. 0, or a
 * negative errno; -ENOENT: the executable was never looked at.
 */
struct attach_program {
	uint64_t inode; /* of the executable, as in the maps */
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t code_start; /* the address of its code */
	uint64_t noted_ns;   /* when it ran that, surely */
};

int attach_note_program(struct attach *attach, pid_t pid, const struct attach_program *program);

/*
 * Forgets objects that nobody maps: those without probes, and those that have
 * been deleted. Takes a scan of each process.
 */
void attach_sweep(struct attach *attach);

/* Removes what was attached for this process alone before that time: UINT64_MAX when it has ended. */
void attach_forget(struct attach *attach, pid_t pid, uint64_t before_ns);

/* The caller has given up privileges: threads that attach probes for it are replaced by new ones. */
void attach_renew_threads(struct attach *attach);

/* Whether files are put off; and whether the kernel no longer waits, so that a scan attaches them. */
bool attach_has_put_off(const struct attach *attach);
bool attach_take_put_off(struct attach *attach);

/* The name of the first such file since the last call, to be freed; NULL: none. */
char *attach_take_held_path(struct attach *attach);

struct attach_stats {
	size_t object_cnt; /* attached now */
	size_t site_cnt;
	size_t link_cnt;
	size_t probed_cnt;       /* sites that were attached at any time */
	uint64_t unreadable_cnt; /* objects that could not be opened or read */
	uint64_t failed_cnt;     /* objects whose probes could not be attached */
};

void attach_stats(const struct attach *attach, struct attach_stats *stats);

/*
 * What all objects that were looked at have of other providers' probes: for
 * "has no txtrace probes; it has …".
 */
const struct probe_providers *attach_providers(const struct attach *attach);

/* Removes all probes. NULL is allowed. */
void attach_close(struct attach *attach);

#endif
