/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Speedscope's file format: a `sampled` profile for each part of the time, whose samples are stacks of span
 * labels and code, with their ns as weights, and an `evented` profile for each thread, of the spans that nest
 * on it. Frames are named at the end of the file, when all are known. A profile's samples and weights are two
 * lists: the samples are walked twice.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/saturating.h"
#include "base/string_pool.h"
#include "base/temporary_file.h"
#include "base/text.h"
#include "export/formats.h"
#include "export/path_profile.h"
#include "export/thread_slices.h"
#include "export/timeline.h"

#define DEPTH_MAX 1024 /* of spans in each other on a thread */
#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	struct path_profile *profile; /* first: path_profile.h */
	struct json json;
	struct thread_slices *slices;
	struct string_pool *frames; /* by number */
	char recorder[64];
	char command[256];

	/* of the profile that is being written */
	bool wants_weights;
	int value; /* enum path_value, or ALL_PARTS */
	uint64_t sum_ns;

	/* of the thread that is being written */
	bool has_thread;
	uint32_t thread;
	struct open_frame {
		uint32_t frame;
		uint64_t end_ns;
	} stack[DEPTH_MAX];
	size_t depth;
	uint64_t end_ns; /* of its last event */

	uint64_t not_nested_cnt;
};

#define ALL_PARTS (-1)

/* In this order; the first one is shown first. */
static const struct {
	const char *name;
	int value;
} profiles[] = {
	{ "all parts", ALL_PARTS },	  { "on-CPU", PATH_ON_CPU },
	{ "runnable", PATH_RUNNABLE },	  { "blocked", PATH_BLOCKED },
	{ "detached", PATH_DETACHED },	  { "unknown", PATH_UNKNOWN },
	{ "interrupts", PATH_INTERRUPT },
	{ "stolen", PATH_STOLEN },
};

static uint64_t weight_of(const struct speedscope *speedscope, const struct path_sample *sample)
{
	uint64_t sum = 0;

	if (speedscope->value != ALL_PARTS)
		return sample->values[speedscope->value];
	for (int value = 0; value < PATH_SPANS; value++)
		increase(&sum, sample->values[value]);
	return sum;
}

static int put_sample(void *context, const struct path_sample *sample)
{
	struct speedscope *speedscope = context;
	uint64_t weight_ns = weight_of(speedscope, sample);
	struct json *json = &speedscope->json;

	if (weight_ns == 0)
		return 0;
	if (speedscope->wants_weights) {
		increase(&speedscope->sum_ns, weight_ns);
		json_u64(json, weight_ns);
		return json->err;
	}
	json_line_break(json);
	json_array_begin(json);
	for (size_t i = 0; i < sample->frame_cnt; i++) {
		struct txtrace_string frame = sample->frames[i];
		uint32_t number;
		int err = string_pool_add(speedscope->frames, frame.bytes, frame.length, &number);

		if (err)
			return err;
		json_u64(json, number);
	}
	json_array_end(json);
	return json->err;
}

static int put_profile(struct speedscope *speedscope, const char *name, int value)
{
	struct json *json = &speedscope->json;
	int err;

	speedscope->value = value;
	speedscope->sum_ns = 0;
	json_line_break(json);
	json_object_begin(json);
	json_member_text(json, "type", "sampled");
	json_member_text(json, "name", name);
	json_member_text(json, "unit", "nanoseconds");
	json_name(json, "samples");
	json_array_begin(json);
	speedscope->wants_weights = false;
	err = path_profile_walk(speedscope->profile, put_sample, speedscope);
	json_array_end(json);
	json_line_break(json);
	json_name(json, "weights");
	json_array_begin(json);
	speedscope->wants_weights = true;
	if (!err)
		err = path_profile_walk(speedscope->profile, put_sample, speedscope);
	json_array_end(json);
	json_member_u64(json, "startValue", 0);
	json_member_u64(json, "endValue", speedscope->sum_ns);
	json_object_end(json);
	return err ? err : json->err;
}

