/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chrome's Trace Event JSON: read by Perfetto, chrome://tracing, Speedscope and others. Times are in µs with
 * the ns behind the point. Viewers hold them as doubles, in which the ns of a machine that has been up for
 * months get lost: so they count from the hour before the capture.
 *
 * A slice on a thread is a complete event ("X"). A row is a (pid, tid) there, so a thread's states get a tid
 * of their own, above all that Linux gives out; lanes are asynchronous events ("b", "e"), one id each.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "export/formats.h"
#include "base/key_map.h"
#include "export/picture.h"

#define FIRST_OWN_TID (1u << 30) /* Linux ends at 2^22 */
#define OWN_PID (1u << 30)       /* of what belongs to no process */
/* whose second end has not come; beyond it arrows are left out, and the links' instants tell */
#define FLOW_MAX 65536

struct chrome {
	struct json json;
	uint64_t base_ns; /* where times count from */
	struct key_map flows; /* by number */
};

/* The end of an arrow that came first. */
struct flow_end {
	uint64_t time_ns;
	uint64_t pid;
	uint64_t tid;
};

/* ---- pieces ---- */

static uint64_t pid_of(const struct picture_row *row)
{
	return row->pid == NO_PROCESS ? OWN_PID : row->pid;
}

/*
 * Tid 0, which viewers take for the main thread, and those from 2^30 on are no thread's: they get a number
 * that collides with nothing.
 */
static uint64_t tid_of(const struct picture_row *row)
{
	return row->kind == ROW_THREAD && row->tid > 0 && row->tid < FIRST_OWN_TID ? row->tid
										   : FIRST_OWN_TID + row->id;
}

/* Each event on a line of its own. */
static struct json *begin_event(struct chrome *chrome, const char *phase, uint64_t pid, uint64_t tid)
{
	struct json *json = &chrome->json;

	json_line_break(json);
	json_object_begin(json);
	json_member_text(json, "ph", phase);
	json_member_u64(json, "pid", pid);
	json_member_u64(json, "tid", tid);
	return json;
}

static int end_event(struct json *json)
{
	json_object_end(json);
	return json->err;
}

#define HOUR_NS (3600 * UINT64_C(1000000000))

static uint64_t base_of(const struct txtrace_log_info *info)
{
	uint64_t hours = info->start_monotonic_ns / HOUR_NS;

	return hours > 0 ? (hours - 1) * HOUR_NS : 0;
}

/* Times that no machine has are drawn together, where a viewer's signed numbers do not overflow yet. */
#define LAST_NS (UINT64_C(1) << 62)

static uint64_t time_of(const struct chrome *chrome, uint64_t ns)
{
	if (ns <= chrome->base_ns)
		return 0;
	return ns - chrome->base_ns < LAST_NS ? ns - chrome->base_ns : LAST_NS;
}

static void member_us(struct json *json, const char *name, uint64_t ns)
{
	json_name(json, name);
	json_u64_scaled(json, ns, 3);
}

static void member_time(struct chrome *chrome, uint64_t ns)
{
	member_us(&chrome->json, "ts", time_of(chrome, ns));
}

static void member_id(struct json *json, uint64_t id)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, id);
	json_name(json, "id2");
	json_object_begin(json);
	json_member_text(json, "local", text);
	json_object_end(json);
}

static void put_truncated(struct json *json, struct txtrace_string string)
{
	static const char ellipsis[] = "\xe2\x80\xa6";
	char *text = malloc(string.length + sizeof(ellipsis));

	if (!text) {
		json->err = json->err ? json->err : -ENOMEM;
		return;
	}
	if (string.length > 0)
		memcpy(text, string.bytes, string.length);
	memcpy(text + string.length, ellipsis, sizeof(ellipsis));
	json_string(json, text, string.length + sizeof(ellipsis) - 1);
	free(text);
}

static void put_double(struct json *json, uint64_t bits)
{
	double number;

	memcpy(&number, &bits, sizeof(number));
	if (isfinite(number))
		json_double(json, number);
	else
		json_text(json, isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity");
}

static void put_value(struct json *json, const struct picture_arg *arg)
{
	char text[24];

	switch (arg->type) {
	case ARG_BOOL:
		json_bool(json, arg->value != 0);
		break;
	case ARG_INT:
		json_i64(json, (int64_t)arg->value);
		break;
	case ARG_UINT:
		json_u64(json, arg->value);
		break;
	case ARG_ID:
		json_u64_string(json, arg->value);
		break;
	case ARG_DOUBLE:
		put_double(json, arg->value);
		break;
	case ARG_POINTER:
		snprintf(text, sizeof(text), "0x%" PRIx64, arg->value);
		json_text(json, text);
		break;
	case ARG_STRING:
	case ARG_BYTES:
		if (arg->is_truncated)
			put_truncated(json, arg->string);
		else
			json_string(json, arg->string.bytes, arg->string.length);
		break;
	case ARG_GROUP:
		json_object_begin(json);
		break;
	}
}

static void member_args(struct json *json, const struct picture_arg *args, size_t cnt)
{
	size_t in_group = 0;

	json_name(json, "args");
	json_object_begin(json);
	for (size_t i = 0; i < cnt; i++) {
		json_name_string(json, args[i].name.bytes, args[i].name.length);
		put_value(json, &args[i]);
		if (args[i].type == ARG_GROUP)
			in_group = args[i].value;
		else if (in_group > 0 && --in_group == 0)
			json_object_end(json);
	}
	json_object_end(json);
}

/* Colours of chrome://tracing; other viewers choose by the name. */
static const char *color_of(const struct shape *shape)
{
	static const struct {
		const char *name;
		const char *color;
	} colors[] = {
		{ "running", "thread_state_running" },
		{ "runnable", "thread_state_runnable" },
		{ "blocked: disk", "thread_state_iowait" },
	};

	for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++) {
		if (shape->name.length == strlen(colors[i].name) &&
		    !memcmp(shape->name.bytes, colors[i].name, shape->name.length))
			return colors[i].color;
	}
	return "thread_state_sleeping";
}

