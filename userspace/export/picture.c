/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/track_names.h"
#include "export/crossings.h"
#include "export/picture_args.h"
#include "export/picture_rows.h"
#include "export/span_marks.h"

#define MARK_BYTES_MAX (256 << 20)

struct picture {
	const struct canvas_ops *ops;
	void *canvas;
	struct picture_rows rows;
	struct crossings *crossings; /* NULL: there was no survey */
	struct span_marks marks;
	struct picture_args args;
	uint64_t flow_cnt;
	uint64_t last_ns; /* of all times seen */
	uint64_t undrawn_open_span_cnt;
	bool is_finishing;
};

static const struct txtrace_string no_name = { 0 };

static struct txtrace_string literal(const char *text)
{
	return (struct txtrace_string){ .bytes = text, .length = strlen(text) };
}

static struct txtrace_string or_else(struct txtrace_string string, const char *otherwise)
{
	return string.length > 0 ? string : literal(otherwise);
}

/* ---- beginning and end ---- */

static int drop_mark(void *context, const struct span_mark *mark);

struct picture *picture_new(const struct canvas_ops *ops, void *canvas, const struct txtrace_log_info *info)
{
	struct picture *picture = calloc(1, sizeof(*picture));

	if (!picture) {
		ops->free(canvas);
		return NULL;
	}
	picture->ops = ops;
	picture->canvas = canvas;
	picture_rows_init(&picture->rows, ops, canvas, info);
	span_marks_init(&picture->marks, MARK_BYTES_MAX, drop_mark, picture);
	return picture;
}

void picture_free(void *state)
{
	struct picture *picture = state;

	picture_rows_release(&picture->rows);
	crossings_free(picture->crossings);
	span_marks_release(&picture->marks);
	args_release(&picture->args);
	picture->ops->free(picture->canvas);
	free(picture);
}

const void *picture_canvas(const struct picture *picture)
{
	return picture->canvas;
}

int picture_survey(void *state, const struct txtrace_record *record)
{
	struct picture *picture = state;

	if (record->kind != TXTRACE_RECORD_SPAN)
		return 0;
	if (!picture->crossings) {
		picture->crossings = crossings_new();
		picture->rows.crossings = picture->crossings;
		if (!picture->crossings)
			return -ENOMEM;
	}
	return crossings_see(picture->crossings, &record->span);
}

/* ---- shapes ---- */

static void see(struct picture *picture, uint64_t time_ns)
{
	if (time_ns > picture->last_ns)
		picture->last_ns = time_ns;
}

/* With the args that have been gathered. */
static int draw(struct picture *picture, struct shape *shape)
{
	shape->args = picture->args.args;
	shape->arg_cnt = picture->args.cnt;
	if (picture->args.err)
		return picture->args.err;
	return picture->ops->draw(picture->canvas, shape);
}

static int draw_instant(struct picture *picture, const struct picture_row *row, const char *category,
			struct txtrace_string name, uint64_t time_ns)
{
	struct shape shape = {
		.kind = SHAPE_INSTANT,
		.row = row,
		.category = category,
		.name = name,
		.begin_ns = time_ns,
		.end_ns = time_ns,
	};

	see(picture, time_ns);
	return draw(picture, &shape);
}

static uint64_t *flows_of(const struct span_mark *mark, size_t *cnt)
{
	const struct marked_link *link;
	uint64_t *flows;
	size_t i = 0;

	*cnt = 0;
	for (link = mark ? mark->links : NULL; link; link = link->next)
		(*cnt)++;
	flows = calloc(*cnt + 1, sizeof(*flows));
	for (link = mark ? mark->links : NULL; link && flows; link = link->next)
		flows[i++] = link->number;
	return flows;
}

/* The one that the program has given it; empty: none. */
static struct txtrace_string track_of(const struct span_mark *mark)
{
	struct txtrace_string track = no_name;

