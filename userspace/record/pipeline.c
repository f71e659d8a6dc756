/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/pipeline.h"

#include <errno.h>
#include <stdlib.h>

#include "event/stream.h"

/* of a file that ends while recording goes on: the rings fill up meanwhile */
#define FRAMES_WAIT_NS 500000000u
#define LAST_FRAMES_WAIT_NS 30000000000u
#define LOOK_NS 100000000u              /* meanwhile, how often it is asked whether somebody is in a hurry */

struct pipeline {
	struct pipeline_options options;
	struct merge *merge;
	struct attribution *attribution;
	struct label_report *report;
	struct worker_report *workers; /* NULL: nobody wants them */
	struct object_names *objects;
	uint64_t undecodable_cnt;
	uint64_t event_cnt;
};

static int put_record(void *context, const struct txtrace_record *record)
{
	struct pipeline *pipeline = context;
	int err = log_writer_add(pipeline->options.log, record);

	if (!err && pipeline->options.flight && record->kind == TXTRACE_RECORD_SPAN)
		flight_recorder_see(pipeline->options.flight, &record->span);
	if (!err && record->kind == TXTRACE_RECORD_STACK && pipeline->options.stacks)
		err = code_stacks_use(pipeline->options.stacks, record->stack.stack);
	if (!err && pipeline->options.spans && record->kind == TXTRACE_RECORD_SPAN)
		err = span_metrics_add(pipeline->options.spans, &record->span);
	if (!err && pipeline->workers)
		err = worker_report_add(pipeline->workers, record);
	return err ? err : label_report_add(pipeline->report, record);
}

static int end_file(struct pipeline *pipeline, uint64_t time_ns, bool is_last)
{
	uint64_t wait_ns = is_last ? 0 : FRAMES_WAIT_NS; /* at the end wait_for_frames() has waited */

	return pipeline->options.stacks
		       ? code_stacks_end_file(pipeline->options.stacks, time_ns, wait_ns, is_last)
		       : 0;
}

/* Between two events: a new file begins with what it needs to be read alone. */
static int look_after_log(struct pipeline *pipeline)
{
	struct merge_stats merge;
	int result;

	if (!log_writer_is_due(pipeline->options.log))
		return 0;
	merge_stats(pipeline->merge, &merge);
	/* what the file names of open spans is in it */
	result = attribution_checkpoint(pipeline->attribution, merge.given_ns);
	if (!result && pipeline->options.before_turn)
		result = pipeline->options.before_turn(pipeline->options.context, merge.given_ns);
	if (!result)
		result = end_file(pipeline, merge.given_ns, false);
	if (!result)
		result = log_writer_turn(pipeline->options.log);
	if (result <= 0)
		return result;
	result = attribution_restate(pipeline->attribution);
	if (!result)
		result = object_names_tell(pipeline->objects, merge.given_ns);
	if (!result && pipeline->options.on_turn)
		result = pipeline->options.on_turn(pipeline->options.context, merge.given_ns);
	return result || !pipeline->options.stacks
		       ? result
		       : code_stacks_tell(pipeline->options.stacks, merge.given_ns);
}

static int handle_event(void *context, const void *record, size_t size)
{
	struct pipeline *pipeline = context;
	struct event event;
	int err;

	if (event_decode(record, size, &pipeline->options.labels, &event)) {
		pipeline->undecodable_cnt++;
		return 0;
	}
	pipeline->event_cnt++;
	if (pipeline->options.stream)
		stream_write_event(pipeline->options.stream, &event);
	err = pipeline->options.read_object ? object_names_see(pipeline->objects, &event) : 0;
	if (!err)
		err = attribution_feed(pipeline->attribution, &event);
	if (!err && event.kind == EVENT_PROCESS && pipeline->options.on_process)
		err = pipeline->options.on_process(pipeline->options.context, &event);
	if (event.kind == EVENT_EXEC && pipeline->options.on_exec)
		pipeline->options.on_exec(pipeline->options.context, event.tgid, (uint32_t)event.span.id,
					  event.time_ns);
	return err ? err : look_after_log(pipeline);
}

struct pipeline *pipeline_new(const struct pipeline_options *options)
{
	struct pipeline *pipeline = calloc(1, sizeof(*pipeline));
	struct object_names_options objects = {
		.read = options->read_object,
		.read_context = options->context,
		.sink = put_record,
		.sink_context = pipeline,
	};

	if (!pipeline)
		return NULL;
	pipeline->options = *options;
	pipeline->merge = merge_new(options->lane_cnt + 1);
	pipeline->attribution = attribution_new(put_record, pipeline);
	if (pipeline->attribution)
		attribution_limit_spans(pipeline->attribution, options->span_bytes);
	pipeline->report = label_report_new(0);
	if (options->wants_threads)
		pipeline->workers = worker_report_new(NULL, NULL, 0);
	pipeline->objects = object_names_new(&objects);
	if (options->stacks)
		code_stacks_set_sink(options->stacks, put_record, pipeline);
	if (pipeline->merge && pipeline->attribution && pipeline->report && pipeline->objects &&
	    !pipeline->workers == !options->wants_threads) {
		attribution_set_filter(pipeline->attribution, &options->filter);
		return pipeline;
	}
	pipeline_free(pipeline);
	return NULL;
}

