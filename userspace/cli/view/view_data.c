/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/view/view_data.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "cli/print/mark_text.h"

#define REPORT_BYTES (48ull << 20)
#define NEIGHBOURS_BYTES (24u << 20)
#define TREE_BYTES (24ull << 20)

static const uint8_t stack_kinds[VIEW_TREE_CNT] = { [VIEW_TREE_ON_CPU] = TXTRACE_STACK_ON_CPU,
						    [VIEW_TREE_OFF_CPU] = TXTRACE_STACK_OFF_CPU };

struct view_data *view_data_new(const char *kernel, size_t span_room, size_t segment_room)
{
	const struct neighbours_options options = { .max_bytes = NEIGHBOURS_BYTES };
	struct view_data *data = calloc(1, sizeof(*data));
	bool is_whole = data;

	if (!data)
		return NULL;
	data->report = label_report_new(REPORT_BYTES);
	data->neighbours = neighbours_new(&options);
	data->strings = string_pool_new();
	data->labels = string_pool_new();
	view_grid_init(&data->grid);
	view_longest_init(&data->spans, sizeof(struct view_span), span_room);
	view_longest_init(&data->stays, sizeof(struct view_stay), span_room);
	for (size_t i = 0; i < VIEW_TREE_CNT; i++) {
		data->trees[i].tree = span_tree_new(TREE_BYTES);
		flame_stacks_init(&data->trees[i].stacks, stack_kinds[i], TREE_BYTES);
		is_whole = is_whole && data->trees[i].tree;
	}
	if (!view_threads_init(&data->threads, &data->grid, data->strings, kernel, segment_room) &&
	    is_whole && data->report && data->neighbours && data->strings && data->labels)
		return data;
	view_data_free(data);
	return NULL;
}

void view_data_free(struct view_data *data)
{
	if (!data)
		return;
	label_report_free(data->report);
	neighbours_free(data->neighbours);
	for (size_t i = 0; i < VIEW_TREE_CNT; i++) {
		span_tree_free(data->trees[i].tree);
		flame_stacks_release(&data->trees[i].stacks);
	}
	view_grid_release(&data->grid);
	view_threads_release(&data->threads);
	view_longest_release(&data->spans);
	view_longest_release(&data->stays);
	string_pool_free(data->strings);
	string_pool_free(data->labels);
	free(data->marks);
	text_release(&data->text);
	free(data);
}

int view_data_begin_capture(struct view_data *data, const char *command, bool is_survey)
{
	int err = 0;

	neighbours_begin_capture(data->neighbours);
	if (is_survey)
		return 0;
	for (size_t i = 0; !err && i < VIEW_TREE_CNT; i++) {
		err = span_tree_begin_capture(data->trees[i].tree);
		data->trees[i].stacks.capture++;
	}
	return err ? err : label_report_begin_capture(data->report, command);
}

int view_data_survey(struct view_data *data, const struct txtrace_record *record)
{
	int err = neighbours_survey(data->neighbours, record);

	for (size_t i = 0; record->kind == TXTRACE_RECORD_STACK && i < VIEW_TREE_CNT; i++)
		data->trees[i].is_wanted |= stack_kinds[i] == record->stack.what;
	return err ? err : view_threads_survey(&data->threads, record);
}

int view_data_end_survey(struct view_data *data, uint64_t begin_ns)
{
	data->grid.begin_ns = begin_ns;
	data->trees[VIEW_TREE_SPANS].is_wanted = true;
	return neighbours_end_survey(data->neighbours);
}

/* The label's number in the grid; VIEW_LABEL_REST of those that came too late. */
static int label_number(struct view_data *data, struct txtrace_string label, uint32_t *number)
{
	*number = string_pool_find(data->labels, label.bytes, label.length);
	if (*number != STRING_POOL_NONE)
		return 0;
	*number = VIEW_LABEL_REST;
	if (string_pool_count(data->labels) == VIEW_LABEL_MAX)
		return 0;
	return string_pool_add(data->labels, label.bytes ? label.bytes : "", label.length, number);
}

static int keep_span(struct view_data *data, const struct txtrace_span *span, struct view_span *kept)
{
	int err = view_string(data->strings, span->label, &kept->label);

	kept->span = *span;
	kept->span.label = kept->span.tag = kept->span.key = (struct txtrace_string){ NULL, 0 };
	if (!err)
		err = view_string(data->strings, span->tag, &kept->tag);
	if (!err)
		err = view_string(data->strings, span->key, &kept->key);
	if (!err)
		err = view_threads_number(&data->threads, span->pid, span->tid, &kept->thread);
	kept->end_thread = VIEW_NO_THREAD;
	if (!err && span->end_tid)
		err = view_threads_number(&data->threads, span->pid, span->end_tid, &kept->end_thread);
	return err;
}