/* ---- rows ---- */

static int name_row(struct chrome *chrome, const char *what, uint64_t pid, uint64_t tid,
		    struct txtrace_string name)
{
	struct json *json = begin_event(chrome, "M", pid, tid);
	struct picture_arg arg = { .name = { "name", 4 }, .type = ARG_STRING, .string = name };

	json_member_text(json, "name", what);
	member_args(json, &arg, 1);
	return end_event(json);
}

static int sort_row(struct chrome *chrome, uint64_t pid, uint64_t tid, uint64_t index)
{
	struct json *json = begin_event(chrome, "M", pid, tid);
	struct picture_arg arg = { .name = { "sort_index", 10 }, .type = ARG_UINT, .value = index };

	json_member_text(json, "name", "thread_sort_index");
	member_args(json, &arg, 1);
	return end_event(json);
}

static int chrome_row(void *canvas, const struct picture_row *row)
{
	struct chrome *chrome = canvas;
	uint64_t pid = pid_of(row), tid = tid_of(row);
	char text[32];
	int err;

	switch (row->kind) {
	case ROW_PROCESS:
		return row->name.length > 0 ? name_row(chrome, "process_name", pid, 0, row->name) : 0;
	case ROW_THREAD:
		err = sort_row(chrome, pid, tid, 2 * (uint64_t)row->tid);
		return err || row->name.length == 0 ? err
						    : name_row(chrome, "thread_name", pid, tid, row->name);
	case ROW_STATES: /* right below its thread */
		snprintf(text, sizeof(text), "state of %" PRIu32, row->tid);
		err = name_row(chrome, "thread_name", pid, tid,
			       (struct txtrace_string){ text, strlen(text) });
		return err ? err : sort_row(chrome, pid, tid, 2 * (uint64_t)row->tid + 1);
	case ROW_LANE: /* named by what is drawn on it, or as a track */
		if (row->is_track)
			return name_row(chrome, "thread_name", pid, tid, row->name);
		return row->pid == NO_PROCESS
			       ? name_row(chrome, "process_name", pid, 0,
					  (struct txtrace_string){ "txtrace", strlen("txtrace") })
			       : 0;
	case ROW_COUNTER:
		return 0;
	}
	return 0;
}

/* ---- shapes ---- */

/* A viewer calls the row of async events as these are called. */
static bool is_async(const struct picture_row *row)
{
	return row->kind == ROW_LANE && !row->is_track;
}

static void begin_shape(struct chrome *chrome, const char *phase, const struct shape *shape, uint64_t time_ns)
{
	struct json *json = begin_event(chrome, phase, pid_of(shape->row), tid_of(shape->row));

	json_member_text(json, "cat", shape->category);
	json_member_string(json, "name", shape->name.bytes, shape->name.length);
	member_time(chrome, time_ns);
	if (is_async(shape->row))
		member_id(json, shape->row->id);
}

static int draw_flow_end(struct chrome *chrome, const char *phase, uint64_t number,
			 const struct flow_end *end)
{
	struct json *json = begin_event(chrome, phase, end->pid, end->tid);

	json_member_text(json, "cat", "link");
	json_member_text(json, "name", "link");
	member_time(chrome, end->time_ns);
	json_member_u64(json, "id", number);
	if (phase[0] == 'f')
		json_member_text(json, "bp", "e");
	return end_event(json);
}

/*
 * An arrow can only begin at a slice that began before the one where it ends; both are known once the second
 * has come.
 */
static int draw_flow(struct chrome *chrome, uint64_t number, const struct shape *shape)
{
	struct flow_end here = { .time_ns = shape->begin_ns,
				 .pid = pid_of(shape->row),
				 .tid = tid_of(shape->row) };
	struct flow_end *there;
	bool is_new, is_first;
	int err;

	if (chrome->flows.count >= FLOW_MAX && !key_map_find(&chrome->flows, &number, sizeof(number)))
		key_map_prune(&chrome->flows, NULL, NULL);
	there = key_map_add(&chrome->flows, &number, sizeof(number), &is_new);
	if (!there)
		return -ENOMEM;
	if (is_new) {
		*there = here;
		return 0;
	}
	is_first = here.time_ns < there->time_ns;
	err = draw_flow_end(chrome, "s", number, is_first ? &here : there);
	if (!err)
		err = draw_flow_end(chrome, "f", number, is_first ? there : &here);
	key_map_remove(&chrome->flows, &number, sizeof(number));
	return err;
}

