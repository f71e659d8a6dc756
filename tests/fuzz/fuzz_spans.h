/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What attribution makes of events, whatever they are. Each span's ledger adds
 * up to its work, or it is marked; every record can be shown, and stored.
 */
#ifndef FUZZ_SPANS_H
#define FUZZ_SPANS_H

#include "attribute/attribution.h"
#include "event/stream.h"
#include "fuzz/fuzz_laws.h"
#include "log/write/batch_encoder.h"

struct fuzz_spans {
	struct attribution *attribution;
	struct batch_encoder *encoder;
	uint64_t last_ns;
	uint64_t span_cnt;
	uint64_t unbalanced_cnt;
	uint64_t lower_bound_cnt;
	char *line; /* of the last event, as a recorded stream has it */
	size_t line_length;
};

static inline void law_of_ledgers(struct fuzz_spans *spans, const struct txtrace_span *span)
{
	bool is_marked = span->flags & TXTRACE_SPAN_IMBALANCE;

	LAW(is_marked || txtrace_ledger_sum_ns(&span->ledger) == span->work_ns);
	LAW(span->begin_ns <= span->end_ns);
	LAW(!(span->flags & (TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOSS)) ||
	    span->flags & TXTRACE_SPAN_LOWER_BOUND);
	spans->unbalanced_cnt += is_marked;
	spans->lower_bound_cnt += !!(span->flags & TXTRACE_SPAN_LOWER_BOUND);
	spans->span_cnt++;
}

static inline int take_fuzz_record(void *context, const struct txtrace_record *record)
{
	struct fuzz_spans *spans = context;
	int err = batch_encoder_add(spans->encoder, record);

	if (record->kind == TXTRACE_RECORD_SPAN)
		law_of_ledgers(spans, &record->span);
	law_of_records(record);
	if (err == -ENOSPC) {
		batch_encoder_reset(spans->encoder);
		err = batch_encoder_add(spans->encoder, record);
	}
	LAW(!err);
	return 0;
}

static inline void fuzz_spans_begin(struct fuzz_spans *spans)
{
	static struct batch_encoder *encoder;

	if (!encoder)
		encoder = batch_encoder_new();
	memset(spans, 0, sizeof(*spans));
	spans->encoder = encoder;
	spans->attribution = attribution_new(take_fuzz_record, spans);
	LAW(encoder && spans->attribution);
}

/* What is written as a line of a stream is read back as it was: written again, it is the same line. */
static inline void law_of_streams(const struct event *event)
{
	static struct stream_event_storage storage;
	static char lines[2][STREAM_LINE_MAX + 1];
	struct event again;
	FILE *file;

	for (int i = 0; i < 2; i++) {
		lines[i][0] = 0;
		file = fmemopen(lines[i], sizeof(lines[i]), "w");
		LAW(file && !stream_write_event(file, event));
		fclose(file);
		file = fmemopen(lines[i], strlen(lines[i]), "r");
		storage.line_cnt = 0;
		LAW(file && stream_read(file, &storage, &again) == 1);
		fclose(file);
		event = &again;
	}
	LAW(!strcmp(lines[0], lines[1]));
}

/* Events come in the order of their times: one that does not is moved to the time of the one before. */
static inline void fuzz_spans_feed(struct fuzz_spans *spans, struct event *event)
{
	if (event->time_ns < spans->last_ns)
		event->time_ns = spans->last_ns;
	spans->last_ns = event->time_ns;
	attribution_expect(spans->attribution,
			   &(struct event_subject){ event->tgid, event->tid, event->span.id });
	LAW(!attribution_feed(spans->attribution, event));
}

static inline void fuzz_spans_end(struct fuzz_spans *spans)
{
	struct attribution_stats stats;

	LAW(!attribution_checkpoint(spans->attribution, spans->last_ns));
	LAW(!attribution_finish(spans->attribution, spans->last_ns));
	attribution_stats(spans->attribution, &stats);
	LAW(stats.span_cnt == spans->span_cnt && stats.open_span_cnt == 0);
	LAW(stats.lower_bound_cnt == spans->lower_bound_cnt);
	LAW(stats.anomaly_cnt[TXTRACE_ANOMALY_IMBALANCE] == spans->unbalanced_cnt);
	attribution_free(spans->attribution);
	batch_encoder_reset(spans->encoder);
}

#endif
