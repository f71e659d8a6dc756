/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/view/view_json.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/tree/flame_rows.h"
#include "base/text.h"
#include "cli/files/capture_info.h"
#include "cli/print/ledger_part.h"
#include "cli/print/neighbours_json.h"
#include "cli/print/party_print.h"
#include "cli/print/report_print.h"

#define REPORT_ROW_MAX 1000
#define NEIGHBOUR_ROW_MAX 100
#define NEIGHBOUR_CELL_MAX 20
#define FLAME_ROW_MAX 20000

struct writer {
	struct json *json;
	const struct view_data *data;
	uint32_t *places; /* by number in the pool: 1 + the place in "strings"; 0: not used yet */
	uint32_t *used;
	uint32_t used_cnt;
};

/* ---- pieces ---- */

static void put_string(struct writer *writer, uint32_t number)
{
	if (number == VIEW_NO_STRING) {
		json_i64(writer->json, -1);
		return;
	}
	if (!writer->places[number]) {
		writer->used[writer->used_cnt++] = number;
		writer->places[number] = writer->used_cnt;
	}
	json_u64(writer->json, writer->places[number] - 1);
}

static void put_thread(struct writer *writer, uint32_t number)
{
	json_i64(writer->json, number == VIEW_NO_THREAD ? -1 : (int64_t)number);
}

static void put_time(struct writer *writer, uint64_t time_ns)
{
	json_i64(writer->json, (int64_t)(time_ns - writer->data->grid.begin_ns));
}

/* Ids exceed what a page's numbers hold. */
static void put_id(struct writer *writer, uint64_t id)
{
	if (id)
		json_u64_string(writer->json, id);
	else
		json_u64(writer->json, 0);
}

static void begin_column(struct writer *writer, const char *name)
{
	json_line_break(writer->json);
	json_name(writer->json, name);
	json_array_begin(writer->json);
}

#define COLUMN(writer, name, idx, cnt, put)                                   \
	do {                                                                  \
		begin_column(writer, name);                                   \
		for (size_t idx = 0; idx < (cnt); idx++)                      \
			put;                                                  \
		json_array_end((writer)->json);                               \
	} while (0)

static void put_parts(struct json *json, const struct txtrace_ledger *ledger)
{
	json_array_begin(json);
	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		if (ledger_part_ns(ledger, part)) {
			json_u64(json, part);
			json_u64(json, ledger_part_ns(ledger, part));
		}
	}
	json_array_end(json);
}

/* ---- what there is ---- */

static void put_names(struct writer *writer)
{
	struct json *json = writer->json;

	json_name(json, "parts");
	json_array_begin(json);
	for (size_t part = 0; part < LEDGER_PART_COUNT; part++)
		json_text(json, ledger_parts[part].title);
	json_array_end(json);
	json_name(json, "reasons");
	json_array_begin(json);
	for (unsigned int reason = 0; reason < WAIT_REASON_COUNT; reason++)
		json_text(json, wait_reason_name(reason));
	json_array_end(json);
}

static void put_report(struct writer *writer)
{
	const struct label_report *report = writer->data->report;
	const struct report_view view = { 0 };
	struct json *json = writer->json;
	size_t cnt = label_report_row_count(report);

	json_name(json, "report");
	json_object_begin(json);
	json_name(json, "labels");
	json_array_begin(json);
	for (size_t i = 0; i < cnt && i < REPORT_ROW_MAX; i++) {
		json_object_begin(json);
		report_row_json(&view, label_report_row(report, i), json);
		json_object_end(json);
	}
	json_array_end(json);
	json_member_u64(json, "left_out", cnt > REPORT_ROW_MAX ? cnt - REPORT_ROW_MAX : 0);
	report_tail_json(report, &view, json);
	json_object_end(json);
}

