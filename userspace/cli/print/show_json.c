/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/capture_info.h"
#include "cli/print/mark_text.h"
#include "cli/print/party_print.h"
#include "cli/print/show_print.h"
#include "cli/print/span_json.h"

static void segment_json(const struct chosen_span *chosen, struct json *json,
			 const struct window_segment *segment)
{
	json_object_begin(json);
	json_member_u64(json, "from_ns", segment->from_ns);
	json_member_u64(json, "to_ns", segment->to_ns);
	json_member_text(json, "state", window_state_names[segment->state]);
	if (segment->state == WINDOW_ON_CPU)
		json_member_u64(json, "cpu", segment->cpu);
	if (segment->state == WINDOW_BLOCKED) {
		wait_object_json(json, &segment->object);
		json_member_bool(json, "open", segment->is_open);
		chosen_span_waker_json(chosen, json, segment);
	}
	json_object_end(json);
}

/* Where segments leave a gap, the log does not tell what the thread did. */
static void stay_json(const struct chosen_span *chosen, struct json *json, const struct window_stay *stay)
{
	const struct window_thread *thread = span_window_thread(&chosen->window, stay->pid, stay->tid);
	const struct window_segment *first = thread ? window_thread_before(thread, stay->enter_ns + 1) : NULL;
	struct txtrace_string name = thread_names_get(chosen->names, stay->pid, stay->tid);

	json_object_begin(json);
	json_member_u64(json, "pid", stay->pid);
	json_member_u64(json, "tid", stay->tid);
	json_member_string(json, "thread_name", name.bytes, name.length);
	json_member_u64(json, "enter_ns", stay->enter_ns);
	json_member_u64(json, "exit_ns", stay->exit_ns);
	json_name(json, "segments");
	json_array_begin(json);
	if (!first && thread)
		first = thread->segments;
	for (; first && first < thread->segments + thread->cnt && first->from_ns < stay->exit_ns; first++) {
		struct window_segment clipped = *first;

		clipped.from_ns = clipped.from_ns < stay->enter_ns ? stay->enter_ns : clipped.from_ns;
		clipped.to_ns = clipped.to_ns > stay->exit_ns ? stay->exit_ns : clipped.to_ns;
		if (clipped.from_ns < clipped.to_ns)
			segment_json(chosen, json, &clipped);
	}
	json_array_end(json);
	json_object_end(json);
}

void show_json(const struct chosen_span *chosen, struct json *json)
{
	const struct span_window *window = &chosen->window;
	struct txtrace_string no_name = { NULL, 0 };

	capture_json_begin(json, "show", &chosen->info);
	json_name(json, "span");
	span_json(json, &window->span, thread_names_get(chosen->names, window->span.pid, window->span.tid));
	json_name(json, "stays");
	json_array_begin(json);
	for (size_t i = 0; i < window->stay_cnt; i++) {
		if (window->stays[i].span == window->self)
			stay_json(chosen, json, &window->stays[i]);
	}
	json_array_end(json);
	json_name(json, "children");
	json_array_begin(json);
	for (size_t i = 0; i < window->span_cnt; i++) {
		if (window->spans[i].is_inside && i != window->self)
			span_json(json, &window->spans[i].span, no_name);
	}
	json_array_end(json);
	json_name(json, "marks");
	json_array_begin(json);
	for (size_t i = 0; i < window->mark_cnt; i++)
		mark_json(json, &window->marks[i]);
	json_array_end(json);
	json_member_bool(json, "memory_used_up", window->is_full);
	capture_json_end(json, &chosen->census);
}
