/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sums over who had the CPU while others waited for it: a row for each label or
 * thread that waited, in it a cell for each neighbour. neighbours.c finds them
 * in the log.
 */
#ifndef NEIGHBOUR_SUMS_H
#define NEIGHBOUR_SUMS_H

#include "analyze/wait/neighbours.h"
#include "base/id_map.h"
#include "base/string_pool.h"

#define NO_NAME UINT32_MAX

/* Who had the CPU, and for a thread in which span. */
struct neighbour_key {
	enum neighbour_kind kind;
	uint32_t pid, tid;
	uint32_t name;  /* number in names, or NO_NAME */
	uint32_t label; /* the same; NO_NAME: in no span */
};

struct neighbour_sums {
	const struct neighbours_options *options;
	struct string_pool *names; /* of threads and labels */
	struct id_map row_of;      /* by label, or by pid and tid: number + 1 */
	struct sum_row *rows;
	size_t row_cnt, row_size;
	struct id_map neighbour_of; /* by pid and tid, name and label: number + 1 */
	struct neighbour_key *neighbours;
	size_t neighbour_cnt, neighbour_size;
	struct id_map cells;       /* by row and neighbour */
	struct id_map process_names; /* by pid: number of a name + 1 */
	size_t used_bytes;
	bool is_full;
	struct neighbours_row *shown;
};

int neighbour_sums_init(struct neighbour_sums *sums, const struct neighbours_options *options,
			struct string_pool *names);
void neighbour_sums_release(struct neighbour_sums *sums);

/* A name's number; NO_NAME if it is empty, or new and there is no room. 0 or -ENOMEM, as all below. */
int neighbour_sums_name(struct neighbour_sums *sums, const struct txtrace_string *name, uint32_t *number);

/* What a process' thread is called; its first one's name counts most. */
int neighbour_sums_note_process(struct neighbour_sums *sums, uint32_t pid, uint32_t tid, uint32_t name);

/* The row of a label (or NO_NAME), or of a thread that is called so. */
int neighbour_sums_label_row(struct neighbour_sums *sums, uint32_t label, size_t *row);
int neighbour_sums_thread_row(struct neighbour_sums *sums, uint32_t pid, uint32_t tid, uint32_t name,
			      size_t *row);

void neighbour_sums_add_runnable(struct neighbour_sums *sums, size_t row, uint64_t ns);
int neighbour_sums_charge(struct neighbour_sums *sums, size_t row, const struct neighbour_key *to,
			  uint64_t ns);

/* Makes the rows to be shown. */
int neighbour_sums_finish(struct neighbour_sums *sums);

#endif
