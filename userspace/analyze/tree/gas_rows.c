/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/tree/gas_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool by_of(const struct gas_span *span, enum gas_by *by)
{
	*by = span->kind == GAS_CALL ? GAS_BY_CALL : span->kind == GAS_LABEL ? GAS_BY_LABEL : GAS_BY_SPAN;
	return span->kind != GAS_ROOT;
}

static int make_key(struct text *key, enum gas_by by, const struct gas_span *span)
{
	text_clear(key);
	text_append_format(key, "%d", (int)by);
	text_append_bytes(key, text_string(&span->name), span->name.length);
	return key->err;
}

static void add_span(struct gas_row *row, const struct gas_span *span)
{
	row->open_cnt += !span->is_closed;
	if (!span->is_closed && span->kind == GAS_TIMED)
		return;
	row->cnt++;
	gas_add(&row->self, span->self.whole);
	/* a label span that never ended has no total of its own */
	gas_add(&row->total, span->kind == GAS_LABEL ? span->self.whole : span->total.whole);
	row->ns += span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
}

/* The row of the span's name; made, if it is new. `map` has its number. NULL: no memory. */
static struct gas_row *row_of(struct gas_rows *rows, struct key_map *map, const struct text *key,
			      enum gas_by by, const struct gas_span *span)
{
	bool is_new;
	size_t *number = key_map_add(map, key->bytes, key->length, &is_new);

	if (!number)
		return NULL;
	if (is_new) {
		*number = rows->cnt;
		rows->rows[rows->cnt++] = (struct gas_row){
			.by = by, .name = { text_string(&span->name), span->name.length }
		};
	}
	return &rows->rows[*number];
}

static int add_spans(struct gas_rows *rows, const struct gas_tree *tree)
{
	struct text key = { 0 };
	struct key_map map;
	int err = 0;

	key_map_init(&map, sizeof(size_t), NULL);
	for (size_t i = 0; !err && i < tree->span_cnt; i++) {
		const struct gas_span *span = tree->spans[i];
		struct gas_row *row;
		enum gas_by by;

		if (!by_of(span, &by))
			continue;
		err = make_key(&key, by, span);
		row = err ? NULL : row_of(rows, &map, &key, by, span);
		if (row)
			add_span(row, span);
		else
			err = -ENOMEM;
	}
	key_map_release(&map);
	text_release(&key);
	return err;
}

static void add_charges(struct gas_rows *rows, const struct gas_tree *tree)
{
	for (uint32_t i = 0; i < string_pool_count(tree->names); i++) {
		struct gas_row row = { .by = GAS_BY_CHARGE, .name = gas_tree_name(tree, i) };
		const struct gas_name *sums =
			key_map_find(&tree->charges, row.name.bytes, row.name.length);

		if (!sums)
			continue;
		row.cnt = sums->cnt;
		row.compute = row.total = sums->compute;
		row.other = sums->other;
		gas_add(&row.total, row.other);
		rows->rows[rows->cnt++] = row;
		rows->all.cnt += row.cnt;
		gas_add(&rows->all.compute, row.compute);
		gas_add(&rows->all.other, row.other);
	}
	rows->all.total = rows->all.compute;
	gas_add(&rows->all.total, rows->all.other);
}

static int compare(const void *a, const void *b)
{
	const struct gas_row *x = a, *y = b;
	size_t length = x->name.length < y->name.length ? x->name.length : y->name.length;
	int order;

	if (x->by != y->by)
		return x->by < y->by ? -1 : 1;
	if (x->by != GAS_BY_CHARGE && x->total != y->total)
		return x->total > y->total ? -1 : 1;
	order = memcmp(x->name.bytes, y->name.bytes, length);
	return order ? order : (x->name.length > y->name.length) - (x->name.length < y->name.length);
}

int gas_rows_make(struct gas_rows *rows, const struct gas_tree *tree)
{
	int err;

	*rows = (struct gas_rows){ 0 };
	rows->rows = calloc(tree->span_cnt + string_pool_count(tree->names) + 1, sizeof(*rows->rows));
	if (!rows->rows)
		return -ENOMEM;
	err = add_spans(rows, tree);
	if (err)
		return err;
	add_charges(rows, tree);
	qsort(rows->rows, rows->cnt, sizeof(*rows->rows), compare);
	return 0;
}

void gas_rows_release(struct gas_rows *rows)
{
	free(rows->rows);
	*rows = (struct gas_rows){ 0 };
}
