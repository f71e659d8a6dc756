/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/pipeline.h"

#include <errno.h>
#include <stdlib.h>

/* Events that are handled at once, in some 7 ms. Ten million marks a second fill a pool in 50 ms. */
#define RUN_MAX 32768

/* Whom an event or a record of one kind interests. */
struct audience {
	const struct observer *observers[OBSERVER_MAX];
	size_t cnt;
};

struct pipeline {
	struct pipeline_options options;
	struct merge *merge;
	struct attribution *attribution;
	struct observer observers[OBSERVER_MAX];
	size_t observer_cnt;
	struct audience of_events[EVENT_KIND_COUNT];
	struct audience of_records[TXTRACE_RECORD_KIND_COUNT];
	uint64_t undecodable_cnt;
	uint64_t event_cnt;
};

static int tell_of_record(struct pipeline *pipeline, const struct txtrace_record *record)
{
	const struct audience *audience = &pipeline->of_records[record->kind];
	int err = 0;

	for (size_t i = 0; !err && i < audience->cnt; i++)
		err = audience->observers[i]->on_record(audience->observers[i]->context, record);
	return err;
}

static int put_record(void *context, const struct txtrace_record *record)
{
	struct pipeline *pipeline = context;
	int err = log_writer_add(pipeline->options.log, record);

	return err ? err : tell_of_record(pipeline, record);
}

static int tell_of_moment(struct pipeline *pipeline, enum observer_moment moment, uint64_t time_ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < pipeline->observer_cnt; i++)
		if (pipeline->observers[i].at[moment])
			err = pipeline->observers[i].at[moment](pipeline->observers[i].context, time_ns);
	return err;
}

int pipeline_end_file(struct pipeline *pipeline, uint64_t time_ns)
{
	return tell_of_moment(pipeline, AT_FILE_END, time_ns);
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
	if (!result)
		result = pipeline_end_file(pipeline, merge.given_ns);
	if (!result)
		result = log_writer_turn(pipeline->options.log);
	if (result <= 0)
		return result;
	result = attribution_restate(pipeline->attribution);
	return result ? result : tell_of_moment(pipeline, AT_FILE_BEGIN, merge.given_ns);
}

static int feed(struct pipeline *pipeline, const struct event *event)
{
	const struct audience *audience = &pipeline->of_events[event->kind];
	int err = 0;

	for (size_t i = 0; !err && i < audience->cnt; i++)
		if (audience->observers[i]->before_event)
			err = audience->observers[i]->before_event(audience->observers[i]->context, event);
	if (!err)
		err = attribution_feed(pipeline->attribution, event);
	for (size_t i = 0; !err && i < audience->cnt; i++)
		if (audience->observers[i]->after_event)
			err = audience->observers[i]->after_event(audience->observers[i]->context, event);
	return err;
}

static int handle_event(void *context, const void *record, size_t size)
{
	struct pipeline *pipeline = context;
	struct event event;
	int err;

	err = event_decode(record, size, &pipeline->options.labels, &event);
	pipeline->undecodable_cnt += err < 0;
	if (err)
		return 0;
	pipeline->event_cnt++;
	err = feed(pipeline, &event);
	return err ? err : look_after_log(pipeline);
}

struct pipeline *pipeline_new(const struct pipeline_options *options)
{
	struct pipeline *pipeline = calloc(1, sizeof(*pipeline));

	if (!pipeline)
		return NULL;
	pipeline->options = *options;
	pipeline->merge = merge_new(options->lane_cnt + 1);
	pipeline->attribution = attribution_new(put_record, pipeline);
	if (!pipeline->merge || !pipeline->attribution) {
		pipeline_free(pipeline);
		return NULL;
	}
	attribution_limit_spans(pipeline->attribution, options->span_bytes);
	attribution_set_filter(pipeline->attribution, &options->filter);
	return pipeline;
}

void pipeline_free(struct pipeline *pipeline)
{
	if (!pipeline)
		return;
	merge_free(pipeline->merge);
	attribution_free(pipeline->attribution);
	free(pipeline);
}