	for (const struct marked_attribute *marked = mark ? mark->attributes : NULL; marked;
	     marked = marked->next)
		if (track_is_given(&marked->attribute))
			track = marked->attribute.string;
	return track;
}

static int draw_span(struct picture *picture, const struct txtrace_span *span, const struct span_mark *mark)
{
	struct picture_row row;
	struct shape shape = {
		.kind = SHAPE_SLICE,
		.row = &row,
		.category = "span",
		.name = or_else(span->label, NO_LABEL),
		.begin_ns = span->begin_ns,
		.end_ns = span->end_ns > span->begin_ns ? span->end_ns : span->begin_ns,
	};
	uint64_t *flows;
	int err;

	see(picture, shape.end_ns);
	err = picture_rows_span(&picture->rows, span, track_of(mark), shape.end_ns, &row);
	if (err)
		return err;
	flows = flows_of(mark, &shape.flow_cnt);
	if (!flows)
		return -ENOMEM;
	shape.flows = flows;
	args_clear(&picture->args);
	args_add_span(&picture->args, span, mark);
	err = draw(picture, &shape);
	free(flows);
	return err;
}

/* ---- records ---- */

int picture_span(void *state, const struct txtrace_span *span)
{
	struct picture *picture = state;
	int err = draw_span(picture, span, span_marks_find(&picture->marks, span->pid, span->id));

	span_marks_forget(&picture->marks, span->pid, span->id);
	return err;
}

/* In the viewer's own terms, if it has any. */
static int tell_run(struct picture *picture, struct drawn_thread *thread, const struct thread_run *told)
{
	thread->cpu = told->run->cpu;
	return picture->ops->run ? picture->ops->run(picture->canvas, told) : 0;
}

int picture_run(void *state, const struct txtrace_run *run)
{
	struct picture *picture = state;
	struct state_slice slices[STATE_COUNT];
	struct thread_run told = { .run = run, .slices = slices };
	struct drawn_thread *thread;
	unsigned int cnt;
	int err = picture_rows_states(&picture->rows, run->pid, run->tid, &thread);

	if (err)
		return err;
	see(picture, run->end_ns);
	told.has_before = thread->state.has_run;
	told.is_before_blocked = told.has_before && thread->state.left_as == TXTRACE_LEFT_BLOCKED;
	told.before_ns = thread->state.end_ns;
	told.before_cpu = thread->cpu;
	told.wakes = thread->wakes;
	told.slice_cnt = cnt = state_row_run(&thread->state, run, slices);
	for (unsigned int i = 0; i < cnt && !err; i++) {
		struct shape shape = {
			.kind = SHAPE_SLICE,
			.row = &thread->states,
			.category = "state",
			.name = literal(state_name(slices[i].state, slices[i].reason)),
			.begin_ns = slices[i].begin_ns,
			.end_ns = slices[i].end_ns,
		};

		args_clear(&picture->args);
		args_add_state(&picture->args, &slices[i], run);
		err = draw(picture, &shape);
	}
	return err ? err : tell_run(picture, thread, &told);
}

/*
 * An arrow from the waker's row of states to that of the woken thread, if the waker is a thread that has
 * rows.
 */
int picture_wake(void *state, const struct txtrace_wake *wake)
{
	struct picture *picture = state;
	struct drawn_thread *thread, *waker;
	uint64_t flow = ++picture->flow_cnt;
	bool has_waker = wake->waker_tid &&
			 picture_rows_know_thread(&picture->rows, wake->waker_pid, wake->waker_tid);
	struct shape shape = {
		.kind = SHAPE_INSTANT, .category = "wake", .begin_ns = wake->time_ns, .end_ns = wake->time_ns
	};
	int err;

	see(picture, wake->time_ns);
	if (has_waker) {
		shape.flows = &flow;
		shape.flow_cnt = 1;
		err = picture_rows_states(&picture->rows, wake->waker_pid, wake->waker_tid, &waker);
		if (err)
			return err;
		args_clear(&picture->args);
		args_add(&picture->args, "tid", ARG_UINT, wake->tid);
		args_add(&picture->args, "pid", ARG_UINT, wake->pid);
		shape.row = &waker->states;
		shape.name = literal("wakes");
		err = draw(picture, &shape);
		if (err)
			return err;
	}
	err = picture_rows_states(&picture->rows, wake->pid, wake->tid, &thread);
	if (err)
		return err;
	thread->wakes[thread->wake_cnt++ % THREAD_WAKE_CNT] =
		(struct thread_wake){ wake->time_ns, wake->waker_tid, wake->cpu, wake->flags };
	args_clear(&picture->args);
	args_add_wake(&picture->args, wake);
	shape.row = &thread->states;
	shape.name = literal("woken");
	return draw(picture, &shape);
}

