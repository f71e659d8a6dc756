/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One page of `txtrace top`: a line on the capture, the rows, the oldest open
 * spans. It is text, whoever shows it.
 */
#ifndef TOP_PAGE_H
#define TOP_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analyze/live/live_view.h"
#include "cli/files/log_input.h"

enum top_sort {
	TOP_SORT_TIME = 0, /* the sum of the wall times */
	TOP_SORT_RATE = 1,
	TOP_SORT_P99 = 2,
	TOP_SORT_OPEN = 3,
	TOP_SORT_NAME = 4,
	TOP_SORT_COUNT = 5,
};

extern const char *const top_sort_names[]; /* by the numbers above; ends with NULL */
extern const char *const top_kind_names[]; /* by enum live_kind; ends with NULL */

/* What is shown, and how. */
struct top_choice {
	enum live_kind kind;
	unsigned int window; /* index into live_windows */
	enum top_sort sort;
	const char *filter; /* a pattern for the names of rows; NULL: all */
	size_t columns;
	size_t lines;	 /* of the page; 0: as many as there are */
	size_t selected; /* number of a row, from 0; SIZE_MAX: none */
	bool has_colours;
	bool is_paused;
};

/* A span that can be shown; id 0: there is none. */
struct top_target {
	uint64_t id;
	uint32_t pid;
	bool is_keyed;
};

/* What was on the page. */
struct top_result {
	size_t row_cnt;		  /* that can be selected */
	struct top_target target; /* the slowest span of the selected row, in the window */
};

/* 0 or -ENOMEM; write errors stay in the file. */
int top_page_print(const struct log_input *input, struct live_view *view, const struct top_choice *choice,
		   FILE *file, struct top_result *result);

#endif
