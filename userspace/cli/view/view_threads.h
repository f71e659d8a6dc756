/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads did, as segments of time: on a CPU, runnable, blocked (for what,
 * and who ended it). The longest are kept; all are summed up in a view_grid.
 * The log is read twice, as what a lock is may be told behind waits for it.
 *
 *	view_threads_survey() each record, then view_threads_add() each, then view_threads_finish()
 */
#ifndef VIEW_THREADS_H
#define VIEW_THREADS_H

#include "analyze/fd_names.h"
#include "analyze/syscall_table.h"
#include "analyze/wait/wait_finder.h"
#include "base/id_map.h"
#include "base/string_pool.h"
#include "base/text.h"
#include "cli/view/view_grid.h"
#include "cli/view/view_longest.h"

#define VIEW_NO_THREAD UINT32_MAX
#define VIEW_NO_STRING UINT32_MAX
#define VIEW_STRING_MAX 256 /* bytes of a string in a page; what it ends with is cut off */

struct view_thread {
	uint32_t number;
	uint32_t pid, tid;
	uint32_t name; /* string; VIEW_NO_STRING: not known */
	/* private */
	struct txtrace_run last;
	uint64_t woken_ns;
};

struct view_segment {
	uint64_t length_ns;
	uint64_t from_ns;
	uint64_t stolen_ns;   /* ON_CPU: of the length */
	uint64_t waker_span;  /* BLOCKED: id of the span that the waker was in; 0: none */
	uint32_t waker_pid;   /* of that span; 0: it is a keyed one */
	uint32_t waker;       /* BLOCKED: the thread that ended it, or VIEW_NO_THREAD */
	uint32_t wake_flags;  /* BLOCKED: enum txtrace_wake_flag */
	uint32_t thread;
	uint32_t object;      /* BLOCKED: string, what it waited for */
	uint16_t cpu;	      /* ON_CPU */
	uint8_t state;	      /* enum view_state: ON_CPU, RUNNABLE, BLOCKED */
	uint8_t reason;	      /* BLOCKED: or WAIT_REASON_UNKNOWN */
	bool has_wake;
	bool is_woken_at_end; /* the wakeup was when the segment ended */
	bool is_open; /* BLOCKED: it was not over when the log ended */
};

struct view_threads {
	struct view_longest segments; /* struct view_segment */
	struct view_thread **threads; /* by number */
	size_t thread_cnt;
	uint64_t left_out_cnt; /* records of threads beyond the limit of 65,536 */

	/* private */
	size_t size;
	struct id_map numbers;
	struct view_grid *grid;
	struct string_pool *strings;
	struct wait_finder *finder;
	struct fd_names files;
	struct fd_names futexes;
	struct syscall_table syscalls;
	struct text text;
};

/* strings, grid: the caller's, who releases what was made also after a failure. 0 or -ENOMEM, as below. */
int view_threads_init(struct view_threads *threads, struct view_grid *grid, struct string_pool *strings,
		      const char *kernel, size_t segment_room);
void view_threads_release(struct view_threads *threads);

int view_threads_survey(struct view_threads *threads, const struct txtrace_record *record);
int view_threads_add(struct view_threads *threads, const struct txtrace_record *record);
int view_threads_finish(struct view_threads *threads, uint64_t end_ns);

/* The number of a thread, given when it is first met; VIEW_NO_THREAD: there are too many. */
int view_threads_number(struct view_threads *threads, uint32_t pid, uint32_t tid, uint32_t *number);

/* A string, cut off at VIEW_STRING_MAX; VIEW_NO_STRING for an empty one. */
int view_string(struct string_pool *strings, struct txtrace_string string, uint32_t *number);

#endif