int picture_thread(void *state, const struct txtrace_thread *record)
{
	struct picture *picture = state;
	struct drawn_thread *thread;
	int err = picture_rows_thread(&picture->rows, record->pid, record->tid, record->comm, &thread);

	if (err)
		return err;
	see(picture, record->time_ns);
	thread->has_exited = record->is_exit;
	return 0;
}

int picture_attribute(void *state, const struct txtrace_attribute *attribute)
{
	struct picture *picture = state;

	see(picture, attribute->time_ns);
	return span_marks_add_attribute(&picture->marks, attribute);
}

int picture_instant(void *state, const struct txtrace_instant *instant)
{
	struct picture *picture = state;
	struct drawn_thread *thread;
	int err = picture_rows_thread(&picture->rows, instant->pid, instant->tid, no_name, &thread);

	if (err)
		return err;
	args_clear(&picture->args);
	if (instant->span)
		args_add(&picture->args, "span", ARG_ID, instant->span);
	return draw_instant(picture, &thread->row, "instant", or_else(instant->name, NO_NAME),
			    instant->time_ns);
}

int picture_counter(void *state, const struct txtrace_counter *counter)
{
	struct picture *picture = state;
	struct picture_row row;
	int err = picture_rows_counter(&picture->rows, counter->pid, counter->name, &row);

	if (err)
		return err;
	see(picture, counter->time_ns);
	args_clear(&picture->args);
	return draw(picture, &(struct shape){
				     .kind = SHAPE_COUNT,
				     .row = &row,
				     .category = "counter",
				     .name = row.name,
				     .begin_ns = counter->time_ns,
				     .end_ns = counter->time_ns,
				     .value = counter->value,
			     });
}

/*
 * An instant that says which way the link points, and an arrow between the spans, for a viewer in the order
 * of their begins.
 */
int picture_link(void *state, const struct txtrace_link *link)
{
	struct picture *picture = state;
	struct drawn_thread *thread;
	uint64_t flow = ++picture->flow_cnt;
	int err = picture_rows_thread(&picture->rows, link->pid, link->tid, no_name, &thread);

	if (err)
		return err;
	args_clear(&picture->args);
	args_add(&picture->args, "from", ARG_ID, link->from);
	args_add(&picture->args, "to", ARG_ID, link->to);
	err = draw_instant(picture, &thread->row, "link", or_else(link->name, NO_NAME), link->time_ns);
	if (!err && link->from)
		err = span_marks_add_link(&picture->marks, link->pid, link->from, flow);
	if (!err && link->to && link->to != link->from)
		err = span_marks_add_link(&picture->marks, link->pid, link->to, flow);
	return err;
}

int picture_open_span(void *state, const struct txtrace_open_span *open_span)
{
	struct picture *picture = state;

	see(picture, open_span->time_ns);
	return span_marks_add_open(&picture->marks, open_span);
}

/* ---- what is missing ---- */

