/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logs that a later minor version may write: what this version does not know is skipped, what it knows is
 * read. The payloads are put together here by hand, from docs/log-format.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crc32c.h"
#include "log/format/log_header.h"
#include "log/format/log_index.h"
#include "unit/log_samples.h"

/* The bytes of a file that is put together. */
struct pile {
	uint8_t bytes[8192];
	size_t length;
};

static void pile_up(struct pile *pile, const void *bytes, size_t length)
{
	memcpy(pile->bytes + pile->length, bytes, length);
	pile->length += length;
}

/* A file header of minor version 7, with 20 bytes behind the strings that nobody knows yet. */
static void pile_header(struct pile *pile, uint16_t major)
{
	uint8_t *header = pile->bytes;
	uint32_t length = log_header_encode(&sample_info, header) + 20;

	log_put_u16(header + LOG_HEADER_MAJOR, major);
	log_put_u16(header + LOG_HEADER_MINOR, 7);
	log_put_u32(header + LOG_HEADER_LENGTH, length);
	memset(header + length - 24, 0xee, 20);
	log_put_u32(header + length - 4, crc32c(header, length - 4));
	pile->length = length;
}

/* A block whose header is 16 bytes longer than ours. */
static void pile_block(struct pile *pile, uint8_t type, uint64_t sequence, const uint8_t *payload,
		       uint32_t length, uint32_t record_cnt)
{
	struct log_block block = { .type = type, .sequence = sequence, .record_cnt = record_cnt };
	uint8_t header[LOG_BLOCK_HEADER_BYTES + 16];

	block.stored_bytes = block.raw_bytes = length;
	block.payload_crc = crc32c(payload, length);
	memcpy(block.capture_id, sample_info.capture_id, sizeof(block.capture_id));
	log_block_encode(&block, header);
	log_put_u32(header + LOG_BLOCK_LENGTH, sizeof(header));
	memset(header + LOG_BLOCK_HEADER_CRC, 0xdd, 16);
	log_put_u32(header + sizeof(header) - 4, crc32c(header, sizeof(header) - 4));
	pile_up(pile, header, sizeof(header));
	pile_up(pile, payload, length);
}

static char *read_pile(const struct pile *pile, unsigned int *damage_cnt)
{
	const char *path = sample_path("future");
	FILE *out = fopen(path, "w");
	char *text;

	assert_non_null(out);
	assert_int_equal(fwrite(pile->bytes, 1, pile->length, out), pile->length);
	fclose(out);
	text = read_sample(path, damage_cnt);
	unlink(path);
	return text;
}

/*
 * Five records: a kind 200 at 1000, a wake at 1010, a kind 0 at 1015, a kind 200 at 1025, a wake at 1026.
 * Wakes have a field 30 and a field 40 that this version does not know, kind 200 has 64 fields, and there are
 * sections that it does not know.
 */
#define ZERO_22 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4

static const uint8_t payload[] = {
	15,             /* sections */
	1, 6,           /* threads */
	2, 5,           /* names */
	9, 4,           /* unknown */
	6, 115,         /* shapes */
	7, 5,           /* order */
	200, 1, 3,      /* unknown, before the columns */
	128, 5, 3,      /* wake, field 0, codes: 256 + 3 * 128 = 640 */
	188, 5, 3,      /* wake, field 30 */
	208, 5, 3,      /* wake, field 40 */
	128, 2, 2,      /* kind 0, field 0: 256 */
	128, 202, 1, 3, /* kind 200, field 0: 256 + 200 * 128 = 25856 */
	129, 202, 1, 2, /* its raw bits */
	128, 128, 4, 2, /* the first column of a shape's own: 65536 */
	130, 128, 4, 2, /* the second */
	160, 141, 6, 1, /* own columns of which there are never so many: 100000 */
	/* threads: 70 of 50, 71 of 50 */
	2, 140, 1, 100, 2, 0,
	/* names: "new" */
	1, 3, 'n', 'e', 'w',
	/* unknown */
	1, 2, 3, 4,
	/* shapes: kind 200 with 64 fields, wake with 41, kind 0 with 1 */
	3, 200, 1, 3, 0, 64, 41, 1,
	0, 0, 0, /* field 0 of each: from its column */
	4, 4,    /* field 1: 0 */
	4, 5,    /* field 2: waker is thread 1 */
	4, 6,    /* field 3: CPU 2 */
	4, 4,    /* field 4 */
	4, 5,    /* field 5: "new" */
	ZERO_22, ZERO_22, 4, 4, 4, 4, /* fields 6 to 29 of both */
	4, 0,    /* field 30: from a column that nobody knows */
	4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, /* fields 31 to 39 of both */
	4, 0,    /* field 40 */
	ZERO_22, /* fields 41 to 62 of kind 200 */
	2, 2,    /* its field 63: from a column of its own, plus 1 */
	/* order */
	0, 1, 2, 0, 1,
	/* unknown */
	7, 7, 7,
	/* times of the wakes: no low bits, 10, 1 */
	0, 10, 1,
	/* their field 30 and field 40, the latter with a number of low bits that does not exist */
	0, 5, 6, 99, 8, 9,
	/* time of the kind 0 */
	0, 5,
	/*
	 * times of the kind 200, of which the lowest bit is raw: 1000 is 500, in the half octave from 384 on,
	 * which has 7 raw bits more, and 0; 10
	 */
	1, 131, 5,
	/* the raw bits: 1000 & 255, and 0 */
	232, 0,
	/* columns of shapes' own, of which there is too little: nobody looks */
	0, 1,
	7, 1,
	1,
};

