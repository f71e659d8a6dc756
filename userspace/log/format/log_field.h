/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of the kinds of records that are packed by hand
 * (docs/log-format.md, "Records"): their order is the format. Those of the other
 * kinds stand in record_table.c. How the writer stores each is its own choice,
 * told by the batch's shapes.
 */
#ifndef LOG_FIELD_H
#define LOG_FIELD_H

#include <stdint.h>

#include "log/format/log_format.h"
#include "log/format/record_table.h"

#define FIELD_TIME 0   /* of every kind */
#define FIELD_THREAD 1 /* of every kind but LOSS, SUMMARY, DROPPED, CONTINUED, COST and FRAMES */

enum span_field {
	SPAN_END_THREAD = 2,
	SPAN_FLAGS = 3,
	SPAN_LABEL = 4,
	SPAN_TAG = 5,
	SPAN_KEY = 6,
	SPAN_BEGIN_FROM = 7,
	SPAN_BEGIN = 8,
	SPAN_ID_SLOT = 9,
	SPAN_ID = 10,
	SPAN_PARENT_SLOT = 11,
	SPAN_PARENT = 12,
	SPAN_WORK = 13,
	SPAN_DERIVED = 14,
	SPAN_ON_CPU = 15,
	SPAN_RUNNABLE = 16,
	SPAN_BLOCKED = 17, /* one for each reason of version 1.0 */
	SPAN_DETACHED = 27,
	SPAN_UNKNOWN = 28,
	SPAN_BASIS = 29,
	SPAN_INTERRUPT = 30, /* since 1.1; with SPAN_DERIVED 0 */
	SPAN_POLL = 31,      /* likewise: blocked in a poll */
	SPAN_STOLEN = 32,    /* since 1.3; likewise */
	SPAN_STOLEN_MORE = 33, /* since 1.3: may have been stolen besides; it is no part */
	SPAN_FIELD_COUNT = 34,
};

/*
 * The reasons of version 1.0: those below this number. Later ones have fields
 * of their own, which no model of this format knows.
 */
#define LOG_MODEL_REASONS (SPAN_DETACHED - SPAN_BLOCKED)

/* The parts of the ledger, in the order of their fields. */
enum ledger_part {
	PART_ON_CPU = 0,
	PART_RUNNABLE = 1,
	PART_BLOCKED = 2, /* one for each reason of version 1.0 */
	PART_DETACHED = SPAN_DETACHED - SPAN_ON_CPU,
	PART_UNKNOWN = SPAN_UNKNOWN - SPAN_ON_CPU,
	SPAN_PART_COUNT = PART_UNKNOWN + 1, /* of version 1.0: those that have a basis and can be derived */
};

/* SPAN_BASIS: what the fields of the ledger are added to */
enum span_basis {
	SPAN_BASIS_ZERO = 0,
	SPAN_BASIS_CHILDREN = 1, /* the sums of its children */
	/* the waits of its thread, the last of which ended at once when the thread was ready */
	SPAN_BASIS_READY = 2,
	SPAN_BASIS_TOLD = 3,     /* …, when a span before told */
	SPAN_BASIS_CPU = 4,      /* and above: …, when the last run on this CPU ended */
};

/* SPAN_BEGIN_FROM: what SPAN_BEGIN is counted from */
enum span_begin_from {
	SPAN_BEGIN_FROM_END = 0,  /* backwards from its own end: the wall time */
	SPAN_BEGIN_FROM_LAST = 1, /* forwards from the end of the last span that this thread had begun */
	SPAN_BEGIN_FROM_MENTION = 2, /* backwards from when a mark or child first told that it was there */
};

enum run_field {
	RUN_CPU = 2,
	RUN_BEGIN_FROM = 3,
	RUN_BEGIN = 4,
	RUN_RUNNABLE = 5,
	RUN_BLOCKED = 6,
	RUN_LEFT_AS = 7,
	RUN_REASON = 8,
	RUN_SYSCALL = 9,
	RUN_OBJECT = 10,
	RUN_OBJECT_MORE = 11, /* is added to it */
	RUN_IDLE_FROM = 12, /* since 1.1, as the next one */
	RUN_IDLE = 13,
	RUN_WAIT_REASON = 14, /* 0: none is told, else it + 1 */
	RUN_WAIT_OBJECT = 15,
	RUN_WAIT_OBJECT_MORE = 16, /* is added to it */
	RUN_STOLEN = 17, /* since 1.3, as the next one */
	RUN_IDLE_STOLEN = 18,
	RUN_FIELD_COUNT = 19,
};

/* RUN_BEGIN_FROM: what RUN_BEGIN is counted from */
enum run_begin_from {
	RUN_BEGIN_FROM_CPU = 0,   /* forwards from the end of the last run on this CPU */
	RUN_BEGIN_FROM_END = 1,   /* backwards from its own end */
	RUN_BEGIN_FROM_READY = 2, /* forwards from when the thread was woken or last left */
	RUN_BEGIN_FROM_TOLD = 3,  /* forwards from what a span told */
};

