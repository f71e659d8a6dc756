/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A seek comes to where a plain reading passes: at any time and any batch, with an index, without, with one
 * that lies, in files of more batches than an index has entries, and where batches are missing. Of a range of
 * times, the batches come that have something of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crc32c.h"
#include "log/format/log_header.h"
#include "log/format/log_index.h"
#include "log/read/log_range.h"
#include "unit/log_samples.h"

#define BATCH_MAX 10000

/* A log, and what a plain reading finds in it. */
struct plain {
	char path[4096];
	char *text;
	struct txtrace_batch batches[BATCH_MAX];
	size_t begins[BATCH_MAX + 1]; /* of each in the text */
	size_t cnt;
	uint64_t random;
};

static uint64_t pick(struct plain *plain, uint64_t below)
{
	plain->random = plain->random * 6364136223846793005u + 1442695040888963407u;
	return (plain->random >> 33) % below;
}

static void read_plain(struct plain *plain)
{
	struct txtrace_record record;
	struct txtrace_batch batch;
	struct txtrace_log *log;
	size_t length;
	FILE *out = open_memstream(&plain->text, &length);

	plain->cnt = 0;
	assert_int_equal(txtrace_log_open(&log, plain->path), 0);
	assert_false(txtrace_log_batch(log, &batch));
	while (txtrace_log_next(log, &record) > 0) {
		if (record.kind == TXTRACE_RECORD_DAMAGE)
			continue;
		assert_true(txtrace_log_batch(log, &batch));
		if (!plain->cnt || plain->batches[plain->cnt - 1].sequence != batch.sequence) {
			fflush(out);
			plain->begins[plain->cnt] = length;
			plain->batches[plain->cnt++] = batch;
		}
		put_record(out, &record);
	}
	fclose(out);
	plain->begins[plain->cnt] = length;
	txtrace_log_close(log);
}

/* A log of batch_cnt batches of 1 to records_max records. */
static void make_plain(struct plain *plain, unsigned int batch_cnt, unsigned int records_max)
{
	struct sample_world world = new_world(3);
	struct txtrace_record record;
	struct log_writer *writer;

	*plain = (struct plain){ .random = 1 };
	snprintf(plain->path, sizeof(plain->path), "%s", sample_path("seek"));
	writer = open_sample(plain->path, LOG_CODEC_NONE, 0);
	for (unsigned int i = 0; i < batch_cnt; i++) {
		for (uint64_t left = 1 + pick(plain, records_max); left; left--) {
			next_record(&world, &record);
			if (record.kind == TXTRACE_RECORD_LOSS)
				continue;
			assert_int_equal(log_writer_add(writer, &record), 0);
		}
		assert_int_equal(log_writer_flush(writer), 0);
	}
	assert_int_equal(log_writer_close(writer), 0);
	read_plain(plain);
	assert_in_range(plain->cnt, batch_cnt / 2, batch_cnt);
}

static void free_plain(struct plain *plain)
{
	unlink(plain->path);
	free(plain->text);
}

/* Reads a few batches from here on, and compares them. */
static void check_from(struct txtrace_log *log, const struct plain *plain, size_t from)
{
	size_t to = from + 3 < plain->cnt ? from + 3 : plain->cnt, length;
	struct txtrace_record record;
	char *text;
	FILE *out = open_memstream(&text, &length);
	int result = 1;

	while (result > 0) {
		fflush(out);
		if (from < plain->cnt && length >= plain->begins[to] - plain->begins[from])
			break;
		result = txtrace_log_next(log, &record);
		assert_true(result >= 0);
		if (result > 0 && record.kind != TXTRACE_RECORD_DAMAGE)
			put_record(out, &record);
	}
	fclose(out);
	assert_int_equal(length, plain->begins[to] - plain->begins[from < plain->cnt ? from : to]);
	assert_memory_equal(text, plain->text + plain->begins[to] - length, length);
	free(text);
}

static void check_time(struct txtrace_log *log, const struct plain *plain, uint64_t time_ns)
{
	size_t from = 0;

	while (from < plain->cnt && plain->batches[from].last_ns < time_ns)
		from++;
	assert_int_equal(txtrace_log_seek_time(log, time_ns), 0);
	check_from(log, plain, from);
}

static void check_batch(struct txtrace_log *log, const struct plain *plain, uint64_t sequence)
{
	size_t from = 0;

	while (from < plain->cnt && plain->batches[from].sequence < sequence)
		from++;
	assert_int_equal(txtrace_log_seek_batch(log, sequence), 0);
	check_from(log, plain, from);
}

