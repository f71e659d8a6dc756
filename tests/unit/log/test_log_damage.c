/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damage costs the batch that it is in, and is told; the rest is read. A small log of four batches is cut at
 * every byte, has every byte changed, loses and gains bytes and blocks, and shrinks while it is read. With
 * right checksums and any bytes behind them nothing worse happens. All of this is read with and without
 * threads, with the same result, and from the middle on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "base/crc32c.h"
#include "log/format/log_header.h"
#include "unit/log_samples.h"

#define BATCH_CNT 4
#define RECORDS_PER_BATCH 6
#define PART_MAX 8
/*
 * Which byte it is makes no difference to what the threads do, nor to what is
 * read of a batch whose checksum is wrong. With a sanitizer all bytes take a
 * minute, so it tries every few; the build without one tries each.
 */
#ifdef __SANITIZE_THREAD__
#define STEP 29
#elif defined(__SANITIZE_ADDRESS__)
#define STEP 5
#else
#define STEP 1
#endif

/*
 * A log in memory, where its parts begin, and what its batches hold as text. Part 0 is the header; then the
 * batches, the index, the footer.
 */
struct specimen {
	uint8_t bytes[65536];
	size_t length;
	size_t parts[PART_MAX];
	char *batches[BATCH_CNT];
	int fd; /* the file in memory that its changed versions are read from */
	/* without threads, and from the beginning: where another specimen is read in all ways */
	bool is_read_once;
	char path[32];
};

static void find_parts(struct specimen *specimen)
{
	size_t at = log_get_u32(specimen->bytes + LOG_HEADER_LENGTH), part = 1;
	struct log_block block;

	for (; log_block_decode(specimen->bytes + at, specimen->length - at, &block); part++) {
		specimen->parts[part] = at;
		at += block.header_bytes + block.stored_bytes;
	}
	specimen->parts[part] = at;
	specimen->parts[part + 1] = at + LOG_FOOTER_BYTES;
	assert_int_equal(part, BATCH_CNT + 2);
	assert_int_equal(at + LOG_FOOTER_BYTES, specimen->length);
}

static void load(struct specimen *specimen, const char *path)
{
	int fd = open(path, O_RDONLY);

	specimen->length = (size_t)read(fd, specimen->bytes, sizeof(specimen->bytes));
	close(fd);
	assert_in_range(specimen->length, 1, sizeof(specimen->bytes) - 1);
}

static void store(const struct specimen *specimen, const uint8_t *bytes, size_t length)
{
	assert_int_equal(ftruncate(specimen->fd, 0), 0);
	assert_int_equal(pwrite(specimen->fd, bytes, length, 0), (ssize_t)length);
}

static void make_specimen(struct specimen *specimen, enum log_codec codec)
{
	const char *path = sample_path("damage");
	struct sample_world world = new_world(7);
	struct txtrace_record record;
	struct log_writer *writer;

	memset(specimen, 0, sizeof(*specimen));
	specimen->fd = memfd_create("damage", 0);
	snprintf(specimen->path, sizeof(specimen->path), "/proc/self/fd/%d", specimen->fd);
	writer = open_sample(path, codec, 0);
	for (unsigned int i = 0; i < BATCH_CNT; i++) {
		size_t length;
		FILE *out = open_memstream(&specimen->batches[i], &length);

		for (unsigned int j = 0; j < RECORDS_PER_BATCH; j++) {
			next_record(&world, &record);
			assert_int_equal(log_writer_add(writer, &record), 0);
			put_record(out, &record);
		}
		assert_int_equal(log_writer_flush(writer), 0);
		fclose(out);
	}
	assert_int_equal(log_writer_close(writer), 0);
	load(specimen, path);
	unlink(path);
	find_parts(specimen);
	store(specimen, specimen->bytes, specimen->length);
}

static void discard(struct specimen *specimen)
{
	close(specimen->fd);
	for (unsigned int i = 0; i < BATCH_CNT; i++)
		free(specimen->batches[i]);
}

/*
 * What a reader makes of the file: which batches came whole, and the damage. Anything else that came fails
 * the test.
 */
struct outcome {
	int open_err;
	bool has_batch[BATCH_CNT];
	unsigned int batch_cnt;
	unsigned int damage_cnt;
	char *text; /* to be freed */
	char first_damage[256];
};

