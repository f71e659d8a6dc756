/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests of logs of several files: parts of captures in a folder, and what
 * is in them as text. Include it behind cmocka.h.
 */
#ifndef LOG_PARTS_H
#define LOG_PARTS_H

#include "unit/log_samples.h"

#define PART_BATCHES 5
#define PART_RECORDS 7

/* A capture that is being written. */
struct parts {
	struct txtrace_log_info info;
	struct sample_world world;
	char *text; /* all records, but those that say that it goes on */
	size_t length;
	FILE *out;
};

static inline void begin_parts(struct parts *parts, uint64_t seed)
{
	*parts = (struct parts){ .info = sample_info, .world = new_world(seed) };
	parts->info.capture_id[9] = (uint8_t)seed;
	parts->info.start_monotonic_ns += seed;
	parts->out = open_memstream(&parts->text, &parts->length);
}

static inline const char *end_parts(struct parts *parts)
{
	if (parts->out)
		fclose(parts->out);
	parts->out = NULL;
	return parts->text;
}

static inline void free_parts(struct parts *parts)
{
	end_parts(parts);
	free(parts->text);
}

enum part_end { PART_CONTINUED, PART_SUMMARY, PART_CRASH };

static inline void add_record(struct log_writer *writer, struct parts *parts,
			      const struct txtrace_record *record)
{
	assert_int_equal(log_writer_add(writer, record), 0);
	if (record->kind != TXTRACE_RECORD_CONTINUED)
		put_record(parts->out, record);
}

static inline void add_end(struct log_writer *writer, struct parts *parts, enum part_end end)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SUMMARY,
					 .summary = { .time_ns = parts->world.time_ns } };

	if (end == PART_CONTINUED)
		record = (struct txtrace_record){ .kind = TXTRACE_RECORD_CONTINUED,
						  .continued = { parts->world.time_ns,
								 parts->info.part + 1 } };
	if (end != PART_CRASH)
		add_record(writer, parts, &record);
}

/* The next part, as this file; after a crash as path.partial. */
static inline void write_part(struct parts *parts, const char *path, enum part_end end)
{
	struct log_writer_options options = { .codec = LOG_CODEC_ZSTD };
	struct txtrace_record record;
	struct log_writer *writer;

	assert_int_equal(log_writer_open(&writer, path, &parts->info, &options), 0);
	for (unsigned int i = 0; i < PART_BATCHES; i++) {
		for (unsigned int j = 0; j < PART_RECORDS; j++) {
			next_record(&parts->world, &record);
			add_record(writer, parts, &record);
		}
		if (i == PART_BATCHES - 1)
			add_end(writer, parts, end);
		assert_int_equal(log_writer_flush(writer), 0);
	}
	if (end == PART_CRASH)
		log_writer_abort(writer);
	else
		assert_int_equal(log_writer_close(writer), 0);
	parts->info.part++;
	parts->info.first_sequence += PART_BATCHES + 1;
}

/* ---- folders ---- */

static inline char *in_folder(const char *folder, const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
	return path;
}

static inline char *new_folder(void)
{
	char *path;
	const char *base = getenv("TEST_TMPDIR");

	assert_true(asprintf(&path, "%s/folder.XXXXXX", base ? base : "/tmp") > 0);
	assert_non_null(mkdtemp(path));
	return path;
}

/* Frees the name, too. */
static inline void remove_folder(char *folder)
{
	char command[4200];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	assert_int_equal(system(command), 0);
	free(folder);
}

/* The next part, as `name` in the folder. */
static inline void write_part_in(struct parts *parts, const char *folder, const char *name, enum part_end end)
{
	char *path = in_folder(folder, name);

	write_part(parts, path, end);
	free(path);
}

#endif
