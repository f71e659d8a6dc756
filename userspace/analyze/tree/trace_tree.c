/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/tree/trace_tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"

struct knot {
	size_t parent;
	size_t first_child, next; /* the next child of the same parent */
	size_t place;		  /* in the new order */
	bool is_out;
};

struct ordering {
	const struct trace_row *rows;
	struct knot *knots;
	size_t *stack; /* what is yet to be put out */
	struct trace_row *ordered;
	size_t cnt;
};

static uint64_t number_of(const uint8_t id[TRACE_SPAN_ID_BYTES])
{
	uint64_t number;

	memcpy(&number, id, sizeof(number));
	return number;
}

/* Of spans with the same id the first one holds. */
static int find_parents(struct ordering *ordering, size_t cnt)
{
	struct id_map by_id;
	int err = 0;

	id_map_init(&by_id);
	for (size_t i = 0; i < cnt && !err; i++) {
		uint64_t id = number_of(ordering->rows[i].place.own.span_id);

		if (!id_map_get(&by_id, id, 0))
			err = id_map_put(&by_id, id, 0, (void *)(uintptr_t)(i + 1));
	}
	for (size_t i = 0; i < cnt && !err; i++) {
		const struct trace_place *place = &ordering->rows[i].place;
		uintptr_t parent = place->has_parent
					   ? (uintptr_t)id_map_get(&by_id, number_of(place->parent_id), 0)
					   : 0;

		ordering->knots[i].parent = parent && parent - 1 != i ? parent - 1 : TRACE_NO_ROW;
	}
	id_map_release(&by_id);
	return err;
}

/* The last one first, so that the earliest of a parent's children becomes the first. */
static void join_children(struct ordering *ordering, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		ordering->knots[i].first_child = TRACE_NO_ROW;
	for (size_t i = cnt; i-- > 0;) {
		struct knot *knot = &ordering->knots[i];

		if (knot->parent == TRACE_NO_ROW)
			continue;
		knot->next = ordering->knots[knot->parent].first_child;
		ordering->knots[knot->parent].first_child = i;
	}
}

static void put_out(struct ordering *ordering, size_t row)
{
	struct knot *knot = &ordering->knots[row];
	struct trace_row *out = &ordering->ordered[ordering->cnt];
	bool has_parent = knot->parent != TRACE_NO_ROW && ordering->knots[knot->parent].is_out;

	*out = ordering->rows[row];
	out->parent = has_parent ? ordering->knots[knot->parent].place : TRACE_NO_ROW;
	out->depth = has_parent ? ordering->ordered[out->parent].depth + 1 : 0;
	knot->place = ordering->cnt++;
	knot->is_out = true;
}

/* The row and all that is below it and not out yet. The stack never holds more than all rows. */
static void put_out_tree(struct ordering *ordering, size_t root)
{
	size_t depth = 0, row = root;

	while (row != TRACE_NO_ROW) {
		struct knot *knot = &ordering->knots[row];

		if (!knot->is_out) {
			put_out(ordering, row);
			if (row != root && knot->next != TRACE_NO_ROW)
				ordering->stack[depth++] = knot->next;
			row = knot->first_child;
		} else {
			row = row == root ? TRACE_NO_ROW : knot->next;
		}
		if (row == TRACE_NO_ROW && depth > 0)
			row = ordering->stack[--depth];
	}
}

int trace_tree_order(struct trace_row **rows, size_t cnt)
{
	struct ordering ordering = { .rows = *rows };
	int err;

	ordering.knots = calloc(cnt ? cnt : 1, sizeof(*ordering.knots));
	ordering.stack = calloc(cnt ? cnt : 1, sizeof(*ordering.stack));
	ordering.ordered = calloc(cnt ? cnt : 1, sizeof(*ordering.ordered));
	err = ordering.knots && ordering.stack && ordering.ordered ? find_parents(&ordering, cnt) : -ENOMEM;
	if (!err) {
		join_children(&ordering, cnt);
		for (size_t i = 0; i < cnt; i++) {
			if (ordering.knots[i].parent == TRACE_NO_ROW)
				put_out_tree(&ordering, i);
		}
		for (size_t i = 0; i < cnt; i++) { /* what is in a circle */
			if (!ordering.knots[i].is_out)
				put_out_tree(&ordering, i);
		}
		free(*rows);
		*rows = ordering.ordered;
		ordering.ordered = NULL;
	}
	free(ordering.knots);
	free(ordering.stack);
	free(ordering.ordered);
	return err;
}