/* From this batch on; 0: from the beginning. */
static char *read_from(const char *path, unsigned int thread_cnt, uint64_t sequence)
{
	struct txtrace_log *log;
	char *text;

	assert_int_equal(txtrace_log_open(&log, path), 0);
	assert_int_equal(txtrace_log_set_threads(log, thread_cnt), 0);
	if (sequence)
		assert_int_equal(txtrace_log_seek_batch(log, sequence), 0);
	text = read_rest(log, NULL);
	assert_true(txtrace_log_is_at_end(log));
	txtrace_log_close(log);
	return text;
}

/* The whole log, which is the same for any number of threads. */
static char *read_whole(const struct specimen *specimen)
{
	char *text = read_from(specimen->path, 0, 0), *threaded;

	if (specimen->is_read_once)
		return text;
	threaded = read_from(specimen->path, 2, 0);
	assert_string_equal(text, threaded);
	free(threaded);
	return text;
}

/*
 * What comes from batch 2 on is what the whole reading has of it: damage may be passed over on the way there,
 * no record of it is.
 */
static void check_seek(const struct specimen *specimen, const struct outcome *whole)
{
	char *text = read_from(specimen->path, whole->damage_cnt % 2 ? 0 : 2, 2), *begin;

	for (unsigned int i = 0; i < BATCH_CNT; i++) {
		begin = strstr(text, specimen->batches[i]);
		assert_int_equal(begin != NULL, i >= 2 && whole->has_batch[i]);
	}
	free(text);
}

static struct outcome read_outcome(const struct specimen *specimen)
{
	struct outcome outcome = { 0 };
	unsigned int next = 0;
	struct txtrace_log *log;
	const char *at;

	outcome.open_err = txtrace_log_open(&log, specimen->path);
	txtrace_log_close(log);
	if (outcome.open_err)
		return outcome;
	outcome.text = read_whole(specimen);
	for (at = outcome.text; *at;) {
		if (!strncmp(at, "damage ", 7)) {
			if (!outcome.damage_cnt++)
				snprintf(outcome.first_damage, sizeof(outcome.first_damage), "%.*s",
					 (int)strcspn(at, "\n"), at);
			at = strchr(at, '\n') + 1;
			continue;
		}
		while (next < BATCH_CNT &&
		       strncmp(at, specimen->batches[next], strlen(specimen->batches[next])))
			next++;
		if (next == BATCH_CNT)
			fail_msg("a record that was not written: %.*s", (int)strcspn(at, "\n"), at);
		at += strlen(specimen->batches[next]);
		outcome.has_batch[next++] = true;
		outcome.batch_cnt++;
	}
	if (!specimen->is_read_once)
		check_seek(specimen, &outcome);
	return outcome;
}

/*
 * A specimen that is read without threads shows ThreadSanitizer nothing, and reading it takes a minute there.
 */
static bool is_skipped(struct specimen *specimen)
{
#ifdef __SANITIZE_THREAD__
	if (specimen->is_read_once) {
		discard(specimen);
		return true;
	}
#endif
	(void)specimen;
	return false;
}

static const enum log_codec codecs[] = { LOG_CODEC_NONE, LOG_CODEC_ZSTD, LOG_CODEC_LZ4 };

static void cut_anywhere_it_reads_what_is_whole(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct specimen specimen;

		make_specimen(&specimen, codecs[i]);
		specimen.is_read_once = codecs[i] != LOG_CODEC_ZSTD;
		if (is_skipped(&specimen))
			continue;
		for (size_t length = 0; length < specimen.length; length += STEP) {
			struct outcome outcome;
			bool is_between = false;

			store(&specimen, specimen.bytes, length);
			outcome = read_outcome(&specimen);
			if (length < specimen.parts[1]) {
				assert_int_equal(outcome.open_err,
						 length ? length < LOG_MAGIC_BYTES ? -EBADMSG : 0 : -ENODATA);
				assert_int_equal(outcome.batch_cnt, 0);
				free(outcome.text);
				continue;
			}
			for (unsigned int part = 1; part < PART_MAX; part++)
				is_between |= length == specimen.parts[part];
			for (unsigned int batch = 0; batch < BATCH_CNT; batch++)
				assert_int_equal(outcome.has_batch[batch],
						 length >= specimen.parts[batch + 2]);
			assert_int_equal(outcome.damage_cnt, is_between ? 0 : 1);
			free(outcome.text);
		}
		discard(&specimen);
	}
}

