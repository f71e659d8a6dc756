/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each thread did, one thread after the other and in the order of time,
 * for formats that write a thread at once. Records come in any order and are
 * sorted by thread and begin, what does not fit into memory in an unnamed file
 * (base/spill_sort.h).
 *
 *	struct thread_slices *slices = thread_slices_new();
 *
 *	err = thread_slices_add(slices, pid, tid, &slice);        for each
 *	err = thread_slices_end(slices);
 *	while ((got = thread_slices_next(slices, &thread, &slice)) > 0)
 *		...
 *
 * Of slices that begin together, the longest comes first, so that what nests
 * comes in the order of a stack.
 */
#ifndef THREAD_SLICES_H
#define THREAD_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "txtrace/log.h"

enum slice_kind {
	SLICE_SPAN = 1,
	SLICE_STATE = 2, /* of the thread: name is one of state_name() */
	SLICE_INSTANT = 3,
	SLICE_LOSS = 4,
};

struct thread_slice {
	uint64_t begin_ns;
	uint64_t end_ns;    /* >= begin_ns */
	uint64_t id;	    /* SPAN */
	uint64_t on_cpu_ns; /* the ledger of a SPAN, here and below */
	uint64_t runnable_ns;
	uint64_t blocked_ns;
	uint64_t detached_ns;
	uint64_t unknown_ns;
	uint32_t name;		   /* thread_slices_name() has it */
	uint32_t flags;		   /* SPAN: enum txtrace_span_flag */
	uint8_t kind;		   /* enum slice_kind */
	bool is_of_thread;	   /* SPAN: one stretch of work of this thread alone */
	struct txtrace_string tag; /* SPAN */
};

struct sliced_thread {
	uint32_t number; /* 0, 1, … without gaps, in the order in which threads are told */
	uint32_t pid;
	uint32_t tid;
	const char *comm; /* the last one known; "": none is */
};

struct thread_slices;

struct thread_slices *thread_slices_new(void);	       /* NULL: no memory, or no temporary folder */
void thread_slices_free(struct thread_slices *slices); /* NULL is allowed */

/* The number of a name; of more names than are kept, that of "(other names)". 0 or -ENOMEM. */
int thread_slices_number(struct thread_slices *slices, struct txtrace_string name, uint32_t *number);
const char *thread_slices_name(const struct thread_slices *slices, uint32_t number, size_t *length);
uint32_t thread_slices_name_cnt(const struct thread_slices *slices);

int thread_slices_call(struct thread_slices *slices, const struct txtrace_thread *thread);
/* 0 or a negative errno. Beyond 131,072 threads, slices are left out and counted. */
int thread_slices_add(struct thread_slices *slices, uint32_t pid, uint32_t tid,
		      const struct thread_slice *slice);
int thread_slices_add_span(struct thread_slices *slices, const struct txtrace_span *span);

/* The earliest begin; 0 if there is none. */
uint64_t thread_slices_first_ns(const struct thread_slices *slices);
uint64_t thread_slices_left_out_cnt(const struct thread_slices *slices);

/* No more will be added. */
int thread_slices_end(struct thread_slices *slices);

/* 1 and the next slice, with strings until the next call; 0: there is none; a negative errno. */
int thread_slices_next(struct thread_slices *slices, struct sliced_thread *thread,
		       struct thread_slice *slice);

#endif
