/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of code that the kernel side sends: from addresses or copies to
 * frames, numbers for those that are the same, and their functions as FRAMES
 * records at the end of each file. And the names of futexes: the code that
 * waited first, as OBJECT records.
 *
 * Addresses become files' own when they come, so that the process may end;
 * names are asked for at once, and waited for at the end only.
 */
#ifndef CODE_STACKS_H
#define CODE_STACKS_H

#include "attach/code/symbolizer.h"
#include "event/event_decode.h"
#include "txtrace/log.h"

#define CODE_STACK_MAX (1u << 18)       /* different ones; further ones have no number */
/* bytes of a FRAMES record: the outermost functions of longer ones are left out */
#define CODE_STACK_NAMES_MAX 16384
#define CODE_STACK_FUTEX_MAX 16384

struct process_reader;
struct code_stacks;

typedef int (*code_stack_sink)(void *context, const struct txtrace_record *record);

/*
 * Starts the symbolizer's process, which settles: before anything is opened
 * that it must not hold. has_kernel_frames: not only of futexes. NULL: no
 * memory.
 */
struct code_stacks *code_stacks_new(bool has_kernel_frames, const struct outside_settle *settle);
/* before anything else */
void code_stacks_set_sink(struct code_stacks *stacks, code_stack_sink sink, void *context);
/* Who reads what processes have mapped; before that we do. */
void code_stacks_set_reader(struct code_stacks *stacks, struct process_reader *reader);
void code_stacks_free(struct code_stacks *stacks); /* NULL is allowed */

/*
 * A record of the wire as soon as it is there, before its turn: the process may
 * be gone by then. 1: it was a stack for the log, and *number goes on in its
 * place; 0: it goes on itself, or, if it is a stack, is done with. -ENOMEM.
 */
int code_stacks_take(struct code_stacks *stacks, const void *record, size_t size,
		     struct wire_stack_number *number);

/* Looks at what a process has mapped. 0 or -ENOMEM. */
int code_stacks_look(struct code_stacks *stacks, uint32_t tgid);

/* A record names that stack: the file will need its frames. 0 or -ENOMEM. */
int code_stacks_use(struct code_stacks *stacks, uint64_t stack);

/* Now and then: takes names, tells futexes. 0, -ENOMEM, or what the sink returned. */
int code_stacks_tick(struct code_stacks *stacks, uint64_t time_ns);

/*
 * The file is about to end: the frames of all stacks in it, waiting for their
 * names for up to wait_ns. Futexes whose frames have no names by then are told
 * later, with names; if this is the last file, now, as well as they can be.
 * Likewise.
 */
int code_stacks_end_file(struct code_stacks *stacks, uint64_t time_ns, uint64_t wait_ns, bool is_last);

/* Takes names, for up to wait_ns. 1: some are still to come; 0: none; or -ENOMEM. */
int code_stacks_wait(struct code_stacks *stacks, uint64_t wait_ns);

/* A new file has begun: the names of all futexes. Likewise. */
int code_stacks_tell(struct code_stacks *stacks, uint64_t time_ns);

struct code_stack_stats {
	uint64_t no_number_cnt;     /* stacks beyond the limit: not in the log */
	bool has_symbolizer_failed; /* its process died: names are missing */
	bool has_too_many_files;    /* code_map_is_full() */
	bool has_unwinder_failed;   /* its process died: stacks end early */
};

void code_stacks_stats(const struct code_stacks *stacks, struct code_stack_stats *stats);

#endif
