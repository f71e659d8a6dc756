/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/view/view_grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tree/tree_node.h"
#include "base/saturating.h"

#define FIRST_WIDTH_NS 4096

void view_grid_init(struct view_grid *grid)
{
	*grid = (struct view_grid){ .width_ns = FIRST_WIDTH_NS };
}

void view_grid_release(struct view_grid *grid)
{
	for (size_t i = 0; i <= VIEW_LABEL_MAX; i++)
		free(grid->labels[i]);
	for (size_t i = 0; i < VIEW_THREAD_MAX; i++)
		free(grid->threads[i]);
}

static unsigned int bin_of(uint64_t wall_ns)
{
	unsigned int power, bin;

	if (wall_ns < VIEW_BIN_FIRST_NS)
		return 0;
	power = 63 - (unsigned int)__builtin_clzll(wall_ns);
	bin = 2 * (power - 8) + ((wall_ns >> (power - 1)) & 1);
	return bin < VIEW_BIN_CNT ? bin : VIEW_BIN_CNT - 1;
}

static void add_bucket(struct view_label_bucket *sum, const struct view_label_bucket *bucket)
{
	increase(&sum->cnt, bucket->cnt);
	increase(&sum->lower_bound_cnt, bucket->lower_bound_cnt);
	increase(&sum->wall_ns, bucket->wall_ns);
	increase(&sum->work_ns, bucket->work_ns);
	ledger_add(&sum->ledger, &bucket->ledger);
}

static void halve_label(struct view_label_grid *label)
{
	for (size_t i = 0; i < VIEW_BUCKET_CNT / 2; i++) {
		struct view_label_bucket sum = label->buckets[2 * i];

		add_bucket(&sum, &label->buckets[2 * i + 1]);
		label->buckets[i] = sum;
		for (size_t bin = 0; bin < VIEW_BIN_CNT; bin++)
			label->heat[i][bin] = label->heat[2 * i][bin] + label->heat[2 * i + 1][bin];
	}
	memset(&label->buckets[VIEW_BUCKET_CNT / 2], 0, sizeof(label->buckets) / 2);
	memset(&label->heat[VIEW_BUCKET_CNT / 2], 0, sizeof(label->heat) / 2);
}

static void halve_thread(struct view_thread_grid *thread)
{
	for (size_t i = 0; i < VIEW_BUCKET_CNT / 2; i++)
		for (size_t state = 0; state < VIEW_STATE_CNT; state++)
			thread->ns[i][state] = thread->ns[2 * i][state] + thread->ns[2 * i + 1][state];
	memset(&thread->ns[VIEW_BUCKET_CNT / 2], 0, sizeof(thread->ns) / 2);
}

/* The bucket of that time; all are made wider if it lies behind the last one. */
static size_t bucket_of(struct view_grid *grid, uint64_t time_ns)
{
	uint64_t since_ns = time_ns > grid->begin_ns ? time_ns - grid->begin_ns : 0;

	while (since_ns / grid->width_ns >= VIEW_BUCKET_CNT) {
		for (size_t i = 0; i <= VIEW_LABEL_MAX; i++)
			if (grid->labels[i])
				halve_label(grid->labels[i]);
		for (size_t i = 0; i < VIEW_THREAD_MAX; i++)
			if (grid->threads[i])
				halve_thread(grid->threads[i]);
		grid->width_ns *= 2;
	}
	return since_ns / grid->width_ns;
}

int view_grid_add_span(struct view_grid *grid, uint32_t label, const struct txtrace_span *span)
{
	uint64_t wall_ns = span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
	size_t bucket = bucket_of(grid, span->end_ns);
	struct view_label_bucket one = { .lower_bound_cnt = 1 };
	uint32_t *heat;

	if (label > VIEW_LABEL_REST)
		label = VIEW_LABEL_REST;
	if (!grid->labels[label] && !(grid->labels[label] = calloc(1, sizeof(*grid->labels[label]))))
		return -ENOMEM;
	if (!(span->flags & TXTRACE_SPAN_LOWER_BOUND)) {
		one = (struct view_label_bucket){
			.cnt = 1, .wall_ns = wall_ns, .work_ns = span->work_ns, .ledger = span->ledger
		};
		heat = &grid->labels[label]->heat[bucket][bin_of(wall_ns)];
		*heat += *heat < UINT32_MAX / VIEW_BUCKET_CNT;
	}
	add_bucket(&grid->labels[label]->buckets[bucket], &one);
	return 0;
}

int view_grid_add_time(struct view_grid *grid, uint32_t thread, unsigned int state, uint64_t from_ns,
		       uint64_t to_ns)
{
	struct view_thread_grid *of_thread;

	if (thread >= VIEW_THREAD_MAX || from_ns >= to_ns || to_ns <= grid->begin_ns)
		return 0;
	if (from_ns < grid->begin_ns)
		from_ns = grid->begin_ns;
	if (!grid->threads[thread] && !(grid->threads[thread] = calloc(1, sizeof(*grid->threads[thread]))))
		return -ENOMEM;
	bucket_of(grid, to_ns);
	of_thread = grid->threads[thread];
	while (from_ns < to_ns) {
		size_t bucket = bucket_of(grid, from_ns);
		uint64_t end_ns = grid->begin_ns + (bucket + 1) * grid->width_ns;

		if (end_ns > to_ns || end_ns < from_ns)
			end_ns = to_ns;
		of_thread->ns[bucket][state] += end_ns - from_ns;
		from_ns = end_ns;
	}
	return 0;
}
