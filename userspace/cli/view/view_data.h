/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a page shows of a log: sums of everything, and the longest spans and
 * segments of threads one by one. Memory does not follow the log. It is read
 * twice:
 *
 *	view_data_survey() each record, view_data_end_survey(), view_data_add() each, view_data_finish()
 */
#ifndef VIEW_DATA_H
#define VIEW_DATA_H

#include "analyze/label/label_report.h"
#include "analyze/tree/span_tree.h"
#include "analyze/tree/flame_stacks.h"
#include "analyze/wait/neighbours.h"
#include "cli/view/view_grid.h"
#include "cli/view/view_longest.h"
#include "cli/view/view_threads.h"

#define VIEW_LOSS_MAX 1000
#define VIEW_MARK_MAX 400000

struct view_span {
	uint64_t length_ns; /* wall */
	struct txtrace_span span; /* strings: empty */
	uint32_t label, tag, key;
	uint32_t thread, end_thread; /* numbers, or VIEW_NO_THREAD */
};

/* A thread worked for a span. */
struct view_stay {
	uint64_t length_ns;
	uint64_t enter_ns;
	uint64_t span;
	uint32_t pid; /* of the span; 0: it is a keyed one */
	uint32_t thread;
};

/* An attribute, instant or link. */
struct view_mark {
	uint64_t span;
	uint64_t time_ns;
	uint32_t pid;
	uint32_t text;
};

struct view_loss {
	uint64_t first_ns, last_ns, cnt;
};

struct view_tree {
	struct span_tree *tree;
	struct flame_stacks stacks;
	bool is_wanted; /* the log has such stacks: the survey tells */
};

enum view_tree_kind {
	VIEW_TREE_SPANS = 0,
	VIEW_TREE_ON_CPU = 1, /* with stacks of code, if there are any */
	VIEW_TREE_OFF_CPU = 2,
	VIEW_TREE_CNT = 3,
};

struct view_data {
	struct label_report *report;
	struct neighbours *neighbours;
	struct view_tree trees[VIEW_TREE_CNT];
	struct view_grid grid;
	struct view_threads threads;
	struct view_longest spans; /* struct view_span */
	struct view_longest stays; /* struct view_stay */
	struct string_pool *strings;
	struct string_pool *labels; /* of the grid, by number */
	struct view_mark *marks;
	size_t mark_cnt, mark_size;
	uint64_t left_out_mark_cnt;
	struct view_loss losses[VIEW_LOSS_MAX];
	size_t loss_cnt;
	uint64_t left_out_loss_cnt;

	/* private */
	struct text text;
};

/* kernel: of the log's header. NULL: no memory. */
struct view_data *view_data_new(const char *kernel, size_t span_room, size_t segment_room);
void view_data_free(struct view_data *data); /* NULL is allowed */

/* In each reading, before its first record: of which program it is. 0 or -ENOMEM, as below. */
int view_data_begin_capture(struct view_data *data, const char *command, bool is_survey);
int view_data_survey(struct view_data *data, const struct txtrace_record *record);
int view_data_end_survey(struct view_data *data, uint64_t begin_ns); /* the first time in the log */
int view_data_add(struct view_data *data, const struct txtrace_record *record);
int view_data_finish(struct view_data *data, uint64_t end_ns);

#endif
