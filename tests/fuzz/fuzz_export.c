/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a log to export, the first one says in which format: whatever is in the log, what comes out is
 * valid in that format.
 */
#include <lz4.h>
#include <zlib.h>

#include "export/export.h"
#include "import/cbor_reader.h"
#include "import/sui_batch.h"
#include "log/format/ftr_marks.h"
#include "unit/export_folder.h"

#define FUZZ_LOG_AT 1u
#include "fuzz/fuzz_checksums.h"
#include "fuzz/fuzz_laws.h"
#include "perfetto.pb-c.h"
#include "pprof.pb-c.h"

#define RECORD_MAX 3000

#define UNPACKED_MAX (64u << 20)

static void law_of_pprof(const char *bytes, size_t length)
{
	z_stream stream = { .next_in = (uint8_t *)bytes, .avail_in = (unsigned int)length };
	uint8_t *unpacked = malloc(UNPACKED_MAX);
	Pprof__Profile *profile;

	LAW(unpacked && inflateInit2(&stream, 15 + 16) == Z_OK);
	stream.next_out = unpacked;
	stream.avail_out = UNPACKED_MAX;
	LAW(inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_in == 0);
	profile = pprof__profile__unpack(NULL, UNPACKED_MAX - stream.avail_out, unpacked);
	LAW(profile && profile->n_string_table > 0 && profile->string_table[0][0] == '\0');
	pprof__profile__free_unpacked(profile, NULL);
	inflateEnd(&stream);
	free(unpacked);
}

/* Batches of Sui's, to the end: each can be read. */
static void law_of_batches(const uint8_t *bytes, size_t length, uint32_t type_cnt)
{
	struct sui_records records;
	struct sui_record record;
	struct error error;
	int result;

	while (length > 0) {
		struct sui_batch batch = { .bytes = bytes + 4 };

		LAW(length > 4);
		batch.length = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (size_t)bytes[3] << 24;
		LAW(batch.length > 0 && batch.length <= length - 4);
		sui_records_init(&records, &batch);
		do
			result = sui_records_next(&records, type_cnt, &record, &error);
		while (result == 1);
		LAW(result == 0);
		bytes += 4 + batch.length;
		length -= 4 + batch.length;
	}
}

static struct cbor_item cbor_take(struct cbor_reader *reader, enum cbor_kind kind)
{
	struct cbor_item item;

	LAW(!cbor_next(reader, &item) && item.kind == kind);
	return item;
}

/* One item and nothing behind it. */
static void law_of_cbor(const uint8_t *bytes, size_t length)
{
	struct cbor_reader reader = { .at = bytes, .end = bytes + length };
	struct cbor_item item;

	LAW(!cbor_next(&reader, &item) && !cbor_skip(&reader, &item) && reader.at == reader.end);
}

/* A chunk is a string of bytes, or a list that ends with one; and these are CBOR, maybe packed. */
static void law_of_chunk(struct cbor_reader *reader, uint64_t tag)
{
	bool is_packed = tag % 2 == 1, is_block = tag - is_packed == FTR_TAG_TRANSACTIONS;
	struct cbor_item contents;
	uint64_t size = 0;
	char *unpacked;

	LAW(tag >= FTR_TAG_INFO && tag <= FTR_TAG_RELATIONS + 1);
	if (is_packed || is_block)
		LAW(cbor_take(reader, CBOR_ARRAY).value == (is_block ? 4u : 1u) + is_packed);
	for (int i = 0; is_block && i < 3; i++) /* the stream, and from when to when */
		cbor_take(reader, CBOR_UNSIGNED);
	if (is_packed)
		size = cbor_take(reader, CBOR_UNSIGNED).value;
	contents = cbor_take(reader, CBOR_BYTES);
	if (!is_packed) {
		law_of_cbor(contents.bytes, contents.length);
		return;
	}
	LAW(size > 0 && size <= UNPACKED_MAX);
	unpacked = malloc(size);
	LAW(unpacked && LZ4_decompress_safe((const char *)contents.bytes, unpacked, (int)contents.length,
					    (int)size) == (int)size);
	law_of_cbor((const uint8_t *)unpacked, size);
	free(unpacked);
}

static void law_of_ftr(const char *bytes, size_t length)
{
	struct cbor_reader reader = { .at = (const uint8_t *)bytes, .end = (const uint8_t *)bytes + length };
	struct cbor_item item;

	LAW(cbor_take(&reader, CBOR_TAG).value == FTR_TAG_FILE);
	LAW(cbor_take(&reader, CBOR_ARRAY).value == CBOR_INDEFINITE);
	while (!cbor_next(&reader, &item) && item.kind == CBOR_TAG)
		law_of_chunk(&reader, item.value);
	LAW(item.kind == CBOR_BREAK && reader.at == reader.end);
}

