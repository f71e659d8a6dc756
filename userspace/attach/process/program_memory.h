/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings of the traced programs by their address: labels and names. One that
 * the kernel side has copied is what it has said; a file by itself has literals
 * at its own addresses (attach/probes/label_files.h). What is below is for the
 * rest: for kernels before 5.15, and for strings that could not be copied.
 *
 * A literal lies in a read-only mapping of a file, so it is read from the file:
 * that neither waits for the program nor needs it to live on, and what it has
 * exec'd meanwhile cannot be taken for it. What lies elsewhere is read from the
 * process' memory, and when that has gone from the file that was mapped there.
 * Pages that the process has never touched are not read from memory: the kernel
 * would have to make them, and that may be up to the program (userfaultfd).
 *
 * Bounded: one program can fill its own tables only, all of them together no
 * more than PROGRAM_MEMORY_BYTES_MAX. Not thread-safe.
 */
#ifndef PROGRAM_MEMORY_H
#define PROGRAM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "attach/process/proc_maps.h"
#include "event/event.h"

#define PROGRAM_LABEL_BYTES_MAX 256   /* longer ones are cut off, is_truncated is set */
#define PROGRAM_LABEL_CNT_MAX 65536   /* distinct addresses of one program; further ones are unreadable */
#define PROGRAM_MAPPING_CNT_MAX 4096  /* of one program */
/* readings of one program's maps, for addresses in mappings that nobody noted */
#define PROGRAM_LOOK_CNT_MAX 256
#define PROGRAM_FILE_CNT_MAX 1024     /* files open at the same time */
#define PROGRAM_MEMORY_BYTES_MAX (256u << 20) /* of strings and tables; further strings are unreadable */

/*
 * In the place of a tgid: a file by itself, with a number that the caller
 * chooses. What is noted of it is all that is known; no process is looked at.
 */
#define PROGRAM_IS_FILE 0x80000000u

struct process_reader;
struct program_memory;

/* reader: reads the programs' memory, and lives as long; NULL: we do. NULL: no memory. */
struct program_memory *program_memory_new(struct process_reader *reader);
void program_memory_free(struct program_memory *memory);

/*
 * The string at the address in that process. *out is always filled: length 0
 * and is_unreadable if it could not be read. The bytes stay valid until that
 * process is invalidated or forgotten, or the next copy of the string is noted.
 * 0, or -ENOMEM (then *out is unreadable, too). Address 0 is an empty string.
 */
int program_memory_label(struct program_memory *memory, uint32_t tgid, uint64_t address,
			 struct event_text *out);

/*
 * The same for a literal: a string in a read-only mapping of a file, which is
 * later what it was when the program passed it. Elsewhere *out is unreadable.
 */
int program_memory_literal(struct program_memory *memory, uint32_t tgid, uint64_t address,
			   struct event_text *out);

/*
 * In the order of events: the kernel side has copied the string from that
 * address, which holds it now. Where it could not, what is there is known if it
 * is a literal. 0, or -ENOMEM: then the string is unreadable.
 */
int program_memory_note_copy(struct program_memory *memory, uint32_t tgid, uint64_t address,
			     const struct event_text *text);

/*
 * The image of a process is what one exec made; it is named by any number that
 * differs between two of them (struct proc_status has one). What is noted of a
 * newer image waits until program_memory_invalidate() makes it the current one:
 * notes come when /proc is read, labels and execs in the order of the events,
 * which is later.
 *
 * The process has this mapping at now_ns (CLOCK_MONOTONIC, taken before /proc
 * was read); fd is the mapped file, which is duplicated if it was not known, so
 * that its strings can be read when the process is gone. 0; -ENOSPC: there is
 * no room; -ENOMEM; errors of dup.
 */
int program_memory_note_mapping(struct program_memory *memory, uint32_t tgid, uint64_t image, uint64_t now_ns,
				const struct proc_mapping *mapping, int fd);

/*
 * The child starts with the parent's memory: the mappings that are known of the
 * parent are the child's. To be called when the event is handled; what has been
 * noted of the child itself since fork_ns holds on.
 */
int program_memory_note_fork(struct program_memory *memory, uint32_t parent_tgid, uint32_t child_tgid,
			     uint64_t fork_ns);

/*
 * The process got a new program (exec) at exec_ns: nothing holds that was noted
 * or read before. To be called when the event is handled.
 */
void program_memory_invalidate(struct program_memory *memory, uint32_t tgid, uint64_t exec_ns);

/*
 * The process has ended at end_ns and all of its events have been handled. What
 * is noted since then is of another one with its pid.
 */
void program_memory_forget(struct program_memory *memory, uint32_t tgid, uint64_t end_ns);

struct program_memory_stats {
	uint64_t label_cnt;      /* looked up and not known yet */
	uint64_t unreadable_cnt; /* of them */
	uint64_t refused_cnt;    /* of those: because of a limit */
};

void program_memory_stats(const struct program_memory *memory, struct program_memory_stats *stats);

#endif