void pipeline_free(struct pipeline *pipeline)
{
	if (!pipeline)
		return;
	merge_free(pipeline->merge);
	attribution_free(pipeline->attribution);
	label_report_free(pipeline->report);
	worker_report_free(pipeline->workers);
	object_names_free(pipeline->objects);
	free(pipeline);
}

int pipeline_begin(struct pipeline *pipeline, uint64_t time_ns)
{
	const struct event event = { .kind = EVENT_MODE,
				     .time_ns = time_ns,
				     .mode = { .sched = pipeline->options.sched } };

	if (pipeline->options.sched == SCHED_TIMELINE)
		return 0;
	if (pipeline->options.stream)
		stream_write_event(pipeline->options.stream, &event);
	return attribution_feed(pipeline->attribution, &event);
}

int pipeline_push(struct pipeline *pipeline, size_t lane, const void *record, size_t size)
{
	const struct wire_header *header = record;
	struct wire_stack_number number;
	int result;

	if (size < sizeof(*header)) {
		pipeline->undecodable_cnt++;
		return 0;
	}
	result = pipeline->options.stacks ? code_stacks_take(pipeline->options.stacks, record, size, &number)
					  : 0;
	if (result > 0)
		return merge_push(pipeline->merge, lane, header->time_ns, &number, sizeof(number));
	if (result < 0 || header->kind == WIRE_STACK)
		return result;
	return merge_push(pipeline->merge, lane, header->time_ns, record, size);
}

int pipeline_push_loss(struct pipeline *pipeline, const struct wire_loss *loss)
{
	return merge_push(pipeline->merge, pipeline->options.lane_cnt, loss->header.time_ns, loss,
			  sizeof(*loss));
}

void pipeline_set_watermark(struct pipeline *pipeline, size_t lane, uint64_t time_ns)
{
	merge_set_watermark(pipeline->merge, lane, time_ns);
	/* losses never hold the others up */
	merge_set_watermark(pipeline->merge, pipeline->options.lane_cnt, UINT64_MAX);
}

int pipeline_run(struct pipeline *pipeline)
{
	int err = merge_run(pipeline->merge, handle_event, pipeline);

	return err ? err : look_after_log(pipeline); /* a flush may have found that the file is old */
}

int pipeline_tick(struct pipeline *pipeline)
{
	struct merge_stats merge;

	merge_stats(pipeline->merge, &merge);
	return pipeline->options.stacks ? code_stacks_tick(pipeline->options.stacks, merge.given_ns) : 0;
}

int pipeline_checkpoint(struct pipeline *pipeline, uint64_t time_ns)
{
	return attribution_checkpoint(pipeline->attribution, time_ns);
}

int pipeline_put(struct pipeline *pipeline, const struct txtrace_record *record)
{
	return put_record(pipeline, record);
}

int pipeline_dump(struct pipeline *pipeline, const struct txtrace_record *why,
		  const struct txtrace_record *summary)
{
	int err = end_file(pipeline, summary->summary.time_ns, false);

	if (!err)
		err = put_record(pipeline, why);
	if (!err)
		err = log_writer_dump(pipeline->options.log, summary);
	return err ? err : label_report_add(pipeline->report, summary);
}

int pipeline_go_on(struct pipeline *pipeline)
{
	return look_after_log(pipeline);
}

/*
 * Nothing is pressing any more, unless somebody says so: names that are not
 * known then stay unknown.
 */
static int wait_for_frames(struct pipeline *pipeline)
{
	const struct pipeline_options *options = &pipeline->options;
	int result = options->stacks ? 1 : 0;

	for (uint64_t waited_ns = 0; result > 0 && waited_ns < LAST_FRAMES_WAIT_NS; waited_ns += LOOK_NS) {
		if (options->is_hurried && options->is_hurried(options->context))
			return 0;
		result = code_stacks_wait(options->stacks, LOOK_NS);
	}
	return result < 0 ? result : 0;
}

int pipeline_finish(struct pipeline *pipeline, uint64_t end_ns)
{
	struct merge_stats merge;
	int err;

	for (size_t i = 0; i < pipeline->options.lane_cnt; i++)
		pipeline_set_watermark(pipeline, i, UINT64_MAX);
	err = pipeline_run(pipeline);
	if (err)
		return err;
	merge_stats(pipeline->merge, &merge);
	end_ns = merge.given_ns > end_ns ? merge.given_ns : end_ns;
	err = attribution_finish(pipeline->attribution, end_ns);
	if (!err)
		err = wait_for_frames(pipeline);
	return err ? err : end_file(pipeline, end_ns, true);
}

void pipeline_stats(const struct pipeline *pipeline, struct pipeline_stats *stats)
{
	attribution_stats(pipeline->attribution, &stats->attribution);
	merge_stats(pipeline->merge, &stats->merge);
	stats->undecodable_cnt = pipeline->undecodable_cnt;
	stats->event_cnt = pipeline->event_cnt;
}

struct label_report *pipeline_report(struct pipeline *pipeline)
{
	return pipeline->report;
}

struct worker_report *pipeline_workers(struct pipeline *pipeline)
{
	return pipeline->workers;
}
