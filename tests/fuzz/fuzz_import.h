/* SPDX-License-Identifier: BSD-2-Clause */
/* What holds of every import: any bytes in, and records, sentences and a result that keep their laws. */
#ifndef FUZZ_IMPORT_H
#define FUZZ_IMPORT_H

#include <errno.h>

#include "fuzz/fuzz_laws.h"
#include "import/import_formats.h"

struct fuzz_import {
	bool has_begun;
	uint64_t record_cnt;
	uint64_t said_cnt;
};

static inline int fuzz_import_begin(void *context, const struct txtrace_log_info *info)
{
	struct fuzz_import *run = context;

	LAW(!run->has_begun && info->recorder[0]);
	run->has_begun = true;
	return 0;
}

static inline int fuzz_import_add(void *context, struct txtrace_record *record)
{
	struct fuzz_import *run = context;

	LAW(run->has_begun);
	law_of_records(record);
	run->record_cnt += record->kind != TXTRACE_RECORD_DAMAGE;
	return 0;
}

static inline void fuzz_import_say(void *context, const char *sentence)
{
	struct fuzz_import *run = context;

	LAW(sentence[0]);
	law_of_lines(sentence, strlen(sentence));
	run->said_cnt++;
}

static inline void fuzz_import_path(const struct import_format *format, const struct import_options *options,
				    const char *path)
{
	struct fuzz_import run = { 0 };
	const struct import_sink sink = {
		.begin = fuzz_import_begin, .add = fuzz_import_add, .say = fuzz_import_say, .context = &run
	};
	struct import_result result;
	int err = import_run(format, &path, 1, options, &sink, &result);

	LAW(err == 0 || err == -ECANCELED || err == -ENOMEM);
	if (err == 0)
		LAW(run.has_begun && result.record_cnt == run.record_cnt && !result.error.text[0]);
	if (err == -ECANCELED)
		LAW(result.error.text[0]);
	if (result.problem_cnt > 0)
		LAW(run.said_cnt > 0);
}

/*
 * The bytes as one file of this format. Not in zstd's: its header may ask for a window of 128 MiB, which is
 * the library's own bound, and above that of a fuzzer.
 */
static inline void fuzz_import_file(const struct import_format *format, const struct import_options *options,
				    const uint8_t *data, size_t size)
{
	static const uint8_t zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	static struct fuzz_file file;

	if (size >= sizeof(zstd) && memcmp(data, zstd, sizeof(zstd)) == 0)
		return;
	fuzz_import_path(format, options, fuzz_file_set(&file, data, size));
	format->is_format(data, size < IMPORT_HEAD_BYTES ? size : IMPORT_HEAD_BYTES);
}

#endif
