/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Strings of the traced programs by their address: labels and names, which travel as pointers and are read once.
 *
 * A literal lies in a read-only mapping of a file, so it is read from the file, which cannot block on the program, and works when the program has
 * exec'd or ended meanwhile. What lies elsewhere is read from the process' memory. Pages that the process has never touched are not read: to
 * wait for them could be to wait for the program (userfaultfd).
 *
 * Bounded: what one program does can fill its own tables only. Not thread-safe.
 */
#ifndef PROGRAM_MEMORY_H
#define PROGRAM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "attach/proc_maps.h"
#include "event/event.h"

#define PROGRAM_LABEL_BYTES_MAX 256     /* longer ones are cut off, is_truncated is set */
#define PROGRAM_LABEL_CNT_MAX 65536     /* distinct addresses of one program; further ones are unreadable */
#define PROGRAM_MAPPING_CNT_MAX 4096    /* of one program */
#define PROGRAM_CNT_MAX 65536           /* programs at the same time; the strings of further ones are unreadable */

struct program_memory;

struct program_memory *program_memory_new(void); /* NULL: no memory */
void program_memory_free(struct program_memory *memory);

/*
 * The string at the address in that process. *out is always filled: length 0 and is_unreadable if it could not be read. The bytes stay valid
 * until that process is invalidated or forgotten. 0, or -ENOMEM (then *out is unreadable, too). Address 0 is an empty string.
 */
int program_memory_label(struct program_memory *memory, uint32_t tgid, uint64_t address, struct event_text *out);

/*
 * The process has this mapping; fd is the mapped file (duplicated, if it was not known). Saves what is needed to read labels when the process is
 * gone. -ENOSPC: no room, -ENOMEM, errors of dup.
 */
int program_memory_note_mapping(struct program_memory *memory, uint32_t tgid, const struct proc_mapping *mapping, int fd);

/* The child starts with the parent's memory: what is known of the parent holds for it. */
int program_memory_note_fork(struct program_memory *memory, uint32_t parent_tgid, uint32_t child_tgid);

/* The process got a new program (exec): nothing that was known holds. To be called when the event is handled, in the order of the events. */
void program_memory_invalidate(struct program_memory *memory, uint32_t tgid);

/* The process has ended and all of its events have been handled. */
void program_memory_forget(struct program_memory *memory, uint32_t tgid);

struct program_memory_stats {
	uint64_t label_cnt;      /* read so far */
	uint64_t unreadable_cnt; /* of them */
	uint64_t refused_cnt;    /* lookups that met a limit */
};

void program_memory_stats(const struct program_memory *memory, struct program_memory_stats *stats);

#endif
