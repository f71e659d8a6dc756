/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "record/recorder_internal.h"

#define LAG_NS (3 * TICK_MS * 1000000ull) /* what happened this long ago has been attributed, if the machine is not overloaded */

static int put_in_file(void *context, const struct txtrace_record *record)
{
	return pipeline_put(context, record);
}

/* What was sent and has not been taken yet is in none of the counts: it is not in this file either. */
static int put_summary(struct recorder *recorder, uint64_t now_ns)
{
	struct txtrace_record summary = { .kind = TXTRACE_RECORD_SUMMARY };

	recorder_summarize(recorder, &summary.summary, now_ns);
	summary.summary.sent_cnt = summary.summary.received_cnt + summary.summary.lost_cnt;
	return put_in_file(recorder->pipeline, &summary);
}

static int write_file(struct recorder *recorder)
{
	struct txtrace_record why;

	flight_recorder_take(recorder->flight, &why);
	return log_writer_dump(recorder->log, &why);
}

/* Files are written by another thread: they are told of when they are there. */
static void tell_files(struct recorder *recorder, uint64_t now_ns)
{
	char bytes[UNITS_SIZE], duration[UNITS_SIZE];
	struct log_flight_stats stats;
	uint64_t missed_cnt = flight_recorder_missed_cnt(recorder->flight);

	log_writer_flight_stats(recorder->log, &stats);
	if (stats.dump_cnt != recorder->told_dump_cnt) {
		const struct message_field fields[] = { { "log", recorder->log_path, 0 }, { "bytes", NULL, stats.dump_bytes } };

		recorder->told_dump_cnt = stats.dump_cnt;
		messages_tell(recorder->messages, MESSAGE_INFO, "dump", fields, sizeof(fields) / sizeof(fields[0]), "wrote %s, from %s ago on, to '%s'",
			      units_format_size(bytes, stats.dump_bytes),
			      units_format_duration(duration, now_ns > stats.dump_first_ns ? now_ns - stats.dump_first_ns : 0), recorder->log_path);
	}
	if (missed_cnt && !recorder->told_missed_cnt)
		messages_say(recorder->messages, MESSAGE_WARNING, "triggers", "a trigger led to no file, as there had been too many: see --trigger-max");
	recorder->told_missed_cnt = missed_cnt;
}

int recorder_fly(struct recorder *recorder, uint64_t now_ns)
{
	int err = 0;

	tell_files(recorder, now_ns);
	if (!flight_recorder_is_due(recorder->flight, now_ns, LAG_NS))
		return 0;
	err = pipeline_checkpoint(recorder->pipeline, now_ns);
	if (!err)
		err = recorder_tell_costs(recorder, now_ns);
	if (!err)
		err = put_summary(recorder, now_ns);
	return err ? err : write_file(recorder);
}

int recorder_land(struct recorder *recorder, uint64_t end_ns)
{
	return flight_recorder_end(recorder->flight, end_ns) ? write_file(recorder) : 0;
}
