/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/metrics.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"

#define NS_PER_SECOND 1000000000u

enum metric_unit { COUNT, BYTES, SECONDS };

/* A figure that has no label of its own. */
static const struct metric {
	const char *name;
	enum metrics_type type;
	const char *help;
	enum metric_unit unit; /* of the figure: BYTES and COUNT as they are, SECONDS from ns */
	size_t offset;	       /* of the uint64_t in struct metrics_figures */
} metrics[] = {
#define FIGURE(member) offsetof(struct metrics_figures, member)
	{ "txtrace_start_time_seconds", METRICS_GAUGE, "When this recording began, since 1970.", SECONDS,
	  FIGURE(start_realtime_ns) },
	{ "txtrace_events_sent_total", METRICS_COUNTER, "Events that the kernel side wanted to send.", COUNT,
	  FIGURE(summary.sent_cnt) },
	{ "txtrace_events_received_total", METRICS_COUNTER, "Events that arrived.", COUNT,
	  FIGURE(summary.received_cnt) },
	{ "txtrace_events_lost_total", METRICS_COUNTER,
	  "Events that found no room in a ring, or none among the open spans.", COUNT,
	  FIGURE(summary.lost_cnt) },
	{ "txtrace_events_refused_total", METRICS_COUNTER,
	  "Of these: those for which open spans left no room.", COUNT, FIGURE(refused_cnt) },
	{ "txtrace_events_late_total", METRICS_COUNTER, "Events that came after the merge's watermark.",
	  COUNT, FIGURE(summary.late_cnt) },
	{ "txtrace_events_undecodable_total", METRICS_COUNTER, "Events that made no sense.", COUNT,
	  FIGURE(undecodable_cnt) },
	{ "txtrace_clocks_lost_total", METRICS_COUNTER, "Threads or events without state clocks.", COUNT,
	  FIGURE(summary.lost_clocks_cnt) },
	{ "txtrace_open_spans", METRICS_GAUGE, "Spans that have begun and not ended.", COUNT,
	  FIGURE(open_span_cnt) },
	{ "txtrace_traced_threads", METRICS_GAUGE, "Threads that are traced.", COUNT, FIGURE(thread_cnt) },
	{ "txtrace_frozen_processes_total", METRICS_COUNTER,
	  "Processes that block reads of their memory, and are not asked again.", COUNT, FIGURE(frozen_cnt) },
	{ "txtrace_log_written_bytes_total", METRICS_COUNTER, "Bytes of log, in all files.", BYTES,
	  FIGURE(written_bytes) },
	{ "txtrace_log_dropped_records_total", METRICS_COUNTER, "Records for which the disk was too slow.",
	  COUNT, FIGURE(dropped_record_cnt) },
	{ "txtrace_recorder_cpu_seconds_total", METRICS_COUNTER, "CPU time of the recorder itself.", SECONDS,
	  FIGURE(recorder_cpu_ns) },
	{ "txtrace_recorder_resident_memory_bytes", METRICS_GAUGE, "Memory of the recorder itself.", BYTES,
	  FIGURE(resident_bytes) },
	{ "txtrace_metrics_server_failures_total", METRICS_COUNTER,
	  "Ends of the process that serves metrics.", COUNT, FIGURE(server_failure_cnt) },
};

static void append_metric(struct metrics_sheet *sheet, const struct metric *metric, uint64_t value)
{
	metrics_sheet_family(sheet, metric->name, metric->type, metric->help);
	if (metric->unit == SECONDS)
		metrics_sheet_seconds(sheet, NULL, value);
	else
		metrics_sheet_count(sheet, NULL, value);
}

static void append_figures(struct metrics_sheet *sheet, const struct metrics_figures *figures)
{
	struct metrics_labels labels = { .cnt = 0 };

	metrics_labels_add(&labels, "version", TXTRACE_VERSION, strlen(TXTRACE_VERSION));
	metrics_sheet_family(sheet, "txtrace_build_info", METRICS_GAUGE, "The recorder's version.");
	metrics_sheet_count(sheet, &labels, 1);
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		append_metric(sheet, &metrics[i],
			      *(const uint64_t *)((const char *)figures + metrics[i].offset));
	metrics_sheet_family(sheet, "txtrace_anomalies_total", METRICS_COUNTER,
			     "What the program did that does not fit, by kind: docs/attribution.md.");
	for (unsigned int i = 0; i < TXTRACE_ANOMALY_COUNT; i++) {
		const char *kind = txtrace_anomaly_name(i);

		labels.cnt = 0;
		metrics_labels_add(&labels, "kind", kind, strlen(kind));
		metrics_sheet_count(sheet, &labels, figures->summary.anomaly_cnt[i]);
	}
}

/* Of CLOCK_MONOTONIC to the time since 1970, now. */
static uint64_t find_epoch_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec - clock_now_ns();
}

void metrics_write(const struct metrics_figures *figures, const struct span_metrics *spans,
		   enum metrics_format format, struct text *text)
{
	struct metrics_sheet sheet;

	text_clear(text);
	metrics_sheet_begin(&sheet, format, text);
	append_figures(&sheet, figures);
	span_metrics_append(spans, find_epoch_ns(), &sheet);
	metrics_sheet_end(&sheet);
}
