/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/tree/gas_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "log/format/fvm_marks.h"

#define NAME_MAX_CNT 4096u /* of charges; the import tells no more apart */
#define OTHER_NAMES "(other names)"

static bool is_text(struct txtrace_string string, const char *text)
{
	return string.length == strlen(text) && memcmp(string.bytes, text, string.length) == 0;
}

struct gas_tree *gas_tree_new(bool is_json)
{
	struct gas_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->is_json = is_json;
	id_map_init(&tree->open);
	key_map_init(&tree->charges, sizeof(struct gas_name), NULL);
	tree->names = string_pool_new();
	if (tree->names)
		return tree;
	gas_tree_free(tree);
	return NULL;
}

static void free_span(struct gas_span *span)
{
	text_release(&span->name);
	text_release(&span->from);
	text_release(&span->to);
	free(span->self.sums);
	free(span->total.sums);
	free(span);
}

void gas_tree_free(struct gas_tree *tree)
{
	struct gas_span *span;

	if (!tree)
		return;
	for (size_t i = 0; i < tree->span_cnt; i++)
		free_span(tree->spans[i]);
	for (size_t i = 0; (span = id_map_next(&tree->open, &i));)
		free_span(span);
	free(tree->spans);
	id_map_release(&tree->open);
	key_map_release(&tree->charges);
	string_pool_free(tree->names);
	free(tree);
}

struct txtrace_string gas_tree_name(const struct gas_tree *tree, uint32_t number)
{
	struct txtrace_string name;

	name.bytes = string_pool_get(tree->names, number, &name.length);
	return name;
}

/* ---- sums; those that don't fit stop at the largest number ---- */

static int add_sum(struct gas_sums *sums, uint32_t name, int64_t milligas)
{
	size_t i = 0;

	gas_add(&sums->whole, milligas);
	while (i < sums->cnt && sums->sums[i].name != name)
		i++;
	if (i == sums->cnt) {
		struct gas_sum *more = array_grow_unnoted(sums->sums, sums->cnt, sizeof(*more));

		if (!more)
			return -ENOMEM;
		sums->sums = more;
		sums->sums[sums->cnt++] = (struct gas_sum){ .name = name };
	}
	gas_add(&sums->sums[i].milligas, milligas);
	return 0;
}

static int add_sums(struct gas_sums *sums, const struct gas_sums *more)
{
	int err = 0;

	for (size_t i = 0; !err && i < more->cnt; i++)
		err = add_sum(sums, more->sums[i].name, more->sums[i].milligas);
	return err;
}

/* ---- records ---- */

static int find_open(struct gas_tree *tree, uint32_t pid, uint64_t id, struct gas_span **found)
{
	struct gas_span *span = id_map_get(&tree->open, pid, id);

	*found = span;
	if (span)
		return 0;
	span = calloc(1, sizeof(*span));
	if (!span || id_map_put(&tree->open, pid, id, span)) {
		free(span);
		return -ENOMEM;
	}
	*found = span;
	return 0;
}

static int add_attribute(struct gas_tree *tree, const struct txtrace_attribute *attribute)
{
	struct txtrace_string name = attribute->name;
	size_t length = strlen(FVM_GAS);
	struct gas_span *span;
	uint32_t number;
	int err = find_open(tree, attribute->pid, attribute->span, &span);

	if (err)
		return err;
	if (attribute->type == TXTRACE_ATTRIBUTE_INT && name.length > length &&
	    memcmp(name.bytes, FVM_GAS, length) == 0) {
		if (string_pool_count(tree->names) >= NAME_MAX_CNT &&
		    string_pool_find(tree->names, name.bytes + length, name.length - length) ==
			    STRING_POOL_NONE)
			err = string_pool_add(tree->names, OTHER_NAMES, strlen(OTHER_NAMES), &number);
		else
			err = string_pool_add(tree->names, name.bytes + length, name.length - length,
					      &number);
		return err ? err : add_sum(&span->self, number, (int64_t)attribute->value);
	}
	if (is_text(name, FVM_FROM))
		text_append_bytes(&span->from, attribute->string.bytes, attribute->string.length);
	else if (is_text(name, FVM_TO))
		text_append_bytes(&span->to, attribute->string.bytes, attribute->string.length);
	else if (is_text(name, FVM_METHOD))
		span->method = attribute->value;
	else if (is_text(name, FVM_ELAPSED))
		span->elapsed_ns = attribute->value;
	else if (is_text(name, FVM_BEGIN_NS))
		span->begin_ns = attribute->value;
	else if (is_text(name, FVM_END_NS))
		span->end_ns = attribute->value;
	else if (is_text(name, "error"))
		span->has_error = true;
	else if (is_text(name, FVM_EXIT)) {
		span->has_exit_code = true;
		span->exit_code = (int64_t)attribute->value;
	}
	return span->from.err ? span->from.err : span->to.err;
}

static void name_span(struct gas_span *span, const struct txtrace_span *record)
{
	text_clear(&span->name);
	if (span->kind == GAS_CALL)
		text_append_format(&span->name, "%s->%s::%" PRIu64, text_string(&span->from),
				   text_string(&span->to), span->method);
	else
		text_append_visible(&span->name, record->label.bytes, record->label.length);
}