static const char expected[] =
	"wake cpu=2 pid=50 tid=70 time_ns=1010 waker_comm=new waker_pid=50 waker_tid=71\n"
	"wake cpu=2 pid=50 tid=70 time_ns=1026 waker_comm=new waker_pid=50 waker_tid=71\n";

static void what_is_not_known_is_skipped(void **state)
{
	static const uint8_t noise[] = { 1, 2, 3, 4, 5 };
	unsigned int damage_cnt = 0;
	struct pile pile = { 0 };
	char *text;

	(void)state;
	pile_header(&pile, LOG_VERSION_MAJOR);
	/* a type of block that this version does not know */
	pile_block(&pile, 77, 0, noise, sizeof(noise), 3);
	pile_block(&pile, LOG_BLOCK_BATCH, 1, payload, sizeof(payload), 5);
	text = read_pile(&pile, &damage_cnt);
	assert_string_equal(text, expected);
	assert_int_equal(damage_cnt, 0);
	free(text);
}

/*
 * Headers that are longer, blocks of unknown types, and an index with more in it than is known: seeks go over
 * all of them.
 */
static void a_seek_goes_over_what_is_not_known(void **state)
{
	static const uint8_t noise[] = { 1, 2, 3, 4, 5 };
	const char *path = sample_path("future");
	struct log_index index;
	struct pile pile = { 0 };
	struct txtrace_log *log;
	uint8_t *encoded = malloc(LOG_INDEX_BYTES_MAX + 50), footer[LOG_FOOTER_BYTES];
	uint64_t index_offset;
	uint32_t length;
	char *text;
	FILE *out;

	(void)state;
	assert_int_equal(log_index_init(&index), 0);
	pile_header(&pile, LOG_VERSION_MAJOR);
	pile_block(&pile, 77, 0, noise, sizeof(noise), 3);
	for (uint64_t sequence = 1; sequence < 4; sequence++) {
		log_index_add_batch(&index, &(struct log_index_entry){ pile.length, 0, 0, 5, 1 });
		pile_block(&pile, LOG_BLOCK_BATCH, sequence, payload, sizeof(payload), 5);
	}
	length = log_index_encode(&index, encoded);
	memset(encoded + length, 0xff, 50);
	index_offset = pile.length;
	pile_block(&pile, LOG_BLOCK_INDEX, 4, encoded, length + 50, 0);
	log_footer_encode(index_offset, (uint32_t)(pile.length - index_offset), footer);
	pile_up(&pile, footer, sizeof(footer));
	for (unsigned int has_footer = 0; has_footer < 2; has_footer++) {
		out = fopen(path, "w");
		fwrite(pile.bytes, 1, has_footer ? pile.length : index_offset, out);
		fclose(out);
		assert_int_equal(txtrace_log_open(&log, path), 0);
		assert_int_equal(txtrace_log_seek_batch(log, 3), 0);
		text = read_rest(log, NULL);
		assert_string_equal(text, expected);
		free(text);
		txtrace_log_close(log);
	}
	log_index_release(&index);
	free(encoded);
	unlink(path);
}

static void a_newer_major_version_is_refused(void **state)
{
	const char *path = sample_path("major");
	struct pile pile = { 0 };
	struct txtrace_log *log;
	FILE *out = fopen(path, "w");

	(void)state;
	pile_header(&pile, LOG_VERSION_MAJOR + 1);
	fwrite(pile.bytes, 1, pile.length, out);
	fclose(out);
	assert_int_equal(txtrace_log_open(&log, path), -EPROTONOSUPPORT);
	txtrace_log_close(log);
	assert_non_null(strstr(txtrace_log_strerror(NULL, -EPROTONOSUPPORT), "newer version"));
	unlink(path);
}