/* ---- threads ---- */

static void put_event(struct speedscope *speedscope, const char *type, uint32_t frame, uint64_t time_ns)
{
	struct json *json = &speedscope->json;

	speedscope->end_ns = time_ns - thread_slices_first_ns(speedscope->slices);
	json_line_break(json);
	json_object_begin(json);
	json_member_text(json, "type", type);
	json_member_u64(json, "frame", frame);
	json_member_u64(json, "at", speedscope->end_ns);
	json_object_end(json);
}

/* Closes what has ended until then. */
static void close_frames(struct speedscope *speedscope, uint64_t time_ns)
{
	while (speedscope->depth > 0 && speedscope->stack[speedscope->depth - 1].end_ns <= time_ns) {
		const struct open_frame *frame = &speedscope->stack[--speedscope->depth];

		put_event(speedscope, "C", frame->frame, frame->end_ns);
	}
}

static void end_thread(struct speedscope *speedscope)
{
	struct json *json = &speedscope->json;

	if (!speedscope->has_thread)
		return;
	close_frames(speedscope, UINT64_MAX);
	json_array_end(json);
	json_member_u64(json, "endValue", speedscope->end_ns);
	json_object_end(json);
	speedscope->has_thread = false;
}

static int begin_thread(struct speedscope *speedscope, const struct sliced_thread *thread)
{
	struct json *json = &speedscope->json;
	struct text name = { 0 };
	int err;

	text_append(&name, thread->comm);
	text_append_format(&name, name.length > 0 ? " %u" : "%u", thread->tid);
	json_line_break(json);
	json_object_begin(json);
	json_member_text(json, "type", "evented");
	json_member_text(json, "name", text_string(&name));
	json_member_text(json, "unit", "nanoseconds");
	json_member_u64(json, "startValue", 0);
	json_name(json, "events");
	json_array_begin(json);
	speedscope->has_thread = true;
	speedscope->thread = thread->number;
	err = name.err;
	text_release(&name);
	return err;
}

static int put_slice(struct speedscope *speedscope, const struct sliced_thread *thread,
		     const struct thread_slice *slice)
{
	size_t length;
	const char *name = thread_slices_name(speedscope->slices, slice->name, &length);
	uint32_t frame;
	int err = 0;

	if (!speedscope->has_thread || speedscope->thread != thread->number) {
		end_thread(speedscope);
		err = begin_thread(speedscope, thread);
	}
	close_frames(speedscope, slice->begin_ns);
	if (speedscope->depth == DEPTH_MAX ||
	    (speedscope->depth > 0 && speedscope->stack[speedscope->depth - 1].end_ns < slice->end_ns)) {
		speedscope->not_nested_cnt++;
		return err;
	}
	if (!err)
		err = string_pool_add(speedscope->frames, name, length, &frame);
	if (err)
		return err;
	speedscope->stack[speedscope->depth++] = (struct open_frame){ frame, slice->end_ns };
	put_event(speedscope, "O", frame, slice->begin_ns);
	return speedscope->json.err;
}

static int put_threads(struct speedscope *speedscope)
{
	struct sliced_thread thread;
	struct thread_slice slice;
	int err = thread_slices_end(speedscope->slices), got;

	while (!err && (got = thread_slices_next(speedscope->slices, &thread, &slice)) != 0)
		err = got < 0 ? got : put_slice(speedscope, &thread, &slice);
	end_thread(speedscope);
	return err;
}

static int speedscope_span(void *state, const struct txtrace_span *span)
{
	struct speedscope *speedscope = state;
	int err = path_profile_span(state, span);

	if (err)
		return err;
	if (span_is_of_thread(span))
		return thread_slices_add_span(speedscope->slices, span);
	speedscope->not_nested_cnt++;
	return 0;
}

