/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a log to export, the first one says in which format: whatever is in the log, what comes out is
 * valid in that format.
 */
#include <zlib.h>

#include "export/export.h"
#include "import/sui_batch.h"
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

static void law_of_output(const struct export_format *format, const char *bytes, size_t length)
{
	struct json_reader json = { bytes, bytes + length, 0 };
	Perfetto__Trace *trace;

	if (!strcmp(format->name, "perfetto")) {
		trace = perfetto__trace__unpack(NULL, length, (const uint8_t *)bytes);
		LAW(trace);
		perfetto__trace__free_unpacked(trace, NULL);
	} else if (!strcmp(format->name, "jsonl")) {
		while (json.at < json.end) {
			LAW(*json.at == '{');
			law_of_json(&json);
			LAW(json_take(&json, '\n'));
		}
	} else if (!strcmp(format->name, "pprof")) {
		law_of_pprof(bytes, length);
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
