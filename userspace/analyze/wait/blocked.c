/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/wait/blocked.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/wait/party_pool.h"
#include "base/saturating.h"

/* Where there are spans, threads outside of them are one party. */
static uint32_t waiter_of(const struct wait_sums *sums, const struct wait_cell *cell)
{
	bool has_spans = wait_sums_totals(sums)->in_span_cnt > 0;

	return has_spans && wait_sums_party(sums, cell->waiter).kind == PARTY_THREAD
		       ? party_pool_fixed(PARTY_NO_SPAN)
		       : cell->waiter;
}

static uint32_t key_of(const struct wait_sums *sums, const struct wait_cell *cell, enum blocked_by by)
{
	return by == BLOCKED_BY_LABEL	 ? waiter_of(sums, cell)
	       : by == BLOCKED_BY_REASON ? wait_sums_object(sums, cell->object)->reason
					 : cell->object;
}

static int compare_keys(const void *a, const void *b)
{
	const struct blocked_share *x = a, *y = b;

	if (x->row_key != y->row_key)
		return x->row_key < y->row_key ? -1 : 1;
	return x->party < y->party ? -1 : x->party > y->party;
}

static int compare_shares(const void *a, const void *b)
{
	const struct blocked_share *x = a, *y = b;

	if (x->row_key != y->row_key)
		return x->row_key < y->row_key ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->party < y->party ? -1 : x->party > y->party;
}

static int compare_rows(const void *a, const void *b)
{
	const struct blocked_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

/* One share for each party of each row: by row, the largest first. */
static size_t make_shares(struct blocked_share *shares, const struct wait_sums *sums, enum blocked_by by,
			  bool is_waker)
{
	size_t cell_cnt = wait_sums_count(sums), cnt = 0;

	for (size_t i = 0; i < cell_cnt; i++) {
		const struct wait_cell *cell = wait_sums_get(sums, i);

		shares[i] = (struct blocked_share){ .row_key = key_of(sums, cell, by),
						    .party = is_waker ? cell->waker : waiter_of(sums, cell),
						    .cnt = cell->cnt,
						    .ns = cell->ns,
						    .max_ns = cell->max_ns };
	}
	qsort(shares, cell_cnt, sizeof(*shares), compare_keys);
	for (size_t i = 0; i < cell_cnt; i++) {
		struct blocked_share *last = cnt > 0 ? &shares[cnt - 1] : NULL;

		if (!last || last->row_key != shares[i].row_key || last->party != shares[i].party) {
			shares[cnt++] = shares[i];
			continue;
		}
		increase(&last->cnt, shares[i].cnt);
		increase(&last->ns, shares[i].ns);
		if (shares[i].max_ns > last->max_ns)
			last->max_ns = shares[i].max_ns;
	}
	qsort(shares, cnt, sizeof(*shares), compare_shares);
	return cnt;
}

static void make_rows(struct blocked *blocked, size_t waiter_cnt, size_t waker_cnt)
{
	size_t waker = 0;

	for (size_t i = 0; i < waiter_cnt; i++) {
		const struct blocked_share *share = &blocked->shares[0][i];
		struct blocked_row *row = blocked->row_cnt > 0 ? &blocked->rows[blocked->row_cnt - 1] : NULL;

		if (!row || row->key != share->row_key) {
			row = &blocked->rows[blocked->row_cnt++];
			*row = (struct blocked_row){ .key = share->row_key,
						     .waiters = share,
						     .wakers = &blocked->shares[1][waker] };
			for (; waker < waker_cnt && blocked->shares[1][waker].row_key == row->key; waker++)
				row->waker_cnt++;
		}
		row->waiter_cnt++;
		increase(&row->cnt, share->cnt);
		increase(&row->ns, share->ns);
		if (share->max_ns > row->max_ns)
			row->max_ns = share->max_ns;
	}
}

static int compare_row_keys(const void *a, const void *b)
{
	const struct blocked_row *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/* The rows are still in the order of their keys. */
static void add_reasons(struct blocked *blocked, const struct wait_sums *sums, enum blocked_by by)
{
	for (size_t i = 0; i < wait_sums_count(sums); i++) {
		const struct wait_cell *cell = wait_sums_get(sums, i);
		struct blocked_row key = { .key = key_of(sums, cell, by) };
		struct blocked_row *row = bsearch(&key, blocked->rows, blocked->row_cnt, sizeof(key),
						  compare_row_keys);

		if (row)
			increase(&row->reason_ns[wait_sums_object(sums, cell->object)->reason], cell->ns);
	}
}

int blocked_init(struct blocked *blocked, const struct wait_sums *sums, enum blocked_by by)
{
	size_t cnt = wait_sums_count(sums), waiter_cnt, waker_cnt;

	*blocked = (struct blocked){ .row_cnt = 0 };
	blocked->rows = calloc(cnt + 1, sizeof(*blocked->rows));
	blocked->shares[0] = calloc(cnt + 1, sizeof(*blocked->shares[0]));
	blocked->shares[1] = calloc(cnt + 1, sizeof(*blocked->shares[1]));
	if (!blocked->rows || !blocked->shares[0] || !blocked->shares[1]) {
		blocked_release(blocked);
		return -ENOMEM;
	}
	waiter_cnt = make_shares(blocked->shares[0], sums, by, false);
	waker_cnt = make_shares(blocked->shares[1], sums, by, true);
	make_rows(blocked, waiter_cnt, waker_cnt);
	add_reasons(blocked, sums, by);
	qsort(blocked->rows, blocked->row_cnt, sizeof(*blocked->rows), compare_rows);
	return 0;
}

void blocked_release(struct blocked *blocked)
{
	free(blocked->rows);
	free(blocked->shares[0]);
	free(blocked->shares[1]);
	*blocked = (struct blocked){ .row_cnt = 0 };
}