static void any_changed_byte_costs_its_batch_only(void **state)
{
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };

	(void)state;
	for (unsigned int i = 0; i < 9; i++) {
		struct specimen specimen;

		make_specimen(&specimen, codecs[i / 3]);
		specimen.is_read_once = i != 3;
		if (is_skipped(&specimen))
			continue;
		for (size_t at = 0; at < specimen.length; at += STEP) {
			struct outcome outcome;

			specimen.bytes[at] ^= changes[i % 3];
			store(&specimen, specimen.bytes, specimen.length);
			specimen.bytes[at] ^= changes[i % 3];
			outcome = read_outcome(&specimen);
			assert_int_equal(outcome.open_err, 0);
			assert_int_equal(outcome.damage_cnt, 1);
			for (unsigned int batch = 0; batch < BATCH_CNT; batch++)
				assert_int_equal(outcome.has_batch[batch],
						 at < specimen.parts[batch + 1] ||
							 at >= specimen.parts[batch + 2]);
			free(outcome.text);
		}
		discard(&specimen);
	}
}

static void damage_says_where_and_how_much(void **state)
{
	struct specimen specimen;
	struct outcome outcome;
	char expected[256];

	(void)state;
	make_specimen(&specimen, LOG_CODEC_ZSTD);
	specimen.bytes[specimen.parts[2] + LOG_BLOCK_HEADER_BYTES + 3] ^= 1;
	store(&specimen, specimen.bytes, specimen.length);
	outcome = read_outcome(&specimen);
	snprintf(expected, sizeof(expected),
		 "damage offset=%zu length=%zu records=%d the checksum of a batch is wrong",
		 specimen.parts[2], specimen.parts[3] - specimen.parts[2], RECORDS_PER_BATCH);
	assert_string_equal(outcome.first_damage, expected);
	free(outcome.text);

	specimen.bytes[specimen.parts[2] + LOG_BLOCK_HEADER_BYTES + 3] ^= 1;
	store(&specimen, specimen.bytes, specimen.parts[4] - 1);
	outcome = read_outcome(&specimen);
	snprintf(expected, sizeof(expected),
		 "damage offset=%zu length=%zu records=%d the file ends in the middle of a batch",
		 specimen.parts[3], specimen.parts[4] - 1 - specimen.parts[3], RECORDS_PER_BATCH);
	assert_string_equal(outcome.first_damage, expected);
	free(outcome.text);
	discard(&specimen);
}

/* Replaces `removed` bytes at `at` by `added`; reads the result. */
static struct outcome edit(const struct specimen *specimen, size_t at, size_t removed, const uint8_t *added,
			   size_t added_length)
{
	uint8_t *bytes = malloc(specimen->length + added_length);
	size_t length = specimen->length - removed + added_length;
	struct outcome outcome;

	memcpy(bytes, specimen->bytes, at);
	memcpy(bytes + at, added, added_length);
	memcpy(bytes + at + added_length, specimen->bytes + at + removed, specimen->length - at - removed);
	store(specimen, bytes, length);
	free(bytes);
	outcome = read_outcome(specimen);
	assert_int_equal(outcome.open_err, 0);
	return outcome;
}

static void missing_bytes_cost_the_batch_that_lost_them(void **state)
{
	struct specimen specimen;

	(void)state;
	make_specimen(&specimen, LOG_CODEC_ZSTD);
	for (size_t removed = 1; removed < 60; removed++) {
		struct outcome outcome = edit(&specimen, specimen.parts[2] + LOG_BLOCK_HEADER_BYTES + 2,
					      removed, specimen.bytes, 0);

		assert_int_equal(outcome.batch_cnt, BATCH_CNT - 1);
		assert_false(outcome.has_batch[1]);
		assert_int_equal(outcome.damage_cnt, 1);
		free(outcome.text);
	}
	discard(&specimen);
}

static void a_missing_batch_is_missed(void **state)
{
	struct specimen specimen;
	struct outcome outcome;

	(void)state;
	make_specimen(&specimen, LOG_CODEC_ZSTD);
	outcome = edit(&specimen, specimen.parts[2], specimen.parts[3] - specimen.parts[2], specimen.bytes,
		       0);
	assert_int_equal(outcome.batch_cnt, BATCH_CNT - 1);
	assert_non_null(strstr(outcome.first_damage, "batches are missing before this place"));
	assert_int_equal(outcome.damage_cnt, 1);
	free(outcome.text);
	discard(&specimen);
}