/* What is known of it is in the args already. */
static int draw_gap(struct picture *picture, const char *name, uint64_t first_ns, uint64_t last_ns)
{
	struct picture_row row;
	struct shape shape = {
		.kind = SHAPE_SLICE,
		.row = &row,
		.category = "loss",
		.name = literal(name),
		.begin_ns = first_ns,
		.end_ns = last_ns > first_ns ? last_ns : first_ns,
	};
	int err = picture_rows_loss(&picture->rows, shape.begin_ns, shape.end_ns, &row);

	if (err)
		return err;
	see(picture, shape.end_ns);
	return draw(picture, &shape);
}

int picture_loss(void *state, const struct txtrace_loss *loss)
{
	struct picture *picture = state;

	args_clear(&picture->args);
	args_add_loss(&picture->args, loss);
	return draw_gap(picture, "lost events", loss->first_ns, loss->last_ns);
}

int picture_dropped(void *state, const struct txtrace_dropped *dropped)
{
	struct picture *picture = state;

	args_clear(&picture->args);
	args_add_dropped(&picture->args, dropped);
	return draw_gap(picture, "records not written", dropped->first_ns, dropped->last_ns);
}

/* It has no time: it is shown where reading had come to. */
int picture_damage(void *state, const struct txtrace_damage *damage)
{
	struct picture *picture = state;
	int err = picture_rows_capture(&picture->rows);

	if (err)
		return err;
	args_clear(&picture->args);
	args_add_damage(&picture->args, damage);
	return draw_instant(picture, &picture->rows.capture, "loss", literal("damage"), picture->last_ns);
}

/* The log ended, and the span had begun and not ended: nothing is known of where its time went. */
static int draw_open_span(struct picture *picture, const struct txtrace_open_span *open,
			  const struct span_mark *mark)
{
	uint64_t wall_ns = picture->last_ns > open->begin_ns ? picture->last_ns - open->begin_ns : 0;
	struct txtrace_span span = {
		.id = open->id,
		.parent = open->parent,
		.pid = open->pid,
		.tid = open->tid,
		.flags = TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND |
			 (open->key.length > 0 ? TXTRACE_SPAN_KEYED : 0),
		.begin_ns = open->begin_ns,
		.end_ns = picture->last_ns,
		.work_ns = wall_ns,
		.ledger.unknown_ns = wall_ns,
		.label = open->label,
		.key = open->key,
	};

	return draw_span(picture, &span, mark);
}

static int draw_attribute(struct picture *picture, const struct txtrace_attribute *attribute)
{
	struct drawn_thread *thread;
	int err = picture_rows_thread(&picture->rows, attribute->pid, attribute->tid, no_name, &thread);

	if (err)
		return err;
	args_clear(&picture->args);
	args_add(&picture->args, "span", ARG_ID, attribute->span);
	args_add_attribute(&picture->args, attribute);
	return draw_instant(picture, &thread->row, "attribute", literal("attribute"), attribute->time_ns);
}

/* What was said about a span that did not come, or comes after more than we keep. */
static int drop_mark(void *context, const struct span_mark *mark)
{
	struct picture *picture = context;
	int err = 0;

	if (mark->open && picture->is_finishing)
		return draw_open_span(picture, mark->open, mark);
	picture->undrawn_open_span_cnt += mark->open != NULL;
	for (const struct marked_attribute *marked = mark->attributes; marked && !err; marked = marked->next)
		err = draw_attribute(picture, &marked->attribute);
	return err;
}

int picture_finish(void *state, const struct export_totals *totals)
{
	struct picture *picture = state;
	int err;

	picture->is_finishing = true;
	see(picture, totals->census.last_ns);
	err = span_marks_drop_all(&picture->marks);
	if (!err)
		err = picture_rows_capture(&picture->rows);
	if (err)
		return err;
	args_clear(&picture->args);
	args_add_totals(&picture->args, totals);
	if (picture->undrawn_open_span_cnt)
		args_add(&picture->args, "undrawn_open_span_cnt", ARG_UINT, picture->undrawn_open_span_cnt);
	err = draw_instant(picture, &picture->rows.capture, "summary", literal("end of the log"),
			   picture->last_ns);
	return err ? err : picture->ops->finish(picture->canvas);
}
