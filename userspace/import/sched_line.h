/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A line of the text that `perf script`, ftrace and `trace-cmd report` print:
 *
 *	bash  1977/1977 [002]  17284.993652: sched:sched_switch: prev_comm=bash prev_pid=1977 …
 *	bash-1977    (   1977) [002] d..2. 17284.993652: sched_switch: prev_comm=bash prev_pid=1977 …
 *	bash-1977  [002] 17284.993652: sched_switch: bash:1977 [120] S ==> swapper/2:0 [120]
 *
 * Strings point into the line. Nothing in it is trusted.
 */
#ifndef SCHED_LINE_H
#define SCHED_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtrace/log.h"

#define SCHED_CPU_MAX 4096u /* numbers of CPUs are below; others are unknown */

enum sched_line_kind {
	SCHED_LINE_BAD = 0,
	SCHED_LINE_EVENT = 1,
	SCHED_LINE_NOTHING = 2, /* empty, or a comment */
	SCHED_LINE_STACK = 3,	/* a function of the stack of the event before */
	SCHED_LINE_LOST = 4,	/* events of `cpu`: lost_cnt */
};

struct sched_line {
	enum sched_line_kind kind;
	struct txtrace_string comm;
	uint32_t tid; /* 0: the idle task, or is_tid_unknown */
	bool is_tid_unknown;
	uint32_t pid; /* 0: the line does not say */
	uint32_t cpu; /* TXTRACE_CPU_UNKNOWN */
	uint64_t time_ns;
	bool is_interrupt; /* it came in an interrupt or a softirq of the thread's CPU */
	bool is_softirq;
	bool has_context;	     /* the line tells whether it did */
	struct txtrace_string event; /* its name, as it stands there: perf's have a system in front */
	struct txtrace_string name;  /* without the system */
	struct txtrace_string words; /* what follows */
	uint64_t lost_cnt;	     /* at least */
};

/* The line without its newline. */
void sched_line_parse(struct sched_line *line, const char *text, size_t length);

bool sched_words_number(struct txtrace_string words, const char *name, uint32_t *number);

struct sched_switch {
	struct txtrace_string prev_comm, next_comm;
	uint32_t prev_tid, next_tid;
	char state;	   /* S, D, R, … */
	bool is_preempted; /* R+ */
};

/* false: the words are no switch. */
bool sched_switch_parse(struct txtrace_string words, struct sched_switch *result);

/* Who is woken. */
bool sched_waking_parse(struct txtrace_string words, struct txtrace_string *comm, uint32_t *tid);

bool sched_string_is(struct txtrace_string string, const char *text);

#endif
