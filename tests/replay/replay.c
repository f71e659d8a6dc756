/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay STREAM: feeds a recorded stream to the attribution and prints the records as JSON Lines. The capture
 * ends with the last event. What the attribution counts stands in the last line, the summary.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attribute/attribution.h"
#include "event/stream.h"
#include "export/export.h"

static struct stream_event_storage storage;

struct replay {
	struct export *export;
	struct attribution *attribution;
	struct txtrace_summary summary;
};

static int take_record(void *context, const struct txtrace_record *record)
{
	return export_add(context, record);
}

static void count(struct replay *replay, const struct event *event)
{
	struct txtrace_summary *summary = &replay->summary;

	if (event->time_ns > summary->time_ns)
		summary->time_ns = event->time_ns;
	if (event->kind == EVENT_LOSS)
		summary->lost_cnt += event->loss.span_event_cnt + event->loss.sched_event_cnt;
	else
		summary->received_cnt++;
	summary->sent_cnt = summary->received_cnt + summary->lost_cnt;
}

static int feed(struct replay *replay, FILE *in)
{
	struct event event;
	int result;

	while ((result = stream_read(in, &storage, &event)) > 0) {
		count(replay, &event);
		result = attribution_feed(replay->attribution, &event);
		if (result) {
			error_set(&storage.error, "line %llu: cannot attribute it: %s",
				  (unsigned long long)storage.line_cnt, strerror(-result));
			break;
		}
	}
	return result;
}

static int finish(struct replay *replay)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SUMMARY };
	struct attribution_stats stats;
	int err = attribution_finish(replay->attribution, replay->summary.time_ns);

	attribution_stats(replay->attribution, &stats);
	record.summary = replay->summary;
	memcpy(record.summary.anomaly_cnt, stats.anomaly_cnt, sizeof(record.summary.anomaly_cnt));
	return err ? err : export_add(replay->export, &record);
}

static int replay_file(FILE *in)
{
	static const struct txtrace_log_info info = { .recorder = "replay" };
	struct replay replay = { 0 };
	int err = export_open(&replay.export, export_format_find("jsonl"), stdout, &info);

	if (err)
		return err;
	replay.attribution = attribution_new(take_record, replay.export);
	err = replay.attribution ? feed(&replay, in) : -ENOMEM;
	if (!err)
		err = finish(&replay);
	attribution_free(replay.attribution);
	if (err)
		export_abort(replay.export);
	else
		err = export_close(replay.export, 0, NULL);
	return err;
}

int main(int argc, char **argv)
{
	FILE *in = argc == 2 ? fopen(argv[1], "r") : NULL;
	int err;

	if (argc != 2) {
		fprintf(stderr, "usage: replay STREAM\n");
		return 2;
	}
	if (!in) {
		fprintf(stderr, "replay: cannot open '%s': %s\n", argv[1], strerror(errno));
		return 1;
	}
	err = replay_file(in);
	fclose(in);
	if (err)
		fprintf(stderr, "replay: '%s': %s\n", argv[1],
			storage.error.text[0] ? storage.error.text : strerror(-err));
	return err ? 1 : 0;
}
