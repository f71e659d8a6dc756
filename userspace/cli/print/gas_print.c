/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/gas_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/units.h"

#define MILLI 1000

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
	char **more;

	if (!sum)
		return -ENOMEM;
	gas_add(sum, amount);
	if (!is_new)
		return 0;
	more = array_grow_unnoted(stacks->stacks, stacks->cnt, sizeof(char *));
	if (!more)
		return -ENOMEM;
	stacks->stacks = more;
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

static void json_charges(struct json *json, const struct gas_rows *rows)
{
	json_name(json, "charges");
	json_object_begin(json);
	for (size_t i = 0; i < rows->cnt; i++) {
		const struct gas_row *row = &rows->rows[i];

		if (row->by != GAS_BY_CHARGE)
			continue;
		json_name_string(json, row->name.bytes, row->name.length);
		json_object_begin(json);
		json_member_u64(json, "count", row->cnt);
		json_member_i64(json, "compute_milligas", row->compute);
		json_member_i64(json, "other_milligas", row->other);
		json_object_end(json);
	}
	json_object_end(json);
}

static void json_rows(struct json *json, const char *name, const struct gas_rows *rows, enum gas_by by)
{
	json_name(json, name);
	json_object_begin(json);
	for (size_t i = 0; i < rows->cnt; i++) {
		const struct gas_row *row = &rows->rows[i];

		if (row->by != by)
			continue;
		json_name_string(json, row->name.bytes, row->name.length);
		json_object_begin(json);
		json_member_u64(json, "count", row->cnt);
		json_member_u64(json, "unclosed", row->open_cnt);
		if (by == GAS_BY_SPAN)
			json_member_u64(json, "ns", row->ns);
		else
			json_member_i64(json, "milligas", row->total);
		json_object_end(json);
	}
	json_object_end(json);
}

void gas_members_json(struct json *json, const struct gas_tree *tree, const struct gas_rows *rows)
{
	json_member_text(json, "unit", "milligas");
	json_member_bool(json, "order_known", !tree->is_json);
	json_charges(json, rows);
	json_rows(json, "labels", rows, GAS_BY_LABEL);
	json_rows(json, "timed", rows, GAS_BY_SPAN);
	json_name(json, "spans");
	json_array_begin(json);
	for (size_t i = 0; i < tree->span_cnt; i++)
		json_span(json, tree, tree->spans[i]);
	json_array_end(json);
}
