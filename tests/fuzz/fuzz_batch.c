/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The payload of a batch, without checksums before it: two bytes of record count, then the payload. Its end
 * is the end of the memory, but for the bytes that the decoder is promised. Every record that comes out goes
 * into a batch again, and out of that as it was.
 */
#include <errno.h>

#include "fuzz/fuzz_laws.h"
#include "log/read/batch_decoder.h"
#include "log/write/batch_encoder.h"

#define assert_int_equal(a, b) LAW((a) == (b)) /* for cmocka's, in what is not used here */
#include "unit/log_samples.h"

#define RECORD_MAX 4096u

struct lines {
	char *text;
	size_t length;
	FILE *out;
};

static struct batch_decoder *decoder, *again;
static struct batch_encoder *encoder;

static void take_memory(void)
{
	if (decoder)
		return;
	decoder = batch_decoder_new();
	again = batch_decoder_new();
	encoder = batch_encoder_new();
	LAW(decoder && again && encoder);
}

/* What was added since the last reset. */
static void law_of_round_trips(struct lines *before, uint32_t record_cnt)
{
	struct lines after = { 0 };
	struct txtrace_record record;
	struct batch batch;
	uint8_t *payload;
	size_t length;

	fflush(before->out);
	if (record_cnt) {
		batch_encoder_finish(encoder, &batch);
		LAW(batch.record_cnt == record_cnt);
		length = batch.cuts[batch.cut_cnt - 1];
		payload = malloc(length + BATCH_DECODER_SLACK_BYTES);
		memcpy(payload, batch.payload, length);
		memset(payload + length, 0xa5, BATCH_DECODER_SLACK_BYTES);
		LAW(batch_decoder_open(again, payload, length, record_cnt) == 0);
		after.out = open_memstream(&after.text, &after.length);
		while (batch_decoder_next(again, &record) > 0)
			put_record(after.out, &record);
		fclose(after.out);
		LAW(batch_decoder_position(again) == record_cnt);
		LAW(after.length == before->length && !memcmp(after.text, before->text, after.length));
		free(after.text);
		free(payload);
	}
	batch_encoder_reset(encoder);
	rewind(before->out);
}

static void decode(const uint8_t *payload, size_t length, uint32_t record_cnt)
{
	struct lines lines = { 0 };
	struct txtrace_record record;
	uint32_t position = 0, added_cnt = 0;
	int result, err;

	lines.out = open_memstream(&lines.text, &lines.length);
	result = batch_decoder_open(decoder, payload, length, record_cnt);
	LAW(result == 0 || result == -EBADMSG);
	while (!result && (result = batch_decoder_next(decoder, &record)) > 0) {
		LAW(batch_decoder_position(decoder) > position &&
		    batch_decoder_position(decoder) <= record_cnt);
		position = batch_decoder_position(decoder);
		law_of_records(&record);
		err = batch_encoder_add(encoder, &record);
		if (err == -ENOSPC) {
			law_of_round_trips(&lines, added_cnt);
			added_cnt = 0;
			err = batch_encoder_add(encoder, &record);
		}
		LAW(!err);
		put_record(lines.out, &record);
		added_cnt++;
		result = 0;
	}
	LAW(result == 0 || result == -EBADMSG);
	law_of_round_trips(&lines, added_cnt);
	fclose(lines.out);
	free(lines.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes bytes = { data, size };
	uint32_t record_cnt = (uint32_t)fuzz_take(&bytes, 2) % RECORD_MAX;
	uint8_t *payload = malloc(bytes.left + BATCH_DECODER_SLACK_BYTES);

	take_memory();
	memcpy(payload, bytes.at, bytes.left);
	memset(payload + bytes.left, 0x5a, BATCH_DECODER_SLACK_BYTES);
	decode(payload, bytes.left, record_cnt);
	free(payload);
	return 0;
}