/* RUN_IDLE_FROM: for how long the CPU was idle before */
enum run_idle_from {
	RUN_IDLE_NONE = 0,
	RUN_IDLE_ALL = 1,  /* for all of the runnable time */
	RUN_IDLE_LESS = 2, /* for the runnable time less RUN_IDLE */
};

enum wake_field {
	WAKE_WAKER = 2,
	WAKE_CPU = 3,
	WAKE_FLAGS = 4,
	WAKE_COMM = 5,
	WAKE_SPAN_SLOT = 6,
	WAKE_SPAN = 7,
	WAKE_WAKER_SPAN_SLOT = 8,
	WAKE_WAKER_SPAN = 9,
	WAKE_FIELD_COUNT = 10,
};

enum attribute_field {
	ATTRIBUTE_TYPE = 2,
	ATTRIBUTE_TRUNCATED = 3,
	ATTRIBUTE_NAME = 4,
	ATTRIBUTE_SPAN_SLOT = 5,
	ATTRIBUTE_SPAN = 6,
	ATTRIBUTE_VALUE = 7,
	ATTRIBUTE_STRING = 8,
	ATTRIBUTE_FIELD_COUNT = 9,
};

enum instant_field {
	INSTANT_NAME = 2,
	INSTANT_SPAN_SLOT = 3,
	INSTANT_SPAN = 4,
	INSTANT_FIELD_COUNT = 5,
};

enum counter_field {
	COUNTER_NAME = 2,
	COUNTER_SLOT = 3,
	COUNTER_VALUE = 4,
	COUNTER_FIELD_COUNT = 5,
};

enum link_field {
	LINK_NAME = 2,
	LINK_FROM_SLOT = 3,
	LINK_FROM = 4,
	LINK_TO_SLOT = 5,
	LINK_TO = 6,
	LINK_FIELD_COUNT = 7,
};

enum open_span_field {
	OPEN_SPAN_LABEL = 2,
	OPEN_SPAN_KEY = 3,
	OPEN_SPAN_AGE = 4,
	OPEN_SPAN_ID_SLOT = 5,
	OPEN_SPAN_ID = 6,
	OPEN_SPAN_PARENT_SLOT = 7,
	OPEN_SPAN_PARENT = 8,
	OPEN_SPAN_FLAGS = 9, /* since 1.2 */
	OPEN_SPAN_FIELD_COUNT = 10,
};

enum stay_field {
	STAY_LENGTH = 2,
	STAY_SPAN_PID = 3,
	STAY_KEYED = 4,
	STAY_SPAN_SLOT = 5,
	STAY_SPAN = 6,
	STAY_FROM = 7,
	STAY_FIELD_COUNT = 8,
};

/* STAY_FROM: what STAY_LENGTH is counted from */
enum stay_from {
	STAY_FROM_EXIT = 0, /* backwards */
	STAY_FROM_LAST = 1, /* forwards from the exit of the last stay of this thread */
};

enum other_run_field {
	OTHER_RUN_CPU = 2,
	OTHER_RUN_FLAGS = 3,
	OTHER_RUN_COMM = 4,
	OTHER_RUN_MOVED = 5, /* 0: none, else the thread + 1 */
	OTHER_RUN_BEGIN_FROM = 6,
	OTHER_RUN_BEGIN = 7,
	OTHER_RUN_STOLEN = 8, /* since 1.3 */
	OTHER_RUN_FIELD_COUNT = 9,
};

/* OTHER_RUN_BEGIN_FROM: what OTHER_RUN_BEGIN is counted from */
enum other_run_begin_from {
	OTHER_RUN_FROM_END = 0, /* backwards from its own end */
	OTHER_RUN_FROM_CPU = 1, /* forwards from the end of the last run on this CPU */
};

/* SLOTS, "Ids": the first three are no memory. */
#define SLOT_ZERO 0
#define SLOT_OWN 1
#define SLOT_CURRENT 2
#define SLOT_FIRST 3

/* What a slot remembers: the last … */
enum slot_role {
	SLOT_SPAN_ID = 1,      /* id of a span of this thread and label */
	SLOT_SPAN_PARENT = 2,  /* parent named by a span that ended on this thread */
	SLOT_MARKED = 3,       /* span that a mark of this thread was for */
	SLOT_COUNTER = 4,      /* value of the counter of this name */
	SLOT_OPEN_ID = 5,      /* id of an open span of this thread and label */
	SLOT_OPEN_PARENT = 6,  /* parent of an open span of this thread */
	SLOT_LINKED = 7,       /* end of a link of this thread */
	SLOT_WOKEN = 8,        /* span that this thread was in when it was woken */
	SLOT_WAKING = 9,       /* span that this thread was in when it woke another */
	SLOT_STAY = 10,        /* span that this thread was in */
	SLOT_STACK = 11,       /* span that this thread's code worked for */
	SLOT_OVERLAP = 12,     /* span that this thread began, and others overlap */
};

/* RUN_SYSCALL counts from -2, so that "unknown" and "none" are small. */
#define SYSCALL_BIAS 2

#endif