static void put_neighbours(struct writer *writer)
{
	const struct neighbours *neighbours = writer->data->neighbours;
	struct json *json = writer->json;

	json_name(json, "neighbours");
	json_array_begin(json);
	for (size_t i = 0; i < neighbours_row_count(neighbours) && i < NEIGHBOUR_ROW_MAX; i++) {
		struct neighbours_row row = *neighbours_row(neighbours, i);

		if (row.cell_cnt > NEIGHBOUR_CELL_MAX)
			row.cell_cnt = NEIGHBOUR_CELL_MAX;
		if (row.runnable_ns)
			neighbours_row_json(json, &row, NEIGHBOURS_BY_LABEL);
	}
	json_array_end(json);
}

static void put_threads(struct writer *writer)
{
	struct view_thread *const *threads = writer->data->threads.threads;
	size_t cnt = writer->data->threads.thread_cnt;
	struct json *json = writer->json;

	json_name(json, "threads");
	json_object_begin(json);
	json_member_u64(json, "left_out", writer->data->threads.left_out_cnt);
	COLUMN(writer, "pid", i, cnt, json_u64(json, threads[i]->pid));
	COLUMN(writer, "tid", i, cnt, json_u64(json, threads[i]->tid));
	COLUMN(writer, "name", i, cnt, put_string(writer, threads[i]->name));
	json_object_end(json);
}

static void put_kept(struct json *json, const struct view_longest *longest)
{
	json_member_u64(json, "all", longest->all_cnt);
	json_member_u64(json, "least_ns", longest->least_ns);
}

static void put_spans(struct writer *writer)
{
	const struct view_longest *longest = &writer->data->spans;
	const struct view_span *spans = longest->items;
	size_t cnt = longest->cnt;
	struct json *json = writer->json;

	json_name(json, "spans");
	json_object_begin(json);
	put_kept(json, longest);
	COLUMN(writer, "id", i, cnt, put_id(writer, spans[i].span.id));
	COLUMN(writer, "parent", i, cnt, put_id(writer, spans[i].span.parent));
	COLUMN(writer, "pid", i, cnt, json_u64(json, spans[i].span.pid));
	COLUMN(writer, "thread", i, cnt, put_thread(writer, spans[i].thread));
	COLUMN(writer, "end_thread", i, cnt, put_thread(writer, spans[i].end_thread));
	COLUMN(writer, "begin", i, cnt, put_time(writer, spans[i].span.begin_ns));
	COLUMN(writer, "wall", i, cnt, json_u64(json, spans[i].length_ns));
	COLUMN(writer, "work", i, cnt, json_u64(json, spans[i].span.work_ns));
	COLUMN(writer, "flags", i, cnt, json_u64(json, spans[i].span.flags));
	COLUMN(writer, "label", i, cnt, put_string(writer, spans[i].label));
	COLUMN(writer, "tag", i, cnt, put_string(writer, spans[i].tag));
	COLUMN(writer, "key", i, cnt, put_string(writer, spans[i].key));
	COLUMN(writer, "stolen_max", i, cnt, json_u64(json, spans[i].span.stolen_max_ns));
	COLUMN(writer, "parts", i, cnt, put_parts(json, &spans[i].span.ledger));
	json_object_end(json);
}

static void put_stays(struct writer *writer)
{
	const struct view_longest *longest = &writer->data->stays;
	const struct view_stay *stays = longest->items;
	size_t cnt = longest->cnt;
	struct json *json = writer->json;

	json_name(json, "stays");
	json_object_begin(json);
	put_kept(json, longest);
	COLUMN(writer, "span", i, cnt, put_id(writer, stays[i].span));
	COLUMN(writer, "pid", i, cnt, json_u64(json, stays[i].pid));
	COLUMN(writer, "thread", i, cnt, put_thread(writer, stays[i].thread));
	COLUMN(writer, "enter", i, cnt, put_time(writer, stays[i].enter_ns));
	COLUMN(writer, "length", i, cnt, json_u64(json, stays[i].length_ns));
	json_object_end(json);
}

#define WAKE_IS_END 65536 /* above all of enum txtrace_wake_flag */

/* The flags; -1: no wakeup is known. */
static int64_t wake_of(const struct view_segment *segment)
{
	uint32_t flags = segment->wake_flags % WAKE_IS_END;

	if (!segment->has_wake)
		return -1;
	return segment->is_woken_at_end ? flags | WAKE_IS_END : flags;
}

