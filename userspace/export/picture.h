/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The picture of a log: which rows it has and what is drawn on them, the same
 * for every viewer. A format gives a canvas, two functions that write rows and
 * shapes in its own words, and names the picture's functions as its own
 * callbacks.
 *
 * Rows: one for each process, below it one for each thread with the spans that
 * it worked through from begin to end, one beside it with the thread's states
 * (running, runnable, blocked: why), rows by name for spans that were given a
 * track, rows by label for those that wander between threads, wait, or cross
 * others, and one for each counter. Losses and damage have rows that belong to
 * no process.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include "export/export.h"

enum row_kind {
	ROW_PROCESS = 1,
	ROW_THREAD = 2,
	ROW_STATES = 3, /* of a thread */
	ROW_LANE = 4,   /* its slices never overlap */
	ROW_COUNTER = 5,
};

#define NO_PROCESS UINT32_MAX /* pid of rows that belong to the whole capture */

/* In place of what the log does not know. */
#define NO_LABEL "(no label)"
#define NO_NAME "(no name)"

struct picture_row {
	uint64_t id;     /* unique, from 1 */
	uint64_t parent; /* THREAD, LANE, COUNTER: the process; STATES: the thread; 0: none */
	enum row_kind kind;
	uint32_t pid;
	uint32_t tid;               /* THREAD, STATES */
	bool is_track;              /* LANE: the program has named it; else it is called as its slices */
	struct txtrace_string name; /* length 0: not known */
};

enum arg_type {
	ARG_BOOL = TXTRACE_ATTRIBUTE_BOOL,
	ARG_INT = TXTRACE_ATTRIBUTE_INT,
	ARG_UINT = TXTRACE_ATTRIBUTE_UINT,
	ARG_DOUBLE = TXTRACE_ATTRIBUTE_DOUBLE,
	ARG_STRING = TXTRACE_ATTRIBUTE_STRING,
	ARG_POINTER = TXTRACE_ATTRIBUTE_POINTER,
	ARG_BYTES = TXTRACE_ATTRIBUTE_BYTES, /* shown as a string */
	ARG_ID = 16,   /* of a span: a number that may exceed 2^53 */
	ARG_GROUP = 17, /* the next `value` args belong to it; groups don't nest */
};

struct picture_arg {
	struct txtrace_string name;
	enum arg_type type;
	uint64_t value; /* its bits */
	struct txtrace_string string;
	bool is_truncated; /* the program's string was longer: to be shown with … behind it */
};

enum shape_kind {
	SHAPE_SLICE = 1,
	SHAPE_INSTANT = 2, /* at begin_ns */
	SHAPE_COUNT = 3,   /* `value` of a counter from begin_ns on */
};

struct shape {
	enum shape_kind kind;
	const struct picture_row *row;
	const char *category;
	struct txtrace_string name; /* never empty */
	uint64_t begin_ns;
	uint64_t end_ns; /* >= begin_ns */
	int64_t value;
	const uint64_t *flows; /* arrows: they join the shapes that have the same number */
	size_t flow_cnt;
	const struct picture_arg *args;
	size_t arg_cnt;
};

struct state_slice;

/* A wakeup that the thread of a run may have begun with: another one may come while it still runs. */
#define THREAD_WAKE_CNT 4

struct thread_wake {
	uint64_t time_ns; /* 0: there is none */
	uint32_t waker_tid;
	uint32_t cpu; /* where the waker ran */
	uint32_t flags; /* enum txtrace_wake_flag */
};

/* A run, and how it goes on from what the row of states of its thread had so far. */
struct thread_run {
	const struct txtrace_run *run;
	const struct state_slice *slices; /* of the wait before it and of the run itself: timeline.h */
	unsigned int slice_cnt;
	bool has_before; /* the thread ran before: */
	bool is_before_blocked; /* it was blocked then, */
	uint64_t before_ns; /* until then, */
	uint32_t before_cpu; /* and there */
	const struct thread_wake *wakes; /* its last THREAD_WAKE_CNT, in no order */
};

/* Strings live until the call returns. 0 or a negative errno, which ends the export. */
struct canvas_ops {
	/* before the first shape on it; again when its name gets known or changes */
	int (*row)(void *canvas, const struct picture_row *row);
	int (*draw)(void *canvas, const struct shape *shape);
	int (*finish)(void *canvas);
	void (*free)(void *canvas);
	/* besides the slices: for a viewer that has states of threads of its own; may be NULL */
	int (*run)(void *canvas, const struct thread_run *run);
};

struct picture;

/* Takes the canvas over, also when it fails (NULL: no memory). `info` must live as long as the picture. */
struct picture *picture_new(const struct canvas_ops *ops, void *canvas, const struct txtrace_log_info *info);

const void *picture_canvas(const struct picture *picture);

/* The callbacks of struct export_format; `picture` is a struct picture. */
int picture_survey(void *picture, const struct txtrace_record *record);
int picture_span(void *picture, const struct txtrace_span *span);
int picture_run(void *picture, const struct txtrace_run *run);
int picture_wake(void *picture, const struct txtrace_wake *wake);
int picture_thread(void *picture, const struct txtrace_thread *thread);
int picture_attribute(void *picture, const struct txtrace_attribute *attribute);
int picture_instant(void *picture, const struct txtrace_instant *instant);
int picture_counter(void *picture, const struct txtrace_counter *counter);
int picture_link(void *picture, const struct txtrace_link *link);
int picture_open_span(void *picture, const struct txtrace_open_span *open_span);
int picture_loss(void *picture, const struct txtrace_loss *loss);
int picture_dropped(void *picture, const struct txtrace_dropped *dropped);
int picture_damage(void *picture, const struct txtrace_damage *damage);
int picture_finish(void *picture, const struct export_totals *totals);
void picture_free(void *picture);

#endif
