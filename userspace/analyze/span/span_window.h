/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that a log tells of the time of one span: the spans and stays of threads
 * that overlap it, what its threads (or all) did then, and what was said about
 * it. The log is read three times:
 *
 *	pass 1: span_query_add() each record; span_query_found()            which span it is
 *	pass 2: span_window_add_spans() each; span_window_link()            spans, stays, marks
 *	pass 3: span_window_add_threads() each; span_window_finish()        what threads did
 *
 * Memory follows what is in that time, up to a budget: beyond it, is_full is
 * set and the rest is missing.
 */
#ifndef SPAN_WINDOW_H
#define SPAN_WINDOW_H

#include "analyze/fd_names.h"
#include "analyze/wait/wait_finder.h"
#include "analyze/wait/wait_sums.h"
#include "base/id_map.h"
#include "base/string_pool.h"
#include "txtrace/log.h"

#define WINDOW_NO_SPAN SIZE_MAX

struct span_query {
	uint64_t id;
	uint32_t pid; /* 0: of any process */
	uint64_t nth; /* of those that match, from 1, as they stand in the log */
	bool is_keyed; /* only keyed ones; else only others */

	/* The answer. */
	uint64_t match_cnt;
	bool is_found;
	struct txtrace_span span; /* its strings are in the pool */
	bool is_open;             /* only its checkpoint is there */
	struct string_pool *strings;
};

int span_query_init(struct span_query *query);
void span_query_release(struct span_query *query);
int span_query_add(struct span_query *query, const struct txtrace_record *record);

/*
 * A checkpoint counts if nothing else came; such a span ends at last_ns, the
 * end of the log. false: there is no such span.
 */
bool span_query_found(struct span_query *query, uint64_t last_ns);

struct window_span {
	struct txtrace_span span; /* label and tag: in the pool; key: empty */
	/* index of its parent, if it is the span in question or below it; else WINDOW_NO_SPAN */
	size_t parent;
	uint32_t depth; /* 0: the span in question */
	bool is_inside; /* it is that span, or below it */
	bool has_stays;
	bool is_replaced; /* private: by the span's own record */
};

/* A thread was in a span. */
struct window_stay {
	uint32_t pid, tid;
	uint64_t enter_ns, exit_ns;
	uint64_t scope, id; /* of the span */
	size_t span;
};

enum window_state {
	WINDOW_ON_CPU = 0,
	WINDOW_RUNNABLE = 1,
	WINDOW_BLOCKED = 2,
	WINDOW_UNKNOWN = 3, /* made by readers: the log does not tell */
};

/* What a thread did; in order, and no two overlap. */
struct window_segment {
	uint64_t from_ns, to_ns;
	uint8_t state;
	bool is_open; /* BLOCKED: it was not over when the log ended */
	bool has_wake;
	uint32_t cpu;              /* ON_CPU */
	struct wait_object object; /* BLOCKED */
	struct txtrace_wake wake;  /* its string is in the pool */
};

struct window_thread {
	uint32_t pid, tid;
	struct window_segment *segments;
	size_t cnt, size;
	/* private */
	struct txtrace_run last;
	uint64_t woken_ns;
};

/* From from_ns on, the span that the thread has entered last, and is in. */
struct window_place {
	uint32_t pid, tid;
	uint64_t from_ns;
	size_t span; /* or WINDOW_NO_SPAN */
};

struct span_window {
	struct txtrace_span span;
	uint64_t begin_ns, end_ns;
	struct window_span *spans; /* by begin; after the link, [self] is the span in question */
	size_t span_cnt, span_size, self;
	struct window_stay *stays; /* after the link: by thread and time, those of all spans */
	size_t stay_cnt, stay_size;
	struct window_place *places; /* by thread and time */
	size_t place_cnt;
	/* attributes, instants and links of the span and those below; strings in the pool */
	struct txtrace_record *marks;
	size_t mark_cnt, mark_size;
	struct id_map threads; /* struct window_thread by process and thread: of the spans inside, or all */
	bool wants_all_threads;
	bool is_full;

	/* private */
	struct id_map open; /* checkpoints whose spans have not come: index + 1 by scope and id */
	size_t max_bytes, bytes;
	struct string_pool *strings;
	struct wait_finder *finder;
	struct fd_names names;
	struct syscall_table syscalls;
};

/* The query's span; wants_all_threads: not only those that were in it or below. 0 or -ENOMEM. */
int span_window_init(struct span_window *window, const struct span_query *query, bool wants_all_threads,
		     size_t max_bytes, const char *kernel);
void span_window_release(struct span_window *window);

int span_window_add_spans(struct span_window *window, const struct txtrace_record *record);
int span_window_link(struct span_window *window);
int span_window_add_threads(struct span_window *window, const struct txtrace_record *record);
int span_window_finish(struct span_window *window);

/* NULL: nothing is known of it */
const struct window_thread *span_window_thread(const struct span_window *window, uint32_t pid, uint32_t tid);

/* The last segment that begins before time_ns; NULL: there is none. It may end before time_ns, too. */
const struct window_segment *window_thread_before(const struct window_thread *thread, uint64_t time_ns);

/*
 * The span that the thread was in just before time_ns (the one entered last),
 * and since when that holds; WINDOW_NO_SPAN: none.
 */
size_t span_window_place(const struct span_window *window, uint32_t pid, uint32_t tid, uint64_t time_ns,
			 uint64_t *since_ns);

/* The span with this id at this time; WINDOW_NO_SPAN: it is not in the log. */
size_t span_window_find(const struct span_window *window, bool is_keyed, uint32_t pid, uint64_t id,
			uint64_t time_ns);

#endif