static void put_segments(struct writer *writer)
{
	const struct view_longest *longest = &writer->data->threads.segments;
	const struct view_segment *segments = longest->items;
	size_t cnt = longest->cnt;
	struct json *json = writer->json;

	json_name(json, "segments");
	json_object_begin(json);
	put_kept(json, longest);
	COLUMN(writer, "thread", i, cnt, json_u64(json, segments[i].thread));
	COLUMN(writer, "from", i, cnt, put_time(writer, segments[i].from_ns));
	COLUMN(writer, "length", i, cnt, json_u64(json, segments[i].length_ns));
	COLUMN(writer, "state", i, cnt, json_u64(json, segments[i].state));
	COLUMN(writer, "reason", i, cnt, json_u64(json, segments[i].reason));
	COLUMN(writer, "stolen", i, cnt, json_u64(json, segments[i].stolen_ns));
	COLUMN(writer, "cpu", i, cnt, json_u64(json, segments[i].cpu));
	COLUMN(writer, "object", i, cnt, put_string(writer, segments[i].object));
	COLUMN(writer, "waker", i, cnt, put_thread(writer, segments[i].waker));
	COLUMN(writer, "wake", i, cnt, json_i64(json, wake_of(&segments[i])));
	COLUMN(writer, "waker_pid", i, cnt, json_u64(json, segments[i].waker_pid));
	COLUMN(writer, "waker_span", i, cnt, put_id(writer, segments[i].waker_span));
	COLUMN(writer, "open", i, cnt, json_u64(json, segments[i].is_open));
	json_object_end(json);
}

/* Of the spans that are in the page, the first ones. -ENOMEM */
static int choose_marks(const struct view_data *data, const struct view_mark **chosen, size_t *cnt)
{
	const struct view_span *spans = data->spans.items;
	struct id_map kept;
	int err = 0;

	id_map_init(&kept);
	for (size_t i = 0; !err && i < data->spans.cnt; i++)
		err = id_map_put(&kept, spans[i].span.pid, spans[i].span.id, (void *)&spans[i]);
	for (size_t i = 0; !err && i < data->mark_cnt; i++)
		if (id_map_get(&kept, data->marks[i].pid, data->marks[i].span))
			chosen[(*cnt)++] = &data->marks[i];
	id_map_release(&kept);
	return err;
}

static int put_marks(struct writer *writer)
{
	const struct view_mark **marks = calloc(writer->data->mark_cnt + 1, sizeof(*marks));
	size_t cnt = 0;
	struct json *json = writer->json;
	int err = marks ? choose_marks(writer->data, marks, &cnt) : -ENOMEM;

	json_name(json, "marks");
	json_object_begin(json);
	json_member_u64(json, "left_out", writer->data->left_out_mark_cnt);
	COLUMN(writer, "span", i, cnt, put_id(writer, marks[i]->span));
	COLUMN(writer, "pid", i, cnt, json_u64(json, marks[i]->pid));
	COLUMN(writer, "time", i, cnt, put_time(writer, marks[i]->time_ns));
	COLUMN(writer, "text", i, cnt, put_string(writer, marks[i]->text));
	json_object_end(json);
	free(marks);
	return err;
}

static void put_losses(struct writer *writer)
{
	const struct view_loss *losses = writer->data->losses;
	size_t cnt = writer->data->loss_cnt;
	struct json *json = writer->json;

	json_name(json, "lost");
	json_object_begin(json);
	json_member_u64(json, "left_out", writer->data->left_out_loss_cnt);
	COLUMN(writer, "first", i, cnt, put_time(writer, losses[i].first_ns));
	COLUMN(writer, "last", i, cnt, put_time(writer, losses[i].last_ns));
	COLUMN(writer, "events", i, cnt, json_u64(json, losses[i].cnt));
	json_object_end(json);
}

/* ---- sums by time ---- */