static void foreign_bytes_are_skipped(void **state)
{
	static uint8_t foreign[200000];
	struct specimen specimen;
	struct log_block block;

	(void)state;
	make_specimen(&specimen, LOG_CODEC_ZSTD);
	for (size_t length = 1; length < sizeof(foreign); length = length * 5 + 3) {
		struct outcome outcome = edit(&specimen, specimen.parts[3], 0, foreign, length);

		assert_int_equal(outcome.batch_cnt, BATCH_CNT);
		assert_int_equal(outcome.damage_cnt, 1);
		free(outcome.text);
	}
	/*
	 * A sound batch of another capture, as a traced program might put into a tag: it is not taken for one
	 * of ours.
	 */
	memcpy(foreign, specimen.bytes + specimen.parts[1], specimen.parts[2] - specimen.parts[1]);
	assert_true(log_block_decode(foreign, sizeof(foreign), &block));
	block.capture_id[5] ^= 1;
	log_block_encode(&block, foreign);
	for (unsigned int part = 1; part <= BATCH_CNT + 1; part++) {
		struct outcome outcome = edit(&specimen, specimen.parts[part], 0, foreign,
					      specimen.parts[2] - specimen.parts[1]);

		assert_int_equal(outcome.batch_cnt, BATCH_CNT);
		assert_int_equal(outcome.damage_cnt, 1);
		assert_non_null(strstr(outcome.first_damage, "no batch begins where one should"));
		free(outcome.text);
	}
	discard(&specimen);
}

static void bytes_behind_the_end_are_told(void **state)
{
	struct specimen specimen;
	struct outcome outcome;

	(void)state;
	make_specimen(&specimen, LOG_CODEC_ZSTD);
	outcome = edit(&specimen, specimen.length, 0, specimen.bytes, 50);
	assert_int_equal(outcome.batch_cnt, BATCH_CNT);
	assert_non_null(strstr(outcome.first_damage, "length=50 records=0 bytes follow the end of the log"));
	free(outcome.text);
	discard(&specimen);
}

/*
 * Damage long enough that the search goes over several of its windows, with the next block across a window's
 * edge.
 */
static void a_long_search_finds_the_next_block(void **state)
{
	struct specimen specimen;
	size_t window = 256 << 10;
	uint8_t *noise = calloc(1, 2 * window);

	(void)state;
	make_specimen(&specimen, LOG_CODEC_ZSTD);
	for (size_t length = window - 2048; length < window + 256; length += 61) {
		struct outcome outcome = edit(&specimen, specimen.parts[2], 0, noise, length);

		assert_int_equal(outcome.batch_cnt, BATCH_CNT);
		assert_int_equal(outcome.damage_cnt, 1);
		free(outcome.text);
	}
	free(noise);
	discard(&specimen);
}

static void a_file_that_shrinks_ends_there(void **state)
{
	struct txtrace_record record;
	struct specimen specimen;
	struct txtrace_log *log;
	unsigned int damage_cnt = 0;

	(void)state;
	make_specimen(&specimen, LOG_CODEC_ZSTD);
	assert_int_equal(txtrace_log_open(&log, specimen.path), 0);
	assert_int_equal(txtrace_log_next(log, &record), 1);
	assert_int_equal(truncate(specimen.path, (off_t)(specimen.parts[2] + 10)), 0);
	for (unsigned int i = 1; i < RECORDS_PER_BATCH; i++)
		assert_int_equal(txtrace_log_next(log, &record), 1);
	while (txtrace_log_next(log, &record) > 0) {
		assert_int_equal(record.kind, TXTRACE_RECORD_DAMAGE);
		damage_cnt++;
	}
	assert_int_equal(damage_cnt, 1);
	assert_false(txtrace_log_is_complete(log));
	txtrace_log_close(log);
	discard(&specimen);
}

/* Puts the right checksum on whatever the payload of this batch is now. */
static void reseal(uint8_t *bytes)
{
	struct log_block block;

	assert_true(log_block_decode(bytes, SIZE_MAX, &block));
	block.payload_crc = crc32c(bytes + LOG_BLOCK_HEADER_BYTES, block.stored_bytes);
	log_block_encode(&block, bytes);
}

/*
 * What a reader makes of such a batch is its own affair, but it comes to an end, and the other batches are
 * read.
 */
