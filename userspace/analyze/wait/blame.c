/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/wait/blame.h"

#include <errno.h>
#include <stdlib.h>

#include "base/saturating.h"

static void add_to_pair(struct blame_pair *pair, const struct wait_cell *cell, uint8_t reason)
{
	increase(&pair->cnt, cell->cnt);
	increase(&pair->ns, cell->ns);
	increase(&pair->reason_ns[reason], cell->ns);
	if (cell->max_ns > pair->max_ns)
		pair->max_ns = cell->max_ns;
}

/* Cells of the same two parties come one after the other when they are sorted by them. */
static int compare_parties(const void *a, const void *b)
{
	const struct wait_cell *x = *(const struct wait_cell *const *)a,
			       *y = *(const struct wait_cell *const *)b;

	if (x->waiter != y->waiter)
		return x->waiter < y->waiter ? -1 : 1;
	if (x->waker != y->waker)
		return x->waker < y->waker ? -1 : 1;
	return x->object < y->object ? -1 : x->object > y->object;
}

static int compare_pairs(const void *a, const void *b)
{
	const struct blame_pair *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->waiter != y->waiter)
		return x->waiter < y->waiter ? -1 : 1;
	return x->waker < y->waker ? -1 : x->waker > y->waker;
}

static int compare_sides(const void *a, const void *b)
{
	const struct blame_side *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->party < y->party ? -1 : x->party > y->party;
}

static int make_pairs(struct blame *blame, const struct wait_sums *sums)
{
	size_t cnt = wait_sums_count(sums);
	const struct wait_cell **cells = calloc(cnt + 1, sizeof(const struct wait_cell *));

	blame->pairs = calloc(cnt + 1, sizeof(*blame->pairs));
	if (!cells || !blame->pairs) {
		free(cells);
		return -ENOMEM;
	}
	for (size_t i = 0; i < cnt; i++)
		cells[i] = wait_sums_get(sums, i);
	qsort(cells, cnt, sizeof(*cells), compare_parties);
	for (size_t i = 0; i < cnt; i++) {
		struct blame_pair *pair = &blame->pairs[blame->pair_cnt];

		if (wait_sums_party(sums, cells[i]->waiter).kind == PARTY_UNSEEN) {
			pair = &blame->unseen;
		} else if (blame->pair_cnt > 0 && pair[-1].waiter == cells[i]->waiter &&
			   pair[-1].waker == cells[i]->waker) {
			pair--;
		} else {
			*pair = (struct blame_pair){ .waiter = cells[i]->waiter, .waker = cells[i]->waker };
			blame->pair_cnt++;
		}
		add_to_pair(pair, cells[i], wait_sums_object(sums, cells[i]->object)->reason);
	}
	free(cells);
	qsort(blame->pairs, blame->pair_cnt, sizeof(*blame->pairs), compare_pairs);
	return 0;
}

/* Adds up all pairs by one of their parties. by_party: room for each, all 0. */
static size_t make_sides(const struct blame *blame, bool is_waker, struct blame_side *by_party,
			 size_t party_cnt)
{
	size_t cnt = 0;

	for (size_t i = 0; i < blame->pair_cnt; i++) {
		const struct blame_pair *pair = &blame->pairs[i];
		struct blame_side *side = &by_party[is_waker ? pair->waker : pair->waiter];

		increase(&side->cnt, pair->cnt);
		increase(&side->ns, pair->ns);
	}
	for (size_t i = 0; i < party_cnt; i++) {
		if (by_party[i].cnt > 0)
			by_party[cnt++] = (struct blame_side){ .party = (uint32_t)i,
							       .cnt = by_party[i].cnt,
							       .ns = by_party[i].ns };
	}
	qsort(by_party, cnt, sizeof(*by_party), compare_sides);
	return cnt;
}

int blame_init(struct blame *blame, const struct wait_sums *sums)
{
	size_t party_cnt = wait_sums_party_count(sums);

	*blame = (struct blame){ .pair_cnt = 0 };
	blame->rows = calloc(party_cnt, sizeof(*blame->rows));
	blame->columns = calloc(party_cnt, sizeof(*blame->columns));
	if (!blame->rows || !blame->columns || make_pairs(blame, sums)) {
		blame_release(blame);
		return -ENOMEM;
	}
	blame->row_cnt = make_sides(blame, false, blame->rows, party_cnt);
	blame->column_cnt = make_sides(blame, true, blame->columns, party_cnt);
	return 0;
}

void blame_release(struct blame *blame)
{
	free(blame->pairs);
	free(blame->rows);
	free(blame->columns);
	*blame = (struct blame){ .pair_cnt = 0 };
}