static void put_buckets(struct json *json, const struct view_label_grid *grid)
{
	json_name(json, "buckets");
	json_array_begin(json);
	for (size_t i = 0; i < VIEW_BUCKET_CNT; i++) {
		const struct view_label_bucket *bucket = &grid->buckets[i];

		if (!bucket->cnt && !bucket->lower_bound_cnt)
			continue;
		json_array_begin(json);
		json_u64(json, i);
		json_u64(json, bucket->cnt);
		json_u64(json, bucket->lower_bound_cnt);
		json_u64(json, bucket->wall_ns);
		json_u64(json, bucket->work_ns);
		put_parts(json, &bucket->ledger);
		json_array_end(json);
	}
	json_array_end(json);
}

/* Bucket, bin, count; bucket, bin, count; … */
static void put_heat(struct json *json, const struct view_label_grid *grid)
{
	json_name(json, "heat");
	json_array_begin(json);
	for (size_t i = 0; i < VIEW_BUCKET_CNT; i++) {
		for (size_t bin = 0; bin < VIEW_BIN_CNT; bin++) {
			if (!grid->heat[i][bin])
				continue;
			json_u64(json, i);
			json_u64(json, bin);
			json_u64(json, grid->heat[i][bin]);
		}
	}
	json_array_end(json);
}

static void put_label_grids(struct writer *writer)
{
	const struct view_data *data = writer->data;
	struct json *json = writer->json;

	json_name(json, "labels");
	json_array_begin(json);
	for (uint32_t i = 0; i <= VIEW_LABEL_MAX; i++) {
		size_t length = 0;
		const char *label = i < string_pool_count(data->labels)
					    ? string_pool_get(data->labels, i, &length)
					    : NULL;

		if (!data->grid.labels[i])
			continue;
		json_object_begin(json);
		if (length > 0)
			json_member_string(json, "label", label, length);
		else
			json_member_null(json, "label");
		json_member_bool(json, "is_rest", i == VIEW_LABEL_REST);
		put_buckets(json, data->grid.labels[i]);
		put_heat(json, data->grid.labels[i]);
		json_object_end(json);
	}
	json_array_end(json);
}

/* For each thread: bucket, state, ns; bucket, state, ns; … */
static void put_thread_grids(struct writer *writer)
{
	const struct view_grid *grid = &writer->data->grid;
	struct json *json = writer->json;

	json_name(json, "threads");
	json_array_begin(json);
	for (size_t thread = 0; thread < VIEW_THREAD_MAX; thread++) {
		json_array_begin(json);
		for (size_t i = 0; grid->threads[thread] && i < VIEW_BUCKET_CNT; i++) {
			for (size_t state = 0; state < VIEW_STATE_CNT; state++) {
				if (!grid->threads[thread]->ns[i][state])
					continue;
				json_u64(json, i);
				json_u64(json, state);
				json_u64(json, grid->threads[thread]->ns[i][state]);
			}
		}
		json_array_end(json);
	}
	json_array_end(json);
}

static void put_grid(struct writer *writer)
{
	struct json *json = writer->json;

	json_name(json, "grid");
	json_object_begin(json);
	json_member_u64(json, "width_ns", writer->data->grid.width_ns);
	json_member_u64(json, "buckets", VIEW_BUCKET_CNT);
	json_member_u64(json, "first_bin_ns", VIEW_BIN_FIRST_NS);
	put_label_grids(writer);
	put_thread_grids(writer);
	json_object_end(json);
}

/* ---- flame graphs ---- */

static void put_flame_row(struct writer *writer, const struct view_tree *tree, const struct flame_row *row)
{
	struct txtrace_string name = row->function.bytes ? row->function
							 : span_tree_name(tree->tree, row->node);
	struct json *json = writer->json;

	json_array_begin(json);
	json_u64(json, row->depth);
	json_u64(json, row->begin_ns);
	json_u64(json, row->total_ns);
	json_u64(json, row->self_ns);
	json_u64(json, row->function.bytes != NULL);
	json_string(json, name.bytes, name.length < VIEW_STRING_MAX ? name.length : VIEW_STRING_MAX);
	json_array_end(json);
}