/* To the end of the log: all batches from the seek on in which something finished in time, and no others. */
static void check_range(struct txtrace_log *log, const struct plain *plain, uint64_t from_ns, uint64_t to_ns)
{
	size_t wanted_length, found_length, from = 0;
	struct txtrace_record record;
	char *wanted, *found;
	FILE *out = open_memstream(&wanted, &wanted_length);

	while (from < plain->cnt && plain->batches[from].last_ns < from_ns)
		from++;
	for (size_t i = from; i < plain->cnt; i++) {
		if (plain->batches[i].first_ns <= to_ns)
			fwrite(plain->text + plain->begins[i], 1, plain->begins[i + 1] - plain->begins[i],
			       out);
	}
	fclose(out);
	out = open_memstream(&found, &found_length);
	assert_int_equal(log_seek_range(log, from_ns, to_ns), 0);
	while (txtrace_log_next(log, &record) > 0) {
		if (record.kind != TXTRACE_RECORD_DAMAGE)
			put_record(out, &record);
	}
	fclose(out);
	assert_int_equal(found_length, wanted_length);
	assert_memory_equal(found, wanted, wanted_length);
	free(found);
	free(wanted);
}

static void check_seeks(struct plain *plain, unsigned int seek_cnt)
{
	const struct txtrace_batch *first = &plain->batches[0], *last = &plain->batches[plain->cnt - 1];
	struct txtrace_log *log;

	for (unsigned int thread_cnt = 0; thread_cnt < 3; thread_cnt += 2) {
		assert_int_equal(txtrace_log_open(&log, plain->path), 0);
		assert_int_equal(txtrace_log_set_threads(log, thread_cnt), 0);
		check_time(log, plain, 0);
		check_time(log, plain, UINT64_MAX);
		check_batch(log, plain, UINT64_MAX);
		check_range(log, plain, 0, 1);
		check_range(log, plain, 0, UINT64_MAX);
		for (unsigned int i = 0; i < seek_cnt; i++) {
			const struct txtrace_batch *batch = &plain->batches[pick(plain, plain->cnt)];

			check_time(log, plain,
				   first->first_ns + pick(plain, last->last_ns - first->first_ns + 2));
			check_time(log, plain, batch->last_ns);
			check_time(log, plain, batch->last_ns + 1);
			check_batch(log, plain, pick(plain, last->sequence + 3));
			check_range(log, plain, 0, batch->first_ns);
			check_range(log, plain, batch->first_ns, batch->last_ns);
			check_range(log, plain, batch->last_ns,
				    batch->last_ns + pick(plain, last->last_ns - first->first_ns));
		}
		txtrace_log_close(log);
	}
}

/* ---- the file ---- */

static size_t load(const char *path, uint8_t **bytes)
{
	struct stat status;
	FILE *in = fopen(path, "r");
	size_t length;

	assert_int_equal(stat(path, &status), 0);
	*bytes = malloc((size_t)status.st_size);
	length = fread(*bytes, 1, (size_t)status.st_size, in);
	assert_int_equal(length, status.st_size);
	fclose(in);
	return length;
}

static void store(const char *path, const uint8_t *bytes, size_t length)
{
	FILE *out = fopen(path, "w");

	assert_int_equal(fwrite(bytes, 1, length, out), length);
	fclose(out);
}

/* ---- cases ---- */

static void with_an_index(void **state)
{
	static struct plain plain;

	(void)state;
	make_plain(&plain, 120, 40);
	check_seeks(&plain, 60);
	free_plain(&plain);
}

static void without_an_index(void **state)
{
	static struct plain plain;

	(void)state;
	make_plain(&plain, 120, 40);
	assert_int_equal(truncate(plain.path, (off_t)plain.batches[plain.cnt - 1].offset_bytes + 50), 0);
	free(plain.text);
	read_plain(&plain);
	check_seeks(&plain, 60);
	free_plain(&plain);
}

/* An entry of the index then stands for several batches. */
static void with_more_batches_than_entries(void **state)
{
	static struct plain plain;

	(void)state;
	make_plain(&plain, LOG_INDEX_ENTRY_MAX + 1500, 2);
	check_seeks(&plain, 6);
	free_plain(&plain);
}

enum lie {
	LIE_OFFSET,
	LIE_EARLIER,
	LIE_LATER,
	LIE_SHIFTED,
	LIE_NO_ENTRIES,
	LIE_CUT,
	LIE_MORE_BEHIND,
	LIE_COUNT
};

/* Another index with right checksums. Nothing behind the entries is looked at, so only the last is right. */
static uint32_t make_lie(const struct plain *plain, enum lie lie, uint8_t *payload)
{
	struct log_index index;
	uint32_t length;

	assert_int_equal(log_index_init(&index), 0);
	for (size_t i = 0; lie != LIE_NO_ENTRIES && i < plain->cnt; i++) {
		struct txtrace_batch batch = plain->batches[lie == LIE_SHIFTED && i ? i - 1 : i];
		struct log_index_entry entry = { plain->batches[i].offset_bytes, batch.first_ns,
						 batch.last_ns, batch.record_cnt, 1 };

		entry.offset += lie == LIE_OFFSET;
		entry.first_ns -= lie == LIE_EARLIER ? 100000 : 0;
		entry.last_ns -= lie == LIE_EARLIER ? 100000 : 0;
		entry.first_ns += lie == LIE_LATER ? 100000 : 0;
		entry.last_ns += lie == LIE_LATER ? 100000 : 0;
		log_index_add_batch(&index, &entry);
	}
	length = log_index_encode(&index, payload);
	if (lie == LIE_CUT)
		length /= 2;
	if (lie == LIE_MORE_BEHIND) {
		memset(payload + length, 0xff, 100);
		length += 100;
	}
	log_index_release(&index);
	return length;
}