static int speedscope_thread(void *state, const struct txtrace_thread *thread)
{
	return thread_slices_call(((struct speedscope *)state)->slices, thread);
}

/* ---- the end ---- */

static void put_frames(struct speedscope *speedscope)
{
	struct json *json = &speedscope->json;

	json_line_break(json);
	json_name(json, "shared");
	json_object_begin(json);
	json_name(json, "frames");
	json_array_begin(json);
	for (uint32_t i = 0; i < string_pool_count(speedscope->frames); i++) {
		size_t length;
		const char *name = string_pool_get(speedscope->frames, i, &length);

		json_line_break(json);
		json_object_begin(json);
		json_member_string(json, "name", name, length);
		json_object_end(json);
	}
	json_array_end(json);
	json_object_end(json);
}

static int speedscope_finish(void *state, const struct export_totals *totals)
{
	struct speedscope *speedscope = state;
	struct json *json = &speedscope->json;
	int err = 0;

	(void)totals;
	json_object_begin(json);
	json_member_text(json, "$schema", SCHEMA);
	json_member_string(json, "exporter", speedscope->recorder,
			   strnlen(speedscope->recorder, sizeof(speedscope->recorder)));
	json_member_string(json, "name", speedscope->command,
			   strnlen(speedscope->command, sizeof(speedscope->command)));
	json_member_u64(json, "activeProfileIndex", 0);
	json_name(json, "profiles");
	json_array_begin(json);
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]) && !err; i++)
		err = put_profile(speedscope, profiles[i].name, profiles[i].value);
	if (!err)
		err = put_threads(speedscope);
	json_array_end(json);
	put_frames(speedscope);
	json_object_end(json);
	json_newline(json);
	return err ? err : json->err;
}

static int speedscope_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	struct speedscope *speedscope = calloc(1, sizeof(*speedscope));

	if (!speedscope)
		return -ENOMEM;
	*state = speedscope;
	json_init_file(&speedscope->json, out);
	memcpy(speedscope->recorder, info->recorder, sizeof(speedscope->recorder));
	memcpy(speedscope->command, info->command, sizeof(speedscope->command));
	speedscope->profile = path_profile_new();
	speedscope->frames = string_pool_new();
	speedscope->slices = thread_slices_new();
	return speedscope->profile && speedscope->frames && speedscope->slices ? 0 : -ENOMEM;
}

static void speedscope_free(void *state)
{
	struct speedscope *speedscope = state;

	path_profile_free(speedscope->profile);
	string_pool_free(speedscope->frames);
	thread_slices_free(speedscope->slices);
	json_release(&speedscope->json);
	free(speedscope);
}

static void speedscope_tell(const void *state, export_say *say, void *context)
{
	static const char *const names[] = {
		"spans that work on several threads, wait, or cross others, and are in no thread's profile",
		"spans of threads beyond the first 131,072, which have no profile",
	};
	const struct speedscope *speedscope = state;
	const uint64_t cnts[] = { speedscope->not_nested_cnt,
				  thread_slices_left_out_cnt(speedscope->slices) };

	export_tell_counts(names, cnts, 2, say, context);
	path_profile_tell(state, say, context);
	path_profile_tell_missing(state, say, context);
}

const struct export_format format_speedscope = {
	.name = "speedscope",
	.help = "for speedscope.app: a profile by span path and code, and the spans of each thread",
	.suffix = ".speedscope.json",
	.work_folder = temporary_folder,
	.open = speedscope_open,
	.span = speedscope_span,
	.thread = speedscope_thread,
	.loss = path_profile_loss,
	.stay = path_profile_stay,
	.overlap = path_profile_overlap,
	.stack = path_profile_stack,
	.frames = path_profile_frames,
	.dropped = path_profile_dropped,
	.damage = path_profile_damage,
	.finish = speedscope_finish,
	.tell = speedscope_tell,
	.free = speedscope_free,
};
