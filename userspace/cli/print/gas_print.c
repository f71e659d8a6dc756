/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/gas_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "base/units.h"

#define MILLI 1000
#define PER_CENT_MAX 100.0

/* Sums over spans of one name. */
struct row {
	enum gas_kind kind;
	struct txtrace_string name;
	uint64_t cnt, open_cnt, ns;
	int64_t self, total;
};

/* Charges of one name. */
struct charge_row {
	struct txtrace_string name;
	const struct gas_name *sums;
};

static void add(int64_t *sum, int64_t amount)
{
	if (__builtin_add_overflow(*sum, amount, sum))
		*sum = amount < 0 ? INT64_MIN : INT64_MAX;
}

/* ---- the workbench's lines ---- */

/* In gas: rounded up, unless it is less than one. */
static void append_gas(struct text *text, int64_t milligas)
{
	uint64_t amount = milligas < 0 ? 0 - (uint64_t)milligas : (uint64_t)milligas;
	uint64_t gas = amount / MILLI + (amount >= MILLI && amount % MILLI > 0 && milligas > 0);
	char number[UNITS_SIZE];

	text_append(text, milligas < 0 && gas > 0 ? "-" : "");
	text_append(text, units_format_count(number, gas));
}

static void append_list(struct text *text, const struct gas_tree *tree, const struct gas_sums *sums)
{
	text_append(text, "{sum=");
	append_gas(text, sums->whole);
	for (size_t i = 0; i < sums->cnt; i++) {
		struct txtrace_string name = gas_tree_name(tree, sums->sums[i].name);

		text_append(text, ", ");
		text_append_visible(text, name.bytes, name.length);
		text_append(text, "=");
		append_gas(text, sums->sums[i].milligas);
	}
	text_append(text, "}");
}

int gas_print_spans(struct cli *cli, const struct gas_tree *tree)
{
	struct text text = { 0 };
	int err = 0;

	for (size_t i = 0; !err && i < tree->span_cnt; i++) {
		const struct gas_span *span = tree->spans[i];

		if (span->kind == GAS_TIMED)
			continue;
		text_append(&text, "Span[");
		if (span->kind != GAS_ROOT)
			text_append_format(&text, "%" PRIu64 "-%s(", span->number,
					   span->kind == GAS_CALL ? "Call" : "Span");
		text_append_visible(&text, span->name.bytes, span->name.length);
		text_append(&text, span->kind == GAS_ROOT ? ", self: " : "), self: ");
		append_list(&text, tree, &span->self);
		text_append(&text, ", total: ");
		append_list(&text, tree, &span->total);
		text_append(&text, "]\n");
		err = text.err;
		if (!err)
			fwrite(text.bytes, 1, text.length, cli->out.file);
		text_clear(&text);
	}
	text_release(&text);
	return err;
}

/* ---- folded stacks ---- */

struct stacks {
	struct key_map sums; /* stack -> int64_t */
	char **stacks;
	size_t cnt;
};

static void append_frame(struct text *text, const char *bytes, size_t length)
{
	size_t at = text->length;

	text_append_visible(text, bytes, length);
	for (; !text->err && at < text->length; at++) {
		if (text->bytes[at] == ';')
			text->bytes[at] = ',';
	}
}

static int append_path(struct text *text, const struct gas_span *span)
{
	const struct gas_span *path[4097];
	size_t depth = 0;

	for (; span && depth < sizeof(path) / sizeof(*path); span = span->of)
		path[depth++] = span;
	while (depth-- > 0) {
		append_frame(text, path[depth]->name.bytes, path[depth]->name.length);
		text_append(text, ";");
	}
	return text->err;
}

static int add_stack(struct stacks *stacks, const struct text *stack, int64_t amount)
{
	bool is_new;
	int64_t *sum = key_map_add(&stacks->sums, stack->bytes, stack->length, &is_new);

	if (!sum)
		return -ENOMEM;
	add(sum, amount);
	if (!is_new)
		return 0;
	if ((stacks->cnt & (stacks->cnt - 1)) == 0) {
		char **more = reallocarray(stacks->stacks, stacks->cnt > 0 ? stacks->cnt * 2 : 1,
					   sizeof(char *));

		if (!more)
			return -ENOMEM;
		stacks->stacks = more;
	}
	stacks->stacks[stacks->cnt] = strdup(stack->bytes);
	return stacks->stacks[stacks->cnt] ? (stacks->cnt++, 0) : -ENOMEM;
}

