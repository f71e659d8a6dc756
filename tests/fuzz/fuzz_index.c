/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the index of a log that is sound otherwise. Who checks the index finds something or not; who
 * reads the log sees the same records, as nothing is in the index that the blocks do not say.
 */
#include "analyze/files/block_check.h"
#include "base/crc32c.h"
#include "fuzz/fuzz_laws.h"
#include "log/write/batch_encoder.h"
#include "log/format/log_header.h"
#include "log/write/log_writer.h"

#define BATCH_CNT 3u

static const struct txtrace_record records[] = {
	{ .kind = TXTRACE_RECORD_THREAD, .thread = { .time_ns = 500, .tid = 7, .pid = 7, .is_seed = true } },
	{ .kind = TXTRACE_RECORD_RUN,
	  .run = { .tid = 7,
		   .pid = 7,
		   .begin_ns = 1000,
		   .end_ns = 1500,
		   .left_as = TXTRACE_LEFT_PREEMPTED,
		   .syscall_nr = -1 } },
	{ .kind = TXTRACE_RECORD_SPAN,
	  .span = { .id = 5,
		    .pid = 7,
		    .tid = 7,
		    .end_tid = 7,
		    .begin_ns = 1400,
		    .end_ns = 2100,
		    .work_ns = 700,
		    .ledger = { .on_cpu_ns = 400, .runnable_ns = 300 },
		    .label = { "pay", 3 } } },
};

#define RECORD_CNT (sizeof(records) / sizeof(records[0]))

static uint8_t file_bytes[1u << 20];
static size_t index_at; /* all before it is the same in every input */

static void put(const void *bytes, size_t length)
{
	LAW(length <= sizeof(file_bytes) - index_at);
	memcpy(file_bytes + index_at, bytes, length);
	index_at += length;
}

static void put_block(struct log_block *block, const uint8_t *payload, size_t length)
{
	uint8_t header[LOG_BLOCK_HEADER_BYTES];

	block->stored_bytes = block->raw_bytes = (uint32_t)length;
	block->payload_crc = crc32c(payload, length);
	log_block_encode(block, header);
	put(header, sizeof(header));
	put(payload, length);
	block->sequence++;
}

/* The header and the batches, once. */
static void begin_log(struct log_block *block)
{
	static const struct txtrace_log_info info = { .start_monotonic_ns = 1, .start_realtime_ns = 2 };
	struct batch_encoder *encoder = batch_encoder_new();
	uint8_t *header = malloc(LOG_HEADER_MAX_BYTES);
	struct batch batch;

	LAW(encoder && header);
	put(header, log_header_encode(&info, header));
	for (uint32_t i = 0; i < BATCH_CNT; i++) {
		for (size_t j = 0; j < RECORD_CNT; j++)
			LAW(!batch_encoder_add(encoder, &records[j]));
		batch_encoder_finish(encoder, &batch);
		*block = (struct log_block){ .type = LOG_BLOCK_BATCH,
					     .record_cnt = batch.record_cnt,
					     .sequence = block->sequence,
					     .first_ns = batch.first_ns,
					     .last_ns = batch.last_ns };
		put_block(block, batch.payload, batch.cuts[batch.cut_cnt - 1]);
		batch_encoder_reset(encoder);
	}
	*block = (struct log_block){ .type = LOG_BLOCK_INDEX, .sequence = block->sequence };
	batch_encoder_free(encoder);
	free(header);
}

static void law_of_records_of(const char *path)
{
	struct txtrace_record record;
	struct txtrace_log *log;
	size_t cnt = 0;

	LAW(!txtrace_log_open(&log, path));
	while (txtrace_log_next(log, &record) > 0) {
		LAW(record.kind == records[cnt % RECORD_CNT].kind);
		cnt++;
	}
	LAW(cnt == BATCH_CNT * RECORD_CNT && txtrace_log_is_complete(log));
	txtrace_log_close(log);
}

static void law_of_checks(const char *path)
{
	struct log_check *check = log_check_new(1u << 20, 4, false);
	const struct log_check_problem *problem;

	LAW(check && !block_check(check, path, NULL, NULL));
	log_check_finish(check);
	LAW(log_check_result(check, LOG_CHECK_BATCHES)->problem_cnt == 0);
	for (size_t i = 0; (problem = log_check_problem(check, i)); i++)
		law_of_lines(problem->what, strlen(problem->what));
	log_check_free(check);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	static struct log_block block;
	uint8_t footer[LOG_FOOTER_BYTES];
	struct log_block index;
	size_t begin;

	if (!index_at)
		begin_log(&block);
	if (size > sizeof(file_bytes) / 2)
		return 0;
	begin = index_at;
	index = block;
	put_block(&index, data, size);
	log_footer_encode(begin, (uint32_t)(index_at - begin), footer);
	put(footer, sizeof(footer));
	fuzz_file_set(&file, file_bytes, index_at);
	index_at = begin;
	law_of_records_of(file.path);
	law_of_checks(file.path);
	return 0;
}