static int draw_slice(struct chrome *chrome, const struct shape *shape)
{
	struct json *json = &chrome->json;
	bool is_lane = is_async(shape->row);
	int err;

	begin_shape(chrome, is_lane ? "b" : "X", shape, shape->begin_ns);
	if (!is_lane)
		member_us(json, "dur", time_of(chrome, shape->end_ns) - time_of(chrome, shape->begin_ns));
	if (shape->row->kind == ROW_STATES)
		json_member_text(json, "cname", color_of(shape));
	member_args(json, shape->args, shape->arg_cnt);
	err = end_event(json);
	if (is_lane && !err) {
		begin_shape(chrome, "e", shape, shape->end_ns);
		return end_event(json);
	}
	for (size_t i = 0; i < shape->flow_cnt && !err; i++)
		err = draw_flow(chrome, shape->flows[i], shape);
	return err;
}

static int chrome_draw(void *canvas, const struct shape *shape)
{
	struct chrome *chrome = canvas;
	struct json *json = &chrome->json;
	struct picture_arg value = { .name = { "value", 5 },
				     .type = ARG_INT,
				     .value = (uint64_t)shape->value };

	switch (shape->kind) {
	case SHAPE_SLICE:
		return draw_slice(chrome, shape);
	case SHAPE_INSTANT:
		begin_shape(chrome, is_async(shape->row) ? "n" : "i", shape, shape->begin_ns);
		if (!is_async(shape->row))
			json_member_text(json, "s", "t");
		member_args(json, shape->args, shape->arg_cnt);
		return end_event(json);
	case SHAPE_COUNT:
		begin_shape(chrome, "C", shape, shape->begin_ns);
		member_args(json, &value, 1);
		return end_event(json);
	}
	return 0;
}

/* ---- beginning and end ---- */

static void member_info(struct json *json, const char *name, const char *text, size_t size)
{
	json_member_string(json, name, text, strnlen(text, size));
}

static int write_beginning(struct chrome *chrome, const struct txtrace_log_info *info)
{
	struct json *json = &chrome->json;

	json_object_begin(json);
	json_member_text(json, "displayTimeUnit", "ns");
	json_name(json, "otherData");
	json_object_begin(json);
	json_member_text(json, "clock", "CLOCK_MONOTONIC");
	json_member_u64(json, "base_ns", chrome->base_ns);
	json_member_u64(json, "start_monotonic_ns", info->start_monotonic_ns);
	json_member_u64(json, "start_realtime_ns", info->start_realtime_ns);
	member_info(json, "host", info->host, sizeof(info->host));
	member_info(json, "kernel", info->kernel, sizeof(info->kernel));
	member_info(json, "command", info->command, sizeof(info->command));
	member_info(json, "recorder", info->recorder, sizeof(info->recorder));
	member_info(json, "options", info->options, sizeof(info->options));
	json_object_end(json);
	json_name(json, "traceEvents");
	json_array_begin(json);
	return json->err;
}

static int chrome_finish(void *canvas)
{
	struct chrome *chrome = canvas;

	json_array_end(&chrome->json);
	json_object_end(&chrome->json);
	json_newline(&chrome->json);
	return chrome->json.err;
}

static void chrome_free(void *canvas)
{
	struct chrome *chrome = canvas;

	json_release(&chrome->json);
	key_map_release(&chrome->flows);
	free(chrome);
}

static const struct canvas_ops chrome_canvas = {
	.row = chrome_row,
	.draw = chrome_draw,
	.finish = chrome_finish,
	.free = chrome_free,
};

static int chrome_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	struct chrome *chrome = calloc(1, sizeof(*chrome));
	struct picture *picture;

	if (!chrome)
		return -ENOMEM;
	chrome->base_ns = base_of(info);
	json_init_file(&chrome->json, out);
	key_map_init(&chrome->flows, sizeof(struct flow_end), NULL);
	picture = picture_new(&chrome_canvas, chrome, info);
	if (!picture)
		return -ENOMEM;
	*state = picture;
	return write_beginning(chrome, info);
}

const struct export_format format_chrome = {
	.name = "chrome",
	.help = "Trace Event JSON for Perfetto, chrome://tracing, Speedscope",
	.suffix = ".json",
	.open = chrome_open,
	.survey = picture_survey,
	.span = picture_span,
	.run = picture_run,
	.wake = picture_wake,
	.thread = picture_thread,
	.attribute = picture_attribute,
	.instant = picture_instant,
	.counter = picture_counter,
	.link = picture_link,
	.open_span = picture_open_span,
	.loss = picture_loss,
	.dropped = picture_dropped,
	.damage = picture_damage,
	.finish = picture_finish,
	.free = picture_free,
};
