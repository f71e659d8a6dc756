/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who had the CPU: the runnable time of each span label (or thread), by who ran
 * meanwhile on the CPU that was waited for. docs/attribution.md, "Neighbours",
 * defines the figures. It takes the log twice: the first reading tells when
 * which thread was in which span, and where the log has gaps.
 *
 *	struct neighbours *neighbours = neighbours_new(&options);
 *
 *	neighbours_survey() for each record, neighbours_end_survey(), neighbours_add() for each record again,
 *	neighbours_finish()
 *	for (size_t i = 0; i < neighbours_row_count(neighbours); i++)
 *		use(neighbours_row(neighbours, i));
 *
 * A row's cells and its unknown time add up to its runnable time. Memory: up to
 * max_bytes, about; what is new beyond it goes into one row, or one cell of a
 * row, "others", and waits in spans that could not be kept are unknown;
 * neighbours_is_full() tells.
 */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtrace/log.h"

struct neighbours;

enum neighbours_by {
	NEIGHBOURS_BY_LABEL = 0,
	NEIGHBOURS_BY_THREAD = 1,
};

struct neighbours_options {
	unsigned int by;       /* enum neighbours_by: who waited */
	bool wants_processes;  /* who had the CPU: whole processes, not threads and their spans */
	size_t max_bytes;
};

enum neighbour_kind {
	NEIGHBOUR_TASK = 0,
	NEIGHBOUR_IDLE = 1,   /* the CPU was idle: the wakeup took so long */
	NEIGHBOUR_OTHERS = 2, /* tasks that there was no memory for */
	NEIGHBOUR_HYPERVISOR = 3, /* it had taken the CPU, whoever had that from the kernel */
};

/* Strings live as long as the neighbours. Empty ones: not known. */
struct neighbour {
	enum neighbour_kind kind;
	uint32_t pid;
	uint32_t tid; /* 0: of a whole process */
	/* of the thread; of a process, that of its first thread, or of one of the others */
	struct txtrace_string name;
	bool is_in_span;             /* it was in a span, the one entered last being of this label */
	struct txtrace_string label;
	uint64_t ns;
	uint64_t cnt; /* in so many waits, or parts of waits */
};

struct neighbours_row {
	bool is_rest; /* labels that there was no memory for */
	struct txtrace_string label; /* BY_LABEL; empty: unknown */
	uint32_t pid, tid;           /* BY_THREAD */
	struct txtrace_string name;  /* BY_THREAD */
	uint64_t cnt;                /* BY_LABEL: exact spans; BY_THREAD: waits */
	uint64_t runnable_ns;
	uint64_t unknown_ns;         /* nobody is known for it */
	struct neighbour *cells;     /* the longest first */
	size_t cell_cnt;
};

struct neighbours *neighbours_new(const struct neighbours_options *options); /* NULL: no memory */
void neighbours_free(struct neighbours *neighbours);

void neighbours_begin_capture(struct neighbours *neighbours); /* before its first record, in both readings */
/* 0 or -ENOMEM, as below */
int neighbours_survey(struct neighbours *neighbours, const struct txtrace_record *record);
int neighbours_end_survey(struct neighbours *neighbours);
/* instead of options.by; before the second reading */
void neighbours_choose(struct neighbours *neighbours, enum neighbours_by by);
int neighbours_add(struct neighbours *neighbours, const struct txtrace_record *record);
int neighbours_finish(struct neighbours *neighbours);

/* By runnable time, the longest first. */
size_t neighbours_row_count(const struct neighbours *neighbours);
const struct neighbours_row *neighbours_row(const struct neighbours *neighbours, size_t idx);

bool neighbours_is_full(const struct neighbours *neighbours);

#endif
