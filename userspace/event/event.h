/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The decoded event: what the merge orders and the attribution eats. No
 * addresses of the traced program are left in it: labels and names are strings.
 * event_decode() makes it from the wire, stream_read() from a recorded stream.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtrace/event.h"

enum event_kind {
	EVENT_SWITCH = WIRE_SWITCH,
	EVENT_WAKE = WIRE_WAKE,
	EVENT_THREAD = WIRE_THREAD,
	EVENT_THREAD_EXIT = WIRE_THREAD_EXIT,
	EVENT_EXEC = WIRE_EXEC,
	EVENT_OTHER = WIRE_OTHER,
	EVENT_MOVE = WIRE_MOVE,
	EVENT_BEGIN = WIRE_BEGIN,
	EVENT_BEGIN_DETACHED = WIRE_BEGIN_DETACHED,
	EVENT_ENTER = WIRE_ENTER,
	EVENT_LEAVE = WIRE_LEAVE,
	EVENT_END = WIRE_END,
	EVENT_TAG = WIRE_TAG,
	EVENT_ATTR = WIRE_ATTR,
	EVENT_INSTANT = WIRE_INSTANT,
	EVENT_COUNTER = WIRE_COUNTER,
	EVENT_LINK = WIRE_LINK,
	EVENT_KEY_BEGIN = WIRE_KEY_BEGIN,
	EVENT_KEY_ENTER = WIRE_KEY_ENTER,
	EVENT_KEY_LEAVE = WIRE_KEY_LEAVE,
	EVENT_KEY_END = WIRE_KEY_END,
	EVENT_KEY_INSTANT = WIRE_KEY_INSTANT,
	EVENT_PROCESS = WIRE_PROCESS,
	/* made by the recorder, before all others: what the stream is going to lack. Without it: nothing */
	EVENT_MODE = WIRE_MODE,
	EVENT_VALUE = WIRE_VALUE,
	EVENT_ABANDON = WIRE_ABANDON,
	EVENT_LOSS = WIRE_KIND_COUNT, /* made by the reader of the rings, at the time of the first loss */
	EVENT_STACK = WIRE_KIND_COUNT + 1, /* made of WIRE_STACK by whoever knows the code */
	EVENT_KIND_COUNT
};

/* Bytes that somebody else owns, for as long as the event is being handled. */
struct event_text {
	const char *bytes;
	uint32_t length;
	bool is_truncated;
	bool is_unreadable;
};

/* The bytes of a key or name are compared as they are; a label is unknown when length is 0. */
struct event {
	uint64_t time_ns;
	uint32_t tid; /* as in struct wire_header */
	uint32_t tgid;
	uint16_t cpu;
	uint8_t kind;                     /* enum event_kind */
	uint8_t flags;                    /* enum wire_flag */
	/* NULL: only on_cpu moved since this thread's last span event; see wire_clocks */
	const struct wire_clocks *clocks;
	union {
		struct {
			uint32_t next_tid;
			uint32_t next_tgid;
			uint64_t object;
			uint64_t inode;
			int32_t syscall_nr;
			uint8_t left_as;
			uint8_t reason;
			bool next_is_traced;
			uint8_t is_stolen_shared;
			uint64_t stolen_ns;
			uint32_t other_ns; /* left UNTRACED: as in struct wire_switch */
			struct event_text other_comm;
		} sched; /* SWITCH */
		struct {
			uint64_t since_ns;
			uint64_t stolen_ns;
			struct event_text comm;
		} other; /* OTHER */
		struct {
			uint64_t since_ns;
			uint64_t stolen_ns;
			uint32_t from_cpu;
			uint32_t other_tid;
			uint32_t other_tgid;
			bool is_unknown;
			struct event_text other_comm;
		} move; /* MOVE */
		struct {
			uint32_t wakee_tid;
			uint32_t wakee_tgid;
			struct event_text waker_comm;
			uint64_t object; /* with has_wait_end: as in struct wire_wait_end */
			uint64_t inode;
			uint8_t reason;
			uint8_t has_wait_end;
		} wake;
		struct {
			uint64_t born_ns;
			struct event_text comm;
			uint8_t state;
			uint8_t reason;
			uint32_t parent_tgid;
		} thread;
		struct {
			uint64_t id;
			uint64_t parent;
			struct event_text label;
		} span; /* BEGIN, BEGIN_DETACHED, ENTER, LEAVE, END, ABANDON */
		struct {
			uint64_t id;
			uint64_t value;
			struct event_text name;
			struct event_text text; /* TAG; ATTR and VALUE of type STRING */
			uint32_t type;          /* ATTR, VALUE: enum attr_type */
		} mark; /* TAG, ATTR, VALUE, INSTANT, COUNTER, LINK */
		struct {
			struct event_text key;
			struct event_text name; /* BEGIN: label; INSTANT: name */
		} keyed;
		struct {
			uint64_t start_ns;
			uint64_t code_start;
			uint32_t parent_tgid;
			uint32_t inner_pid;
			uint32_t thread_cnt;
			uint32_t reasons; /* enum target_reason */
			uint8_t change;   /* enum wire_process_change */
			struct event_text comm;
			struct event_text path;
		} process;
		struct {
			uint8_t sched; /* enum sched_mode */
			uint8_t steal; /* enum steal_kind */
		} mode; /* MODE */
		struct {
			uint64_t begin_ns;  /* OFF_CPU: of the switch */
			uint64_t weight_ns; /* ON_CPU: that it stands for */
			uint32_t id;        /* the same for the same frames; 0: not known */
			uint8_t what;       /* enum wire_stack_what */
		} stack; /* STACK */
		struct {
			uint64_t last_ns;
			uint64_t span_event_cnt;
			uint64_t sched_event_cnt;
			uint64_t kinds; /* which: a bit for each, 1 << kind; 0: not told, any */
		} loss;
	};
};

#endif
