/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/service/metrics.h"

#define NS_PER_SECOND 1000000000u

enum metric_unit { COUNT, BYTES, SECONDS };

/* A figure that has no label of its own. */
static const struct metric {
	const char *name;
	const char *type;
	const char *help;
	enum metric_unit unit; /* of the figure: BYTES and COUNT as they are, SECONDS from ns */
	size_t offset;	       /* of the uint64_t in struct metrics_figures */
} metrics[] = {
#define FIGURE(member) offsetof(struct metrics_figures, member)
	{ "txtrace_start_time_seconds", "gauge", "When this recording began, since 1970.", SECONDS,
	  FIGURE(start_realtime_ns) },
	{ "txtrace_events_sent_total", "counter", "Events that the kernel side wanted to send.", COUNT,
	  FIGURE(summary.sent_cnt) },
	{ "txtrace_events_received_total", "counter", "Events that arrived.", COUNT,
	  FIGURE(summary.received_cnt) },
	{ "txtrace_events_lost_total", "counter",
	  "Events that found no room in a ring, or none among the open spans.", COUNT,
	  FIGURE(summary.lost_cnt) },
	{ "txtrace_events_refused_total", "counter", "Of these: those for which open spans left no room.",
	  COUNT, FIGURE(refused_cnt) },
	{ "txtrace_events_late_total", "counter", "Events that came after the merge's watermark.", COUNT,
	  FIGURE(summary.late_cnt) },
	{ "txtrace_events_undecodable_total", "counter", "Events that made no sense.", COUNT,
	  FIGURE(undecodable_cnt) },
	{ "txtrace_clocks_lost_total", "counter", "Threads or events without state clocks.", COUNT,
	  FIGURE(summary.lost_clocks_cnt) },
	{ "txtrace_open_spans", "gauge", "Spans that have begun and not ended.", COUNT,
	  FIGURE(open_span_cnt) },
	{ "txtrace_traced_threads", "gauge", "Threads that are traced.", COUNT, FIGURE(thread_cnt) },
	{ "txtrace_frozen_processes_total", "counter",
	  "Processes that block reads of their memory, and are not asked again.", COUNT, FIGURE(frozen_cnt) },
	{ "txtrace_log_written_bytes_total", "counter", "Bytes of log, in all files.", BYTES,
	  FIGURE(written_bytes) },
	{ "txtrace_log_dropped_records_total", "counter", "Records for which the disk was too slow.", COUNT,
	  FIGURE(dropped_record_cnt) },
	{ "txtrace_recorder_cpu_seconds_total", "counter", "CPU time of the recorder itself.", SECONDS,
	  FIGURE(recorder_cpu_ns) },
	{ "txtrace_recorder_resident_memory_bytes", "gauge", "Memory of the recorder itself.", BYTES,
	  FIGURE(resident_bytes) },
	{ "txtrace_metrics_server_failures_total", "counter", "Ends of the process that serves metrics.",
	  COUNT, FIGURE(server_failure_cnt) },
};

static void append_metric(const struct metric *metric, uint64_t value, enum metrics_format format,
			  struct text *text)
{
	metrics_begin_family(text, format, metric->name, metric->type, metric->help);
	text_append_format(text, "%s ", metric->name);
	if (metric->unit == SECONDS)
		text_append_format(text, "%llu.%09llu\n", (unsigned long long)(value / NS_PER_SECOND),
				   (unsigned long long)(value % NS_PER_SECOND));
	else
		text_append_format(text, "%llu\n", (unsigned long long)value);
}

void metrics_write(const struct metrics_figures *figures, const struct span_metrics *spans,
		   enum metrics_format format, struct text *text)
{
	text_clear(text);
	metrics_begin_family(text, format, "txtrace_build_info", "gauge", "The recorder's version.");
	text_append(text, "txtrace_build_info{version=\"" TXTRACE_VERSION "\"} 1\n");
	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		append_metric(&metrics[i], *(const uint64_t *)((const char *)figures + metrics[i].offset),
			      format, text);
	metrics_begin_family(text, format, "txtrace_anomalies_total", "counter",
			     "What the program did that does not fit, by kind: docs/attribution.md.");
	for (unsigned int i = 0; i < TXTRACE_ANOMALY_COUNT; i++)
		text_append_format(text, "txtrace_anomalies_total{kind=\"%s\"} %llu\n",
				   txtrace_anomaly_name(i),
				   (unsigned long long)figures->summary.anomaly_cnt[i]);
	span_metrics_append(spans, format, text);
	if (format == METRICS_OPEN)
		text_append(text, "# EOF\n");
}