static void with_an_index_that_lies(void **state)
{
	static struct plain plain;
	uint8_t *bytes, *payload = malloc(LOG_INDEX_BYTES_MAX + 100);
	struct log_block block;
	uint64_t index_offset;
	uint32_t index_bytes;
	size_t length;

	(void)state;
	make_plain(&plain, 80, 20);
	length = load(plain.path, &bytes);
	bytes = realloc(bytes, length + LOG_INDEX_BYTES_MAX + 100);
	assert_true(log_footer_decode(bytes + length - LOG_FOOTER_BYTES, LOG_FOOTER_BYTES, &index_offset,
				      &index_bytes));
	assert_true(log_block_decode(bytes + index_offset, length - index_offset, &block));
	for (unsigned int lie = 0; lie < LIE_COUNT; lie++) {
		block.raw_bytes = block.stored_bytes = make_lie(&plain, lie, payload);
		block.payload_crc = crc32c(payload, block.stored_bytes);
		log_block_encode(&block, bytes + index_offset);
		memcpy(bytes + index_offset + LOG_BLOCK_HEADER_BYTES, payload, block.stored_bytes);
		index_bytes = LOG_BLOCK_HEADER_BYTES + block.stored_bytes;
		log_footer_encode(index_offset, index_bytes, bytes + index_offset + index_bytes);
		store(plain.path, bytes, index_offset + index_bytes + LOG_FOOTER_BYTES);
		check_seeks(&plain, 20);
	}
	free(bytes);
	free(payload);
	free_plain(&plain);
}

/* Batches are cut out, and bytes within one: what comes behind is found all the same. */
static void where_something_is_missing(void **state)
{
	static struct plain plain;
	uint8_t *bytes;
	size_t length;

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		size_t at, removed = i % 2 ? 60 : 500 + 700 * i;

		make_plain(&plain, 60, 20);
		length = load(plain.path, &bytes);
		at = plain.batches[20 + i].offset_bytes + LOG_BLOCK_HEADER_BYTES + 5;
		memmove(bytes + at, bytes + at + removed, length - at - removed);
		store(plain.path, bytes, length - removed);
		free(bytes);
		free(plain.text);
		read_plain(&plain);
		assert_in_range(plain.cnt, 40, 59);
		check_seeks(&plain, 20);
		free_plain(&plain);
	}
}

/* How many records of damage come, reading on from a seek to the last batch. */
static unsigned int damage_before_last(struct plain *plain)
{
	unsigned int damage_cnt = 0;
	struct txtrace_log *log;

	assert_int_equal(txtrace_log_open(&log, plain->path), 0);
	assert_int_equal(txtrace_log_seek_batch(log, plain->batches[plain->cnt - 1].sequence), 0);
	free(read_rest(log, &damage_cnt));
	txtrace_log_close(log);
	return damage_cnt;
}

static void damage_that_is_met_is_told(void **state)
{
	static struct plain plain;
	uint8_t *bytes;
	size_t length;

	(void)state;
	make_plain(&plain, 30, 20);
	length = load(plain.path, &bytes) - LOG_FOOTER_BYTES; /* without an index to jump by */
	store(plain.path, bytes, length);
	assert_int_equal(damage_before_last(&plain), 0);
	bytes[plain.batches[10].offset_bytes + 40] ^= 1; /* in a header */
	store(plain.path, bytes, length);
	assert_int_equal(damage_before_last(&plain), 1);
	bytes[plain.batches[10].offset_bytes + 40] ^= 1;
	/* in a payload, which nobody reads */
	bytes[plain.batches[10].offset_bytes + LOG_BLOCK_HEADER_BYTES] ^= 1;
	store(plain.path, bytes, length);
	assert_int_equal(damage_before_last(&plain), 0);
	free(bytes);
	free_plain(&plain);
}

static void threads_are_for_the_beginning(void **state)
{
	static struct plain plain;
	struct txtrace_record record;
	struct txtrace_log *log;

	(void)state;
	make_plain(&plain, 10, 20);
	assert_int_equal(txtrace_log_open(&log, plain.path), 0);
	assert_int_equal(txtrace_log_set_threads(log, 3), 0);
	assert_int_equal(txtrace_log_set_threads(log, 1000), 0); /* 64 */
	assert_int_equal(txtrace_log_next(log, &record), 1);
	assert_int_equal(txtrace_log_set_threads(log, 0), -EBUSY);
	txtrace_log_close(log); /* with threads that have something to do */
	free_plain(&plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_an_index),
		cmocka_unit_test(without_an_index),
		cmocka_unit_test(with_more_batches_than_entries),
		cmocka_unit_test(with_an_index_that_lies),
		cmocka_unit_test(where_something_is_missing),
		cmocka_unit_test(damage_that_is_met_is_told),
		cmocka_unit_test(threads_are_for_the_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
