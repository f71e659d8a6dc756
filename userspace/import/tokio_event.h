/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What Tokio's telemetry says, whatever the version of the file: one event for
 * each record that has a time. Decoders make events, tokio_order.h sorts them,
 * and tokio_story.h makes records of a log of them.
 */
#ifndef TOKIO_EVENT_H
#define TOKIO_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum tokio_kind {
	/* in the order in which they stand where the time is the same: a wakeup sees the queue */
	TOKIO_QUEUE_SAMPLE = 0,
	TOKIO_POLL_START = 1,
	TOKIO_POLL_END = 2,
	TOKIO_PARK = 3,
	TOKIO_UNPARK = 4,
	TOKIO_TASK_SPAWN = 5,
	TOKIO_TASK_END = 6,
	TOKIO_WAKE = 7,
	TOKIO_SAMPLE = 8,
	TOKIO_SPAN_ENTER = 9,
	TOKIO_SPAN_EXIT = 10,
	TOKIO_SPAN_CLOSE = 11,
};

enum tokio_has {
	TOKIO_HAS_QUEUE = 1,
	TOKIO_HAS_CPU = 2,
	TOKIO_HAS_WAIT = 4,
	TOKIO_HAS_TASK = 8,
	TOKIO_TIME_IS_GUESSED = 16, /* the record has no time: it is that of the record before */
	TOKIO_CPU_IS_32_BIT = 32,   /* cpu_ns is of a clock that wraps after 2^32 µs */
};

#define TOKIO_WORKER_BLOCKING 254 /* a thread of the blocking pool */
#define TOKIO_WORKER_OTHER 255	  /* any other thread */
#define TOKIO_WORKER_CNT 1024	  /* workers above are taken for TOKIO_WORKER_OTHER */
#define TOKIO_NO_STRING UINT32_MAX

struct tokio_event {
	uint64_t time_ns;
	uint64_t number;  /* in the inputs */
	uint64_t cpu_ns;  /* of the thread's clock */
	uint64_t wait_ns; /* UNPARK: for a CPU */
	uint64_t queue;	  /* depth: of the worker's, or QUEUE_SAMPLE: of the global one */
	uint64_t task;	  /* WAKE: who was woken; SPAN_…: the number of the span */
	uint64_t other;	  /* WAKE: the task that did it; SPAN_ENTER: the parent */
	uint32_t name;	  /* a number of the string pool: where the task was spawned, the span's name */
	uint16_t worker;  /* below TOKIO_WORKER_CNT */
	uint8_t kind;	  /* enum tokio_kind */
	uint8_t has;	  /* enum tokio_has */
};

#endif