static int add_span(struct view_data *data, const struct txtrace_span *span)
{
	uint64_t wall_ns = span->end_ns > span->begin_ns ? span->end_ns - span->begin_ns : 0;
	struct view_span *kept;
	uint32_t label;
	int err = label_number(data, span->label, &label);

	if (!err)
		err = view_grid_add_span(&data->grid, label, span);
	if (err || !view_longest_wants(&data->spans, wall_ns))
		return err;
	kept = view_longest_add(&data->spans, wall_ns);
	return kept ? keep_span(data, span, kept) : -ENOMEM;
}

static int add_stay(struct view_data *data, const struct txtrace_stay *stay)
{
	uint64_t length_ns = stay->exit_ns > stay->enter_ns ? stay->exit_ns - stay->enter_ns : 0;
	struct view_stay *kept;

	if (!view_longest_wants(&data->stays, length_ns))
		return 0;
	kept = view_longest_add(&data->stays, length_ns);
	if (!kept)
		return -ENOMEM;
	kept->enter_ns = stay->enter_ns;
	kept->span = stay->span;
	kept->pid = stay->is_keyed ? 0 : stay->span_pid;
	return view_threads_number(&data->threads, stay->pid, stay->tid, &kept->thread);
}

static int add_mark(struct view_data *data, const struct txtrace_record *record, uint64_t span)
{
	struct view_mark *grown;
	int err;

	if (!span)
		return 0;
	if (data->mark_cnt == VIEW_MARK_MAX) {
		data->left_out_mark_cnt++;
		return 0;
	}
	grown = array_grow(data->marks, &data->mark_size, data->mark_cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	data->marks = grown;
	text_clear(&data->text);
	mark_append(&data->text, record);
	err = data->text.err;
	data->marks[data->mark_cnt] = (struct view_mark){ .span = span,
							  .time_ns = mark_time_ns(record),
							  .pid = mark_pid(record) };
	if (!err)
		err = view_string(data->strings,
				  (struct txtrace_string){ data->text.bytes, data->text.length },
				  &data->marks[data->mark_cnt].text);
	data->mark_cnt += !err;
	return err;
}

static void add_loss(struct view_data *data, uint64_t first_ns, uint64_t last_ns, uint64_t cnt)
{
	if (data->loss_cnt < VIEW_LOSS_MAX)
		data->losses[data->loss_cnt++] = (struct view_loss){ first_ns, last_ns, cnt };
	else
		data->left_out_loss_cnt++;
}

/* A stack counts for the span that its thread had entered last. */
static int add_code(struct view_tree *tree, const struct txtrace_record *record)
{
	uint32_t number;
	int err;

	if (record->kind == TXTRACE_RECORD_FRAMES)
		return flame_stacks_add(&tree->stacks, &record->frames);
	if (record->stack.what != tree->stacks.what || !record->stack.span)
		return 0;
	err = flame_stacks_number(&tree->stacks, record->stack.stack, &number);
	if (err == -ENOSPC)
		return 0;
	return err ? err : span_tree_add_stack(tree->tree, &record->stack, number);
}

static int add_to_trees(struct view_data *data, const struct txtrace_record *record)
{
	bool is_code = record->kind == TXTRACE_RECORD_FRAMES || record->kind == TXTRACE_RECORD_STACK;
	int err = 0;

	for (size_t i = 0; !err && i < VIEW_TREE_CNT; i++) {
		struct view_tree *tree = &data->trees[i];

		if (tree->is_wanted && is_code && stack_kinds[i])
			err = add_code(tree, record);
		else if (tree->is_wanted && !is_code)
			err = span_tree_add(tree->tree, record);
	}
	return err;
}

static int add_one(struct view_data *data, const struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		return add_span(data, &record->span);
	case TXTRACE_RECORD_STAY:
		return add_stay(data, &record->stay);
	case TXTRACE_RECORD_ATTRIBUTE:
		return add_mark(data, record, record->attribute.span);
	case TXTRACE_RECORD_INSTANT:
		return add_mark(data, record, record->instant.span);
	case TXTRACE_RECORD_LINK:
		return add_mark(data, record, record->link.from);
	case TXTRACE_RECORD_LOSS:
		add_loss(data, record->loss.first_ns, record->loss.last_ns,
			 record->loss.span_event_cnt + record->loss.sched_event_cnt);
		return 0;
	case TXTRACE_RECORD_DROPPED:
		add_loss(data, record->dropped.first_ns, record->dropped.last_ns,
			 record->dropped.record_cnt[TXTRACE_RECORD_SPAN]);
		return 0;
	default:
		return 0;
	}
}

int view_data_add(struct view_data *data, const struct txtrace_record *record)
{
	int err = label_report_add(data->report, record);

	if (!err)
		err = neighbours_add(data->neighbours, record);
	if (!err)
		err = view_threads_add(&data->threads, record);
	if (!err)
		err = add_to_trees(data, record);
	return err ? err : add_one(data, record);
}

int view_data_finish(struct view_data *data, uint64_t end_ns)
{
	int err = neighbours_finish(data->neighbours);

	label_report_sort(data->report);
	for (size_t i = 0; !err && i < VIEW_TREE_CNT; i++)
		err = span_tree_finish(data->trees[i].tree, NULL);
	return err ? err : view_threads_finish(&data->threads, end_ns);
}