static void join(struct audience *audiences, size_t kind_cnt, uint64_t kinds, const struct observer *observer)
{
	for (size_t kind = 0; kind < kind_cnt; kind++)
		if (kinds >> kind & 1)
			audiences[kind].observers[audiences[kind].cnt++] = observer;
}

void pipeline_observe(struct pipeline *pipeline, const struct observer *observer)
{
	struct observer *added = &pipeline->observers[pipeline->observer_cnt++];

	*added = *observer;
	if (observer->before_event || observer->after_event)
		join(pipeline->of_events, EVENT_KIND_COUNT, observer->event_kinds, added);
	if (observer->on_record)
		join(pipeline->of_records, TXTRACE_RECORD_KIND_COUNT, observer->record_kinds, added);
}

int pipeline_begin(struct pipeline *pipeline, uint64_t time_ns)
{
	const struct event event = { .kind = EVENT_MODE,
				     .time_ns = time_ns,
				     .mode = { .sched = pipeline->options.sched,
					       .steal = pipeline->options.steal } };
	bool is_default = pipeline->options.sched == SCHED_TIMELINE &&
			  pipeline->options.steal == STEAL_NOT_TOLD;

	return is_default ? 0 : feed(pipeline, &event);
}

int pipeline_push(struct pipeline *pipeline, size_t lane, const void *record, size_t size)
{
	const struct wire_header *header = record;

	if (size < sizeof(*header)) {
		pipeline->undecodable_cnt++;
		return 0;
	}
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

static void look_ahead(void *context, const void *record, size_t size)
{
	const struct pipeline *pipeline = context;
	struct event_subject subject = event_subject(record, size);

	attribution_expect(pipeline->attribution, &subject);
}

static int run(struct pipeline *pipeline, size_t max)
{
	int err;

	merge_look_ahead(pipeline->merge,
			 attribution_wants_expectations(pipeline->attribution) ? look_ahead : NULL,
			 ATTRIBUTION_AHEAD);
	err = merge_run_some(pipeline->merge, max, handle_event, pipeline);
	return err ? err : look_after_log(pipeline); /* a flush may have found that the file is old */
}

int pipeline_run(struct pipeline *pipeline)
{
	return run(pipeline, RUN_MAX);
}

bool pipeline_has_more(const struct pipeline *pipeline)
{
	return merge_has_more(pipeline->merge);
}

int pipeline_tick(struct pipeline *pipeline)
{
	struct merge_stats merge;

	merge_stats(pipeline->merge, &merge);
	return tell_of_moment(pipeline, AT_TICK, merge.given_ns);
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
	int err = put_record(pipeline, why);

	if (!err)
		err = log_writer_dump(pipeline->options.log, summary);
	return err ? err : tell_of_record(pipeline, summary);
}

int pipeline_go_on(struct pipeline *pipeline)
{
	return look_after_log(pipeline);
}

int pipeline_finish(struct pipeline *pipeline, uint64_t end_ns)
{
	struct merge_stats merge;
	int err;

	for (size_t i = 0; i < pipeline->options.lane_cnt; i++)
		pipeline_set_watermark(pipeline, i, UINT64_MAX);
	err = run(pipeline, SIZE_MAX);
	if (err)
		return err;
	merge_stats(pipeline->merge, &merge);
	end_ns = merge.given_ns > end_ns ? merge.given_ns : end_ns;
	err = attribution_finish(pipeline->attribution, end_ns);
	return err ? err : tell_of_moment(pipeline, AT_END, end_ns);
}

void pipeline_stats(const struct pipeline *pipeline, struct pipeline_stats *stats)
{
	attribution_stats(pipeline->attribution, &stats->attribution);
	merge_stats(pipeline->merge, &stats->merge);
	stats->undecodable_cnt = pipeline->undecodable_cnt;
	stats->event_cnt = pipeline->event_cnt;
}