static int add_span(struct gas_tree *tree, const struct txtrace_span *record)
{
	struct gas_span *span;
	int err = find_open(tree, record->pid, record->id, &span);
	struct gas_span **spans;

	if (err)
		return err;
	spans = array_grow(tree->spans, &tree->span_size, tree->span_cnt, sizeof(*spans));
	if (!spans)
		return -ENOMEM;
	tree->spans = spans;
	id_map_remove(&tree->open, record->pid, record->id);
	tree->spans[tree->span_cnt++] = span;
	span->id = record->id;
	span->parent = record->parent;
	span->number = record->id - (record->pid == FVM_PID && !tree->is_json);
	span->is_closed = !(record->flags & TXTRACE_SPAN_UNFINISHED);
	if (record->pid == FVM_SPANS_PID)
		span->kind = GAS_TIMED;
	else if (span->to.length > 0 || (tree->is_json && is_text(record->label, FVM_SEND)))
		span->kind = GAS_CALL;
	else
		span->kind = record->id == 1 && !tree->is_json ? GAS_ROOT : GAS_LABEL;
	name_span(span, record);
	return span->name.err;
}

/* GasCharge { name: "NAME", compute_milli: N, other_milli: N } */
static int add_instant(struct gas_tree *tree, struct txtrace_string event)
{
	static const char begin[] = "GasCharge { name: \"",
			  compute[] = "\", compute_milli: ", other[] = ", other_milli: ";
	const char *at = event.bytes, *end = at + event.length, *name_end = NULL, *found;
	struct gas_name *charge;
	bool is_new;

	if (event.length <= strlen(begin) || memcmp(at, begin, strlen(begin)) != 0)
		return 0;
	at += strlen(begin);
	for (found = at; (found = memmem(found, (size_t)(end - found), compute, strlen(compute))); found++)
		name_end = found;
	if (!name_end)
		return 0;
	charge = key_map_add(&tree->charges, at, (size_t)(name_end - at), &is_new);
	if (!charge)
		return -ENOMEM;
	charge->cnt++;
	at = name_end + strlen(compute);
	found = memmem(at, (size_t)(end - at), other, strlen(other));
	/* the import wrote the numbers, and a blank stands behind each */
	if (found && end[-1] == '}') {
		gas_add(&charge->compute, strtoll(at, NULL, 10));
		gas_add(&charge->other, strtoll(found + strlen(other), NULL, 10));
	}
	return 0;
}

int gas_tree_add(struct gas_tree *tree, const struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_ATTRIBUTE:
		return add_attribute(tree, &record->attribute);
	case TXTRACE_RECORD_SPAN:
		return add_span(tree, &record->span);
	case TXTRACE_RECORD_INSTANT:
		return add_instant(tree, record->instant.name);
	default:
		return 0;
	}
}

/* ---- the end ---- */

static int compare_spans(const void *a, const void *b)
{
	const struct gas_span *first = *(struct gas_span *const *)a, *second = *(struct gas_span *const *)b;

	if ((first->kind == GAS_TIMED) != (second->kind == GAS_TIMED))
		return first->kind == GAS_TIMED ? 1 : -1;
	return first->number < second->number ? -1 : first->number > second->number;
}

static int compare_sums(const void *a, const void *b, void *context)
{
	const struct gas_sum *first = a, *second = b;
	struct txtrace_string x, y;
	int order;

	if (first->milligas != second->milligas)
		return first->milligas > second->milligas ? -1 : 1;
	x = gas_tree_name(context, first->name);
	y = gas_tree_name(context, second->name);
	order = memcmp(x.bytes, y.bytes, x.length < y.length ? x.length : y.length);
	return order ? order : x.length < y.length ? -1 : x.length > y.length;
}

static void sort(struct gas_tree *tree, struct gas_sums *sums)
{
	if (sums->cnt > 0)
		qsort_r(sums->sums, sums->cnt, sizeof(*sums->sums), compare_sums, tree);
}

int gas_tree_finish(struct gas_tree *tree)
{
	struct id_map by_id; /* those with charges */
	int err = 0;

	if (tree->span_cnt > 0)
		qsort(tree->spans, tree->span_cnt, sizeof(struct gas_span *), compare_spans);
	id_map_init(&by_id);
	for (size_t i = 0; !err && i < tree->span_cnt; i++) {
		struct gas_span *span = tree->spans[i];

		if (span->kind != GAS_TIMED)
			err = id_map_put(&by_id, 0, span->id, span);
		if (span->kind != GAS_TIMED && span->parent)
			span->of = id_map_get(&by_id, 0, span->parent);
	}
	/* what a call was charged is its caller's, too, which opened before; a label span gives nothing */
	for (size_t i = tree->span_cnt; !err && i-- > 0;) {
		struct gas_span *span = tree->spans[i];

		if (span->kind == GAS_TIMED || (span->kind == GAS_LABEL && !span->is_closed))
			continue;
		err = add_sums(&span->total, &span->self);
		if (!err && span->of && span->kind == GAS_CALL)
			err = add_sums(&span->of->total, &span->total);
	}
	id_map_release(&by_id);
	for (size_t i = 0; i < tree->span_cnt; i++) {
		sort(tree, &tree->spans[i]->self);
		sort(tree, &tree->spans[i]->total);
	}
	return err;
}
