/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the tests of the writer's files: a writer in a folder, spans with
 * ascending ids, two threads as definitions, and what a file says of all that.
 * Include it behind cmocka.h.
 */
#ifndef LOG_CONTENTS_H
#define LOG_CONTENTS_H

#include "log/write/log_writer.h"
#include "unit/log_samples.h"
#include "unit/series_folder.h"

#define QUEUE_BYTES (1u << 20)

static inline struct log_writer *open_writer(struct series_folder *folder,
					     const struct log_writer_options *options)
{
	struct log_writer *writer = NULL;

	assert_int_equal(log_writer_open(&writer, in_folder(folder, "app.txtrace"), &sample_info, options),
			 0);
	return writer;
}

static inline int add_span(struct log_writer *writer, uint64_t id)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN,
					 .span = { .id = id,
						   .pid = 1,
						   .tid = 1,
						   .end_tid = 1,
						   .begin_ns = id * 10,
						   .end_ns = id * 10 + 5 } };

	record.span.label = (struct txtrace_string){ id % 2 ? "odd" : "even", id % 2 ? 3 : 4 };
	record.span.work_ns = record.span.ledger.on_cpu_ns = 5;
	return log_writer_add(writer, &record);
}

static inline int add_thread(struct log_writer *writer, uint32_t tid)
{
	struct txtrace_record record = {
		.kind = TXTRACE_RECORD_THREAD,
		.thread = { .time_ns = 7, .tid = tid, .pid = 1, .comm = { "worker", 6 } }
	};

	return log_writer_add(writer, &record);
}

/* What a file says. */
struct contents {
	uint64_t cnt[TXTRACE_RECORD_KIND_COUNT];
	uint64_t first_id; /* of its spans; all are there between first and last, each once */
	uint64_t last_id;
	uint32_t first_kind;
	uint32_t last_kind;
	uint32_t next_part;
	struct txtrace_dropped dropped; /* in all */
	struct txtrace_log_info info;
	bool is_complete;
	bool has_gaps;
};

static inline void look_at(struct contents *contents, const struct txtrace_record *record)
{
	if (!contents->first_kind)
		contents->first_kind = record->kind;
	contents->last_kind = record->kind;
	contents->cnt[record->kind]++;
	if (record->kind == TXTRACE_RECORD_SPAN) {
		if (contents->cnt[TXTRACE_RECORD_SPAN] == 1)
			contents->first_id = record->span.id;
		else
			contents->has_gaps |= record->span.id != contents->last_id + 1;
		contents->last_id = record->span.id;
	} else if (record->kind == TXTRACE_RECORD_CONTINUED) {
		contents->next_part = record->continued.next_part;
	} else if (record->kind == TXTRACE_RECORD_DROPPED) {
		contents->dropped.batch_cnt += record->dropped.batch_cnt;
		contents->dropped.last_ns = record->dropped.last_ns;
		if (contents->cnt[TXTRACE_RECORD_DROPPED] == 1)
			contents->dropped.first_ns = record->dropped.first_ns;
		for (unsigned int i = 0; i < TXTRACE_RECORD_KIND_COUNT; i++)
			contents->dropped.record_cnt[i] += record->dropped.record_cnt[i];
	}
}

static inline struct contents read_contents(const char *path)
{
	struct contents contents = { 0 };
	struct txtrace_record record;
	struct txtrace_log *log;
	int result;

	assert_int_equal(txtrace_log_open(&log, path), 0);
	contents.info = *txtrace_log_info(log);
	while ((result = txtrace_log_next(log, &record)) > 0)
		look_at(&contents, &record);
	assert_int_equal(result, 0);
	contents.is_complete = txtrace_log_is_complete(log);
	txtrace_log_close(log);
	return contents;
}

static inline struct contents contents_of(struct series_folder *folder, const char *name)
{
	return read_contents(in_folder(folder, name));
}

/* As the recorder does between two events: definitions are two threads. */
static inline void turn_if_due(struct log_writer *writer)
{
	int result;

	if (!log_writer_is_due(writer))
		return;
	result = log_writer_turn(writer);
	assert_true(result >= 0);
	for (uint32_t tid = 1; result > 0 && tid <= 2; tid++)
		assert_int_equal(add_thread(writer, tid), 0);
}

#endif
