/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a running recorder tells Prometheus: the spans (span_metrics.h) and how
 * recording itself goes, as one page. docs/service.md lists the names.
 */
#ifndef METRICS_H
#define METRICS_H

#include "base/text.h"
#include "record/messages/loss_advice.h"
#include "record/service/span_metrics.h"
#include "txtrace/log.h"

struct metrics_figures {
	uint64_t start_realtime_ns;	/* of the recording */
	struct txtrace_summary summary; /* as far as it goes now */
	uint64_t undecodable_cnt;
	uint64_t refused_cnt;	   /* of those that are lost in the summary */
	struct loss_causes losses; /* without those that were refused */
	uint64_t lost_process_cnt; /* that were to be traced, and for which there was no room */
	uint64_t frozen_cnt;	   /* processes that are not asked for their memory any more */
	uint64_t open_span_cnt;
	uint64_t thread_cnt;
	uint64_t written_bytes;
	uint64_t dropped_record_cnt;
	uint64_t recorder_cpu_ns;
	uint64_t resident_bytes;
	uint64_t server_failure_cnt;
};

/* Replaces what is in text. -ENOMEM stays in text->err. */
void metrics_write(const struct metrics_figures *figures, const struct span_metrics *spans,
		   enum metrics_format format, struct text *text);

#endif