static int add_span(struct stacks *stacks, const struct gas_tree *tree, const struct gas_span *span)
{
	struct text stack = { 0 };
	size_t length;
	int err = append_path(&stack, span);

	length = stack.length;
	for (size_t i = 0; !err && i < span->self.cnt; i++) {
		const struct gas_sum *sum = &span->self.sums[i];
		struct txtrace_string name = gas_tree_name(tree, sum->name);

		if (sum->milligas == 0)
			continue;
		stack.length = length;
		append_frame(&stack, name.bytes, name.length);
		err = stack.err ? stack.err : add_stack(stacks, &stack, sum->milligas);
	}
	text_release(&stack);
	return err;
}

static int compare_stacks(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int gas_print_folded(struct cli *cli, const struct gas_tree *tree)
{
	int64_t unit = tree->is_json ? MILLI : 1;
	struct stacks stacks = { 0 };
	int err = 0;

	key_map_init(&stacks.sums, sizeof(int64_t), NULL);
	for (size_t i = 0; !err && i < tree->span_cnt; i++) {
		if (tree->spans[i]->kind == GAS_CALL || tree->spans[i]->kind == GAS_ROOT)
			err = add_span(&stacks, tree, tree->spans[i]);
	}
	if (!err && stacks.cnt > 0)
		qsort(stacks.stacks, stacks.cnt, sizeof(char *), compare_stacks);
	for (size_t i = 0; i < stacks.cnt; i++) {
		const int64_t *sum = key_map_find(&stacks.sums, stacks.stacks[i], strlen(stacks.stacks[i]));

		if (!err && sum && *sum / unit != 0)
			fprintf(cli->out.file, "%s %" PRId64 "\n", stacks.stacks[i], *sum / unit);
		free(stacks.stacks[i]);
	}
	free(stacks.stacks);
	key_map_release(&stacks.sums);
	return err;
}

/* ---- sums by name ---- */

static int add_row(struct key_map *rows, const struct gas_span *span)
{
	struct text key = { 0 };
	struct row *row = NULL;
	bool is_new;

	text_append_format(&key, "%d", (int)span->kind);
	text_append_bytes(&key, text_string(&span->name), span->name.length);
	if (!key.err)
		row = key_map_add(rows, key.bytes, key.length, &is_new);
	text_release(&key);
	if (!row)
		return -ENOMEM;
	row->kind = span->kind;
	row->name = (struct txtrace_string){ text_string(&span->name), span->name.length };
	row->open_cnt += !span->is_closed;
	if (!span->is_closed && span->kind == GAS_TIMED)
		return 0;
	row->cnt++;
	add(&row->self, span->self.whole);
	/* a label span that never ended has no total of its own */
	add(&row->total, span->kind == GAS_LABEL ? span->self.whole : span->total.whole);
	row->ns += span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *first = a, *second = b;
	size_t length = first->name.length < second->name.length ? first->name.length : second->name.length;
	int order;

	if (first->kind != second->kind)
		return first->kind < second->kind ? -1 : 1;
	if (first->total != second->total)
		return first->total > second->total ? -1 : 1;
	order = memcmp(first->name.bytes, second->name.bytes, length);
	return order ? order : first->name.length < second->name.length ? -1 : 1;
}

/* The keys of a map can't be listed, so the first span of each row leads to it. */
static int make_rows(const struct gas_tree *tree, struct row **rows, size_t *cnt)
{
	struct key_map map;
	int err = 0;

	*cnt = 0;
	key_map_init(&map, sizeof(struct row), NULL);
	for (size_t i = 0; !err && i < tree->span_cnt; i++)
		err = add_row(&map, tree->spans[i]);
	*rows = calloc(map.count + 1, sizeof(**rows));
	err = *rows ? err : -ENOMEM;
	for (size_t i = 0; !err && i < tree->span_cnt; i++) {
		const struct gas_span *span = tree->spans[i];
		struct text key = { 0 };
		struct row *row;

		text_append_format(&key, "%d", (int)span->kind);
		text_append_bytes(&key, text_string(&span->name), span->name.length);
		row = key.err ? NULL : key_map_find(&map, key.bytes, key.length);
		err = key.err;
		if (row && row->name.bytes) {
			(*rows)[(*cnt)++] = *row;
			row->name.bytes = NULL; /* it is taken */
		}
		text_release(&key);
	}
	key_map_release(&map);
	if (!err && *cnt > 0)
		qsort(*rows, *cnt, sizeof(**rows), compare_rows);
	return err;
}

/* ---- tables ---- */

static void gas_cell(struct table *table, int64_t milligas)
{
	char number[UNITS_SIZE];
	uint64_t amount = milligas < 0 ? 0 - (uint64_t)milligas : (uint64_t)milligas;

	table_cell_format(table, TABLE_PLAIN, "%s%s.%03u", milligas < 0 ? "-" : "",
			  units_format_count(number, amount / MILLI), (unsigned int)(amount % MILLI));
}

static void share_cell(struct table *table, int64_t part, int64_t whole)
{
	if (whole == 0)
		table_cell(table, TABLE_PLAIN, "");
	else
		table_cell_format(table, TABLE_PLAIN, "%.1f", PER_CENT_MAX * (double)part / (double)whole);
}

static int compare_charges(const void *a, const void *b)
{
	const struct txtrace_string *x = &((const struct charge_row *)a)->name;
	const struct txtrace_string *y = &((const struct charge_row *)b)->name;
	int order = memcmp(x->bytes, y->bytes, x->length < y->length ? x->length : y->length);

	return order ? order : x->length < y->length ? -1 : x->length > y->length;
}

/* By name. */
static struct charge_row *list_charges(const struct gas_tree *tree, size_t *cnt)
{
	struct charge_row *rows = calloc(string_pool_count(tree->names) + 1u, sizeof(*rows));

	*cnt = 0;
	for (uint32_t i = 0; rows && i < string_pool_count(tree->names); i++) {
		struct charge_row *row = &rows[*cnt];

		row->name = gas_tree_name(tree, i);
		row->sums = key_map_find(&tree->charges, row->name.bytes, row->name.length);
		*cnt += row->sums != NULL;
	}
	if (rows && *cnt > 0)
		qsort(rows, *cnt, sizeof(*rows), compare_charges);
	return rows;
}

static void charge_row(struct table *table, const struct charge_row *row, const struct gas_name *all,
		       int64_t total_all)
{
	struct text shown = { 0 };
	int64_t total = row->sums->compute;

	add(&total, row->sums->other);
	text_append_escaped(&shown, row->name.bytes, row->name.length);
	table_cell(table, TABLE_PLAIN, text_string(&shown));
	table_cell_format(table, TABLE_PLAIN, "%" PRIu64, row->sums->cnt);
	gas_cell(table, row->sums->other);
	share_cell(table, row->sums->other, all->other);
	gas_cell(table, row->sums->compute);
	share_cell(table, row->sums->compute, all->compute);
	gas_cell(table, total);
	share_cell(table, total, total_all);
	text_release(&shown);
}

/* Of all charges, as each was. */
static int charge_table(struct cli *cli, const struct gas_tree *tree)
{
	static const struct table_column columns[] = {
		{ "charge", TABLE_LEFT, NULL },	      { "count", TABLE_RIGHT, NULL },
		{ "other gas", TABLE_RIGHT, NULL },   { "%", TABLE_RIGHT, NULL },
		{ "compute gas", TABLE_RIGHT, NULL }, { "%", TABLE_RIGHT, NULL },
		{ "total gas", TABLE_RIGHT, NULL },   { "%", TABLE_RIGHT, NULL },
	};
	struct table *table = table_new(columns, 8);
	struct gas_name all = { 0 };
	int64_t total_all = 0;
	size_t cnt;
	struct charge_row *rows = list_charges(tree, &cnt);
	int err;

	for (size_t i = 0; rows && i < cnt; i++) {
		all.cnt += rows[i].sums->cnt;
		add(&all.compute, rows[i].sums->compute);
		add(&all.other, rows[i].sums->other);
	}
	total_all = all.compute;
	add(&total_all, all.other);
	for (size_t i = 0; rows && i < cnt; i++)
		charge_row(table, &rows[i], &all, total_all);
	free(rows);
	table_cell(table, TABLE_BOLD, "total");
	table_cell_format(table, TABLE_BOLD, "%" PRIu64, all.cnt);
	gas_cell(table, all.other);
	table_cell(table, TABLE_PLAIN, "");
	gas_cell(table, all.compute);
	table_cell(table, TABLE_PLAIN, "");
	gas_cell(table, total_all);
	table_cell(table, TABLE_PLAIN, "");
	err = table_print(table, cli->out.file, cli->out.has_colours);
	table_free(table);
	return err;
}

static int row_table(struct cli *cli, const struct row *rows, size_t cnt, enum gas_kind kind, uint64_t limit)
{
	static const struct table_column calls[] = {
		{ "call", TABLE_LEFT, NULL },
		{ "count", TABLE_RIGHT, NULL },
		{ "never returned", TABLE_RIGHT, NULL },
		{ "self gas", TABLE_RIGHT, NULL },
		{ "total gas", TABLE_RIGHT, NULL },
	};
	static const struct table_column labels[] = {
		{ "label span", TABLE_LEFT, NULL },
		{ "count", TABLE_RIGHT, NULL },
		{ "never ended", TABLE_RIGHT, NULL },
		{ "gas", TABLE_RIGHT, NULL },
	};
	static const struct table_column timed[] = {
		{ "span", TABLE_LEFT, NULL },
		{ "count", TABLE_RIGHT, NULL },
		{ "never ended", TABLE_RIGHT, NULL },
		{ "ns of its own clock", TABLE_RIGHT, NULL },
	};
	struct table *table = kind == GAS_CALL	  ? table_new(calls, 5)
			      : kind == GAS_LABEL ? table_new(labels, 4)
						  : table_new(timed, 4);
	uint64_t shown_cnt = 0, all_cnt = 0;
	int err = 0;

	for (size_t i = 0; i < cnt; i++) {
		struct text shown = { 0 };

		if (rows[i].kind != kind || (all_cnt++, limit > 0 && shown_cnt == limit))
			continue;
		shown_cnt++;
		text_append_escaped(&shown, rows[i].name.bytes, rows[i].name.length);
		table_cell(table, TABLE_PLAIN, text_string(&shown));
		table_cell_format(table, TABLE_PLAIN, "%" PRIu64, rows[i].cnt);
		table_cell_format(table, TABLE_PLAIN, "%" PRIu64, rows[i].open_cnt);
		if (kind == GAS_CALL)
			gas_cell(table, rows[i].self);
		if (kind == GAS_TIMED)
			table_cell_format(table, TABLE_PLAIN, "%" PRIu64, rows[i].ns);
		else
			gas_cell(table, rows[i].total);
		text_release(&shown);
	}
	if (all_cnt > 0) {
		fputs("\n", cli->out.file);
		err = table_print(table, cli->out.file, cli->out.has_colours);
	}
	if (!err && all_cnt > shown_cnt)
		fprintf(cli->out.file, "and %" PRIu64 " more; --limit 0 shows all\n", all_cnt - shown_cnt);
	table_free(table);
	return err;
}

int gas_print_tables(struct cli *cli, const struct gas_tree *tree, uint64_t limit)
{
	struct row *rows;
	size_t cnt;
	int err = make_rows(tree, &rows, &cnt);

	err = err ? err : charge_table(cli, tree);
	err = err ? err : row_table(cli, rows, cnt, GAS_CALL, limit);
	err = err ? err : row_table(cli, rows, cnt, GAS_LABEL, limit);
	err = err ? err : row_table(cli, rows, cnt, GAS_TIMED, limit);
	free(rows);
	return err;
}

/* ---- JSON ---- */

static void json_sums(struct json *json, const char *name, const struct gas_tree *tree,
		      const struct gas_sums *sums)
{
	json_name(json, name);
	json_object_begin(json);
	for (size_t i = 0; i < sums->cnt; i++) {
		struct txtrace_string charge = gas_tree_name(tree, sums->sums[i].name);

		json_name_string(json, charge.bytes, charge.length);
		json_i64(json, sums->sums[i].milligas);
	}
	json_object_end(json);
}

static void json_span(struct json *json, const struct gas_tree *tree, const struct gas_span *span)
{
	static const char *const kinds[] = { "root", "call", "label", "timed" };

	json_line_break(json);
	json_object_begin(json);
	json_member_u64(json, "number", span->number);
	json_member_text(json, "kind", kinds[span->kind]);
	json_member_string(json, "name", text_string(&span->name), span->name.length);
	if (span->of)
		json_member_u64(json, "parent", span->of->number);
	else if (span->kind == GAS_TIMED && span->parent)
		json_member_u64(json, "parent", span->parent);
	else
		json_member_null(json, "parent");
	json_member_bool(json, "closed", span->is_closed);
	if (span->has_exit_code)
		json_member_i64(json, "exit_code", span->exit_code);
	if (span->kind == GAS_TIMED) {
		json_member_u64(json, "begin_ns", span->begin_ns);
		if (span->is_closed)
			json_member_u64(json, "end_ns", span->end_ns);
	} else {
		json_member_u64(json, "elapsed_ns", span->elapsed_ns);
		json_member_i64(json, "self_milligas", span->self.whole);
		json_member_i64(json, "total_milligas", span->total.whole);
		json_sums(json, "self", tree, &span->self);
		json_sums(json, "total", tree, &span->total);
	}
	json_object_end(json);
}

static void json_charges(struct json *json, const struct gas_tree *tree)
{
	json_name(json, "charges");
	json_object_begin(json);
	for (uint32_t i = 0; i < string_pool_count(tree->names); i++) {
		struct txtrace_string name = gas_tree_name(tree, i);
		const struct gas_name *sums = key_map_find(&tree->charges, name.bytes, name.length);

		if (!sums)
			continue;
		json_name_string(json, name.bytes, name.length);
		json_object_begin(json);
		json_member_u64(json, "count", sums->cnt);
		json_member_i64(json, "compute_milligas", sums->compute);
		json_member_i64(json, "other_milligas", sums->other);
		json_object_end(json);
	}
	json_object_end(json);
}

static void json_rows(struct json *json, const char *name, const struct row *rows, size_t cnt,
		      enum gas_kind kind)
{
	json_name(json, name);
	json_object_begin(json);
	for (size_t i = 0; i < cnt; i++) {
		if (rows[i].kind != kind)
			continue;
		json_name_string(json, rows[i].name.bytes, rows[i].name.length);
		json_object_begin(json);
		json_member_u64(json, "count", rows[i].cnt);
		json_member_u64(json, "unclosed", rows[i].open_cnt);
		if (kind == GAS_TIMED)
			json_member_u64(json, "ns", rows[i].ns);
		else
			json_member_i64(json, "milligas", rows[i].total);
		json_object_end(json);
	}
	json_object_end(json);
}

int gas_print_json(struct cli *cli, const struct gas_tree *tree)
{
	struct json json;
	struct row *rows;
	size_t cnt;
	int err = make_rows(tree, &rows, &cnt);

	if (err) {
		free(rows);
		return err;
	}
	json_init_file(&json, cli->out.file);
	json_object_begin(&json);
	json_member_text(&json, "unit", "milligas");
	json_member_bool(&json, "order_known", !tree->is_json);
	json_charges(&json, tree);
	json_rows(&json, "labels", rows, cnt, GAS_LABEL);
	json_rows(&json, "timed", rows, cnt, GAS_TIMED);
	json_name(&json, "spans");
	json_array_begin(&json);
	for (size_t i = 0; i < tree->span_cnt; i++)
		json_span(&json, tree, tree->spans[i]);
	json_array_end(&json);
	json_object_end(&json);
	json_newline(&json);
	free(rows);
	return json_release(&json);
}