/* Its batches say their version too: when the file's header is damaged, that is all there is. */
static void a_batch_of_a_newer_major_version_is_told(void **state)
{
	unsigned int damage_cnt = 0;
	struct pile pile = { 0 };
	size_t begin;
	char *text;

	(void)state;
	pile_header(&pile, LOG_VERSION_MAJOR);
	begin = pile.length;
	pile_block(&pile, LOG_BLOCK_BATCH, 0, payload, sizeof(payload), 5);
	pile.bytes[begin + LOG_BLOCK_MAJOR] = LOG_VERSION_MAJOR + 1;
	log_put_u32(pile.bytes + begin + LOG_BLOCK_HEADER_BYTES + 12,
		    crc32c(pile.bytes + begin, LOG_BLOCK_HEADER_BYTES + 12));
	pile_block(&pile, LOG_BLOCK_BATCH, 1, payload, sizeof(payload), 5);
	text = read_pile(&pile, &damage_cnt);
	assert_int_equal(damage_cnt, 1);
	assert_non_null(strstr(text, "records=5 a batch is of a newer version\n"));
	assert_non_null(strstr(text, expected));
	free(text);
}

static void an_unknown_codec_costs_its_batch(void **state)
{
	unsigned int damage_cnt = 0;
	struct pile pile = { 0 };
	size_t begin;
	char *text;

	(void)state;
	pile_header(&pile, LOG_VERSION_MAJOR);
	begin = pile.length;
	pile_block(&pile, LOG_BLOCK_BATCH, 0, payload, sizeof(payload), 5);
	pile.bytes[begin + LOG_BLOCK_CODEC] = 9;
	log_put_u32(pile.bytes + begin + LOG_BLOCK_HEADER_BYTES + 12,
		    crc32c(pile.bytes + begin, LOG_BLOCK_HEADER_BYTES + 12));
	pile_block(&pile, LOG_BLOCK_BATCH, 1, payload, sizeof(payload), 5);
	text = read_pile(&pile, &damage_cnt);
	assert_int_equal(damage_cnt, 1);
	assert_non_null(strstr(text, "compressed in a way that this version does not know\n"));
	assert_non_null(strstr(text, expected));
	free(text);
}

/* More records than the payload has: what is there is read, the rest is told. */
static void missing_records_are_told(void **state)
{
	unsigned int damage_cnt = 0;
	struct pile pile = { 0 };
	char *text;

	(void)state;
	pile_header(&pile, LOG_VERSION_MAJOR);
	pile_block(&pile, LOG_BLOCK_BATCH, 0, payload, sizeof(payload), 9);
	text = read_pile(&pile, &damage_cnt);
	assert_int_equal(damage_cnt, 1);
	assert_memory_equal(text, expected, sizeof(expected) - 1);
	assert_non_null(strstr(text, "records=4 the rest of a batch makes no sense\n"));
	free(text);
}

static void other_files_are_refused(void **state)
{
	static const struct {
		const char *path;
		int err;
		const char *sentence;
	} files[] = {
		{ "/dev/null", -ESPIPE, "pipe or a device" },
		{ "/proc/self", -ENOMSG, "no log in this directory" },
		{ "/proc/self/missing", -ENOENT, "no such file" },
		{ "/proc/self/exe", -EBADMSG, "not a txtrace log" },
		{ "/proc/self/comm", -EBADMSG, "not a txtrace log" },
	};
	struct txtrace_log *log;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		assert_int_equal(txtrace_log_open(&log, files[i].path), files[i].err);
		assert_string_equal(txtrace_log_path(log), files[i].path);
		txtrace_log_close(log);
		assert_non_null(strstr(txtrace_log_strerror(NULL, files[i].err), files[i].sentence));
	}
	assert_non_null(strstr(txtrace_log_strerror(NULL, -ENODATA), "empty"));
	txtrace_log_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_known_is_skipped),
		cmocka_unit_test(a_seek_goes_over_what_is_not_known),
		cmocka_unit_test(a_newer_major_version_is_refused),
		cmocka_unit_test(a_batch_of_a_newer_major_version_is_told),
		cmocka_unit_test(an_unknown_codec_costs_its_batch),
		cmocka_unit_test(missing_records_are_told),
		cmocka_unit_test(other_files_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
