/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "base/clock.h"
#include "record/options/capture_start.h"
#include "record/recorder_state.h"

/* what happened this long ago has been attributed, if the machine is not overloaded */
#define LAG_NS (4 * TICK_MS * 1000000ull)

/* Said at once: the file is there later, and another trigger may have come by then. */
static void tell_trigger(const struct recorder *recorder, const struct txtrace_trigger *trigger)
{
	struct text label = { 0 };
	char duration[UNITS_SIZE];

	if (trigger->cause != TXTRACE_TRIGGER_SPAN)
		return;
	text_append_escaped(&label, trigger->label.bytes, trigger->label.length);
	if (!label.length)
		text_append(&label, "(unknown label)");

	const struct message_field fields[] = {
		{ "rule", trigger->rule.bytes, 0 },    { "label", text_string(&label), 0 },
		{ "span", NULL, trigger->span },       { "pid", NULL, trigger->pid },
		{ "wall_ns", NULL, trigger->wall_ns },
	};

	messages_tell(recorder->messages, MESSAGE_INFO, "trigger", fields, sizeof(fields) / sizeof(fields[0]),
		      "trigger '%s': %s, %sspan %" PRIu64 " of process %" PRIu32 ", took %s",
		      trigger->rule.bytes, text_string(&label), trigger->is_keyed ? "keyed " : "",
		      trigger->span, trigger->pid, units_format_duration(duration, trigger->wall_ns));
	text_release(&label);
}

static int write_file(struct recorder *recorder, const struct txtrace_record *summary)
{
	struct txtrace_record why;

	flight_recorder_take(recorder->flight, &why);
	tell_trigger(recorder, &why.trigger);
	return pipeline_dump(recorder->pipeline, &why, summary);
}

/* Files are written by another thread: they are told of when they are there. */
static void tell_files(struct recorder *recorder, uint64_t now_ns)
{
	char bytes[UNITS_SIZE], duration[UNITS_SIZE];
	struct log_flight_stats stats;
	uint64_t missed_cnt = flight_recorder_missed_cnt(recorder->flight);

	log_writer_flight_stats(recorder->log, &stats);
	if (stats.dump_cnt != recorder->told_dump_cnt) {
		const struct message_field fields[] = { { "log", recorder->log_path, 0 },
							{ "bytes", NULL, stats.dump_bytes } };

		recorder->told_dump_cnt = stats.dump_cnt;
		messages_tell(recorder->messages, MESSAGE_INFO, "dump", fields,
			      sizeof(fields) / sizeof(fields[0]), "wrote %s, from %s ago on, to '%s'",
			      units_format_size(bytes, stats.dump_bytes),
			      units_format_duration(duration, now_ns > stats.dump_first_ns
								      ? now_ns - stats.dump_first_ns
								      : 0),
			      recorder->log_path);
	}
	if (missed_cnt && !recorder->told_missed_cnt)
		messages_say(recorder->messages, MESSAGE_WARNING, "triggers",
			     "a trigger led to no file, as there had been too many: see --trigger-max");
	recorder->told_missed_cnt = missed_cnt;
}

int recorder_fly(struct recorder *recorder, uint64_t now_ns)
{
	struct txtrace_record summary = { .kind = TXTRACE_RECORD_SUMMARY };
	int err;

	tell_files(recorder, now_ns);
	if (!flight_recorder_is_due(recorder->flight, now_ns, LAG_NS))
		return 0;
	now_ns = clock_now_ns(); /* behind all that was taken meanwhile */
	err = pipeline_checkpoint(recorder->pipeline, now_ns);
	if (!err)
		err = pipeline_end_file(recorder->pipeline, now_ns);
	if (err)
		return err;
	recorder_summarize(recorder, &summary.summary, now_ns);
	/*
	 * What was sent and has not been taken yet is in none of the counts: it is not in this file either.
	 */
	summary.summary.sent_cnt = summary.summary.received_cnt + summary.summary.lost_cnt;
	err = write_file(recorder, &summary);
	return err ? err : pipeline_go_on(recorder->pipeline);
}

int recorder_land(struct recorder *recorder, const struct txtrace_record *summary)
{
	if (flight_recorder_end(recorder->flight, summary->summary.time_ns))
		return write_file(recorder, summary);
	return pipeline_put(recorder->pipeline, summary);
}
