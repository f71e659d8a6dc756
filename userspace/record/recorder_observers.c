/* SPDX-License-Identifier: BSD-2-Clause */
/* Who observes the pipeline of a recorder: see recorder_observe() at the end. */
#include "event/stream.h"
#include "record/recorder_state.h"
#include "record/targets/object_names.h"

/* of a file that ends while recording goes on: the rings fill up meanwhile */
#define FRAMES_WAIT_NS 500000000u
#define LAST_FRAMES_WAIT_NS 30000000000u
#define LOOK_NS 100000000u /* meanwhile, how often it is asked whether somebody is in a hurry */

/* ---- the stream of --stream ---- */

static int write_event(void *context, const struct event *event)
{
	stream_write_event(context, event);
	return 0;
}

/* ---- what descriptors refer to ---- */

static int see_object(void *context, const struct event *event)
{
	return object_names_see(context, event);
}

static int put_objects(void *context, uint64_t time_ns)
{
	return object_names_tell(context, time_ns);
}

/* ---- processes ---- */

static int see_process(void *context, const struct event *event)
{
	if (event->kind == EVENT_PROCESS)
		return recorder_see_process(context, event);
	recorder_see_exec(context, event->tgid, event->end.old_tid, event->time_ns);
	return 0;
}

static int put_processes(void *context, uint64_t time_ns)
{
	struct recorder *recorder = context;

	return target_set_tell(recorder->targets, time_ns);
}

/* ---- costs ---- */

static int put_costs(void *context, uint64_t time_ns)
{
	return recorder_put_costs(context, time_ns);
}

/* ---- spans that are written ---- */

static int fly_with_span(void *context, const struct txtrace_record *record)
{
	flight_recorder_see(context, &record->span);
	return 0;
}

static int measure_span(void *context, const struct txtrace_record *record)
{
	struct recorder *recorder = context;

	if (record->kind == TXTRACE_RECORD_ATTRIBUTE)
		return span_metrics_see(service_spans(recorder->service), &record->attribute);
	return span_metrics_add(service_spans(recorder->service), &record->span,
				target_set_place(recorder->targets, record->span.pid));
}

/* ---- stacks of code ---- */

static int use_stack(void *context, const struct txtrace_record *record)
{
	return code_stacks_use(context, record->stack.stack);
}

static int put_frames(void *context, uint64_t time_ns)
{
	return code_stacks_end_file(context, time_ns, FRAMES_WAIT_NS, false);
}

static int put_futexes(void *context, uint64_t time_ns)
{
	return code_stacks_tell(context, time_ns);
}

static int take_names(void *context, uint64_t time_ns)
{
	return code_stacks_tick(context, time_ns);
}

/*
 * Nothing is pressing any more, unless somebody says so: names that are not
 * known then stay unknown.
 */
static int put_last_frames(void *context, uint64_t time_ns)
{
	struct recorder *recorder = context;
	int result = 1;

	for (uint64_t waited_ns = 0; result > 0 && waited_ns < LAST_FRAMES_WAIT_NS; waited_ns += LOOK_NS) {
		if (recorder_is_hurried(recorder))
			break;
		result = code_stacks_wait(recorder->stacks, LOOK_NS);
	}
	return result < 0 ? result : code_stacks_end_file(recorder->stacks, time_ns, 0, true);
}

/* ---- sums ---- */

static int sum_threads(void *context, const struct txtrace_record *record)
{
	return worker_report_add(context, record);
}

static int sum_labels(void *context, const struct txtrace_record *record)
{
	return label_report_add(context, record);
}

/* What is NULL is not wanted. */
void recorder_observe(struct recorder *recorder)
{
	const uint64_t spans = OBSERVE(TXTRACE_RECORD_SPAN);
	const struct observer observers[] = {
		{ recorder->stream, .event_kinds = OBSERVE_ALL, .before_event = write_event },
		{ recorder->objects, .event_kinds = OBSERVE_ALL, .before_event = see_object,
		  .at = { [AT_FILE_BEGIN] = put_objects } },
		{ recorder, .event_kinds = OBSERVE(EVENT_PROCESS) | OBSERVE(EVENT_EXEC),
		  .after_event = see_process,
		  .at = { [AT_FILE_BEGIN] = put_processes, [AT_FILE_END] = put_costs } },
		{ recorder->flight, .record_kinds = spans, .on_record = fly_with_span },
		{ recorder->stacks, .record_kinds = OBSERVE(TXTRACE_RECORD_STACK), .on_record = use_stack,
		  .at = { [AT_TICK] = take_names,
			  [AT_FILE_END] = put_frames,
			  [AT_FILE_BEGIN] = put_futexes } },
		{ recorder->stacks ? recorder : NULL, .at = { [AT_END] = put_last_frames } },
		{ service_spans(recorder->service) ? recorder : NULL,
		  .record_kinds = spans | OBSERVE(TXTRACE_RECORD_ATTRIBUTE), .on_record = measure_span },
		{ recorder->workers, .record_kinds = OBSERVE_ALL, .on_record = sum_threads },
		{ recorder->report, .record_kinds = OBSERVE_ALL, .on_record = sum_labels },
	};

	_Static_assert(sizeof(observers) <= OBSERVER_MAX * sizeof(observers[0]), "room in the pipeline");
	for (size_t i = 0; i < sizeof(observers) / sizeof(observers[0]); i++)
		if (observers[i].context)
			pipeline_observe(recorder->pipeline, &observers[i]);
}