/* Lines for a terminal, the last one whole, too. */
static void law_of_text(const char *bytes, size_t length)
{
	const char *end = bytes + length, *stop;

	for (; bytes < end; bytes = stop + 1) {
		stop = memchr(bytes, '\n', (size_t)(end - bytes));
		LAW(stop);
		law_of_lines(bytes, (size_t)(stop - bytes));
	}
}

/* A TracesData: nothing but its field 1, again and again, each with its length. */
static void law_of_traces(const uint8_t *bytes, size_t length)
{
	const uint8_t *end = bytes + length;

	while (bytes < end) {
		uint64_t size = 0;
		unsigned int shift = 0;

		LAW(*bytes++ == (1 << 3 | 2));
		do {
			LAW(bytes < end && shift < 63);
			size |= (uint64_t)(*bytes & 0x7f) << shift;
			shift += 7;
		} while (*bytes++ & 0x80);
		LAW(size <= (size_t)(end - bytes));
		bytes += size;
	}
}

static void law_of_output(const struct export_format *format, const char *bytes, size_t length)
{
	struct json_reader json = { bytes, bytes + length, 0 };
	Perfetto__Trace *trace;

	if (!strcmp(format->name, "perfetto")) {
		trace = perfetto__trace__unpack(NULL, length, (const uint8_t *)bytes);
		LAW(trace);
		perfetto__trace__free_unpacked(trace, NULL);
	} else if (!strcmp(format->name, "otlp")) {
		law_of_traces((const uint8_t *)bytes, length);
	} else if (!strcmp(format->name, "jsonl") || !strcmp(format->name, "otlp-json")) {
		while (json.at < json.end) {
			LAW(*json.at == '{');
			law_of_json(&json);
			LAW(json_take(&json, '\n'));
		}
	} else if (!strcmp(format->name, "pprof")) {
		law_of_pprof(bytes, length);
	} else if (!strcmp(format->name, "ftr-text") || !strcmp(format->name, "fvm")) {
		law_of_text(bytes, length);
	} else if (!strncmp(format->name, "ftr", 3)) {
		law_of_ftr(bytes, length);
	} else if (!strcmp(format->name, "csv")) {
		LAW(length > 2 && !memcmp(bytes + length - 2, "\r\n", 2));
	} else if (!format->open) {
		LAW(length == 0);
	} else if (!strncmp(format->name, "tokio", 5)) {
		LAW(length >= 12 && !memcmp(bytes, "TOKIOTRC", 8));
	} else if (!strcmp(format->name, "sqlite")) {
		/* pages of 4096 bytes, all of them there: by the header, which has their number at 28 */
		LAW(length >= 4096 && length % 4096 == 0 && !memcmp(bytes, "SQLite format 3", 16));
		LAW(length / 4096 == ((size_t)(uint8_t)bytes[30] << 8 | (uint8_t)bytes[31]) +
					     ((size_t)(uint8_t)bytes[29] << 16));
	} else if (!strncmp(format->name, "sui", 3)) {
		law_of_batches((const uint8_t *)bytes, length, format->name[3] == '2' ? 2 : 4);
	} else {
		law_of_json(&json);
		json_skip_blanks(&json);
		LAW(json.at == json.end);
	}
}

static void export(struct txtrace_log *log, const struct export_format *format)
{
	struct txtrace_record record;
	struct export_folder folder = { .fd = -1 };
	struct export *export;
	size_t length = 0;
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, &length);

	if (!format->open) {
		export_folder_make(&folder);
		LAW(out && !export_open_in(&export, format, folder.fd, txtrace_log_info(log)));
	} else {
		LAW(out && !export_open(&export, format, out, txtrace_log_info(log)));
	}
	for (uint32_t cnt = 0; cnt < RECORD_MAX && txtrace_log_next(log, &record) > 0; cnt++)
		LAW(!export_add(export, &record));
	LAW(!export_close(export, 0, NULL));
	fclose(out);
	if (!format->open)
		LAW(export_folder_remove(&folder) > 0);
	law_of_output(format, bytes, length);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct fuzz_file file;
	struct fuzz_bytes bytes = { data, size };
	size_t format_cnt = 0, number = fuzz_take(&bytes, FUZZ_LOG_AT);
	struct txtrace_log *log;

	while (export_format_at(format_cnt))
		format_cnt++;
	if (!txtrace_log_open(&log, fuzz_file_set(&file, bytes.at, bytes.left)))
		export(log, export_format_at(number % format_cnt));
	txtrace_log_close(log);
	return 0;
}