static void right_checksums_prove_nothing(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct specimen specimen;
		uint8_t *batch;

		make_specimen(&specimen, codecs[i]);
		batch = specimen.bytes + specimen.parts[2];
		for (size_t at = specimen.parts[2] + LOG_BLOCK_HEADER_BYTES; at < specimen.parts[3]; at++) {
			for (unsigned int change = 1; change < 256; change = change * 2 + 1) {
				char *text;

				specimen.is_read_once = codecs[i] != LOG_CODEC_NONE || change != 255;
				specimen.bytes[at] ^= (uint8_t)change;
				reseal(batch);
				store(&specimen, specimen.bytes, specimen.length);
				specimen.bytes[at] ^= (uint8_t)change;
				text = read_whole(&specimen);
				assert_non_null(strstr(text, specimen.batches[0]));
				assert_non_null(strstr(text, specimen.batches[2]));
				assert_non_null(strstr(text, specimen.batches[3]));
				free(text);
			}
		}
		discard(&specimen);
	}
}

static void claims_are_not_believed(void **state)
{
	static const uint32_t sizes[] = {
		0, 1, 1000, LOG_PAYLOAD_MAX_BYTES, LOG_PAYLOAD_MAX_BYTES + 1, UINT32_MAX
	};
	struct specimen specimen;

	(void)state;
	make_specimen(&specimen, LOG_CODEC_ZSTD);
	for (unsigned int i = 0; i < 3 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *batch = specimen.bytes + specimen.parts[2], saved[LOG_BLOCK_HEADER_BYTES];
		struct log_block block;
		char *text;

		memcpy(saved, batch, sizeof(saved));
		assert_true(log_block_decode(batch, SIZE_MAX, &block));
		*(i % 3 == 0   ? &block.stored_bytes
		  : i % 3 == 1 ? &block.raw_bytes
			       : &block.record_cnt) = sizes[i / 3];
		log_block_encode(&block, batch);
		store(&specimen, specimen.bytes, specimen.length);
		memcpy(batch, saved, sizeof(saved));
		text = read_whole(&specimen);
		assert_non_null(strstr(text, specimen.batches[0]));
		assert_non_null(strstr(text, specimen.batches[2]));
		assert_non_null(strstr(text, specimen.batches[3]));
		assert_true(i % 3 == 2 || !strstr(text, specimen.batches[1]));
		free(text);
	}
	discard(&specimen);
}

/* Each header is sound and claims a payload of half the file, which has no right checksum. */
static void a_file_of_headers_comes_to_an_end(void **state)
{
	const uint32_t header_cnt = 60000;
	uint8_t *bytes = malloc(header_cnt * LOG_BLOCK_HEADER_BYTES);
	struct log_block block = { .type = LOG_BLOCK_BATCH,
				   .stored_bytes = header_cnt * LOG_BLOCK_HEADER_BYTES / 2,
				   .raw_bytes = 1 };
	struct specimen specimen;
	struct outcome outcome;

	(void)state;
	make_specimen(&specimen, LOG_CODEC_ZSTD);
	memcpy(block.capture_id, sample_info.capture_id, sizeof(block.capture_id));
	for (uint32_t i = 0; i < header_cnt; i++)
		log_block_encode(&block, bytes + i * LOG_BLOCK_HEADER_BYTES);
	outcome = edit(&specimen, specimen.parts[1], 0, bytes, header_cnt * LOG_BLOCK_HEADER_BYTES);
	assert_true(outcome.damage_cnt > 0);
	free(outcome.text);
	free(bytes);
	discard(&specimen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_anywhere_it_reads_what_is_whole),
		cmocka_unit_test(any_changed_byte_costs_its_batch_only),
		cmocka_unit_test(damage_says_where_and_how_much),
		cmocka_unit_test(missing_bytes_cost_the_batch_that_lost_them),
		cmocka_unit_test(a_missing_batch_is_missed),
		cmocka_unit_test(foreign_bytes_are_skipped),
		cmocka_unit_test(bytes_behind_the_end_are_told),
		cmocka_unit_test(a_long_search_finds_the_next_block),
		cmocka_unit_test(a_file_that_shrinks_ends_there),
		cmocka_unit_test(right_checksums_prove_nothing),
		cmocka_unit_test(claims_are_not_believed),
		cmocka_unit_test(a_file_of_headers_comes_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