/* Those that are too narrow to be seen are left out, and what is below them is narrower. */
static int put_flame(struct writer *writer, const char *title, const struct view_tree *tree,
		     enum flame_weight weight)
{
	struct json *json = writer->json;
	struct flame_rows rows;
	int err = flame_rows_make(&rows, tree->tree, weight, tree->stacks.what ? &tree->stacks : NULL);
	uint64_t least_ns;

	if (err)
		return err;
	least_ns = rows.cnt > FLAME_ROW_MAX ? rows.total_ns / FLAME_ROW_MAX : 0;
	json_object_begin(json);
	json_member_text(json, "title", title);
	json_member_u64(json, "total_ns", rows.total_ns);
	json_member_u64(json, "least_ns", least_ns);
	json_name(json, "rows");
	json_array_begin(json);
	for (size_t i = 0; i < rows.cnt; i++)
		if (rows.rows[i].total_ns >= least_ns)
			put_flame_row(writer, tree, &rows.rows[i]);
	json_array_end(json);
	json_object_end(json);
	flame_rows_release(&rows);
	return 0;
}

static int put_flames(struct writer *writer)
{
	const struct view_tree *trees = writer->data->trees;
	int err;

	json_name(writer->json, "flames");
	json_array_begin(writer->json);
	err = put_flame(writer, "all time", &trees[VIEW_TREE_SPANS], FLAME_WALL);
	if (!err)
		err = put_flame(writer, "on-CPU", &trees[VIEW_TREE_SPANS], FLAME_ON_CPU);
	if (!err)
		err = put_flame(writer, "blocked", &trees[VIEW_TREE_SPANS], FLAME_BLOCKED);
	if (!err && trees[VIEW_TREE_ON_CPU].stacks.cnt > 0)
		err = put_flame(writer, "on-CPU, with code", &trees[VIEW_TREE_ON_CPU], FLAME_ON_CPU);
	if (!err && trees[VIEW_TREE_OFF_CPU].stacks.cnt > 0)
		err = put_flame(writer, "blocked, with code", &trees[VIEW_TREE_OFF_CPU], FLAME_BLOCKED);
	json_array_end(writer->json);
	return err;
}

static void put_strings(struct writer *writer)
{
	begin_column(writer, "strings");
	for (uint32_t i = 0; i < writer->used_cnt; i++) {
		size_t length;
		const char *bytes = string_pool_get(writer->data->strings, writer->used[i], &length);

		json_string(writer->json, bytes, length);
	}
	json_array_end(writer->json);
}

static int put_all(struct writer *writer, const struct txtrace_log_info *info,
		   const struct log_census *census)
{
	struct text title = { 0 };
	struct json *json = writer->json;
	int err;

	capture_json_begin(json, "view", info);
	capture_append_title(&title, info, census);
	json_member_text(json, "title", text_string(&title));
	text_release(&title);
	json_member_u64_string(json, "begin_ns", writer->data->grid.begin_ns);
	json_name(json, "end_ns");
	put_time(writer, census->last_ns > writer->data->grid.begin_ns ? census->last_ns
								       : writer->data->grid.begin_ns);
	json_member_bool(json, "is_part", census->is_range);
	put_names(writer);
	put_report(writer);
	put_neighbours(writer);
	put_threads(writer);
	put_spans(writer);
	put_stays(writer);
	put_segments(writer);
	err = put_marks(writer);
	put_losses(writer);
	put_grid(writer);
	err = err ? err : put_flames(writer);
	put_strings(writer);
	capture_json_end(json, census);
	return err ? err : json->err;
}

int view_json(struct json *json, const struct view_data *data, const struct txtrace_log_info *info,
	      const struct log_census *census)
{
	size_t cnt = string_pool_count(data->strings) + 1;
	struct writer writer = { .json = json, .data = data };
	int err = -ENOMEM;

	writer.places = calloc(cnt, sizeof(*writer.places));
	writer.used = calloc(cnt, sizeof(*writer.used));
	if (writer.places && writer.used)
		err = put_all(&writer, info, census);
	free(writer.places);
	free(writer.used);
	return err;
}
