/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/import.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "import/import_formats.h"
#include "import/import_files.h"
#include "log/format/record_table.h"

#define SAID_MAX 5 /* complaints; the others are counted */

/* Formats with a magic number first. */
static const struct import_format *const formats[] = {
	&import_tokio,
	&import_ftr,
	&import_monad,
	&import_otlp, /* no magic number, but names that no other has */
	&import_fvm,  /* text has none, but its lines have a shape */
	&import_perf, /* likewise */
	&import_ftrace,
	&import_sui, /* has none */
	NULL,
};

struct import {
	const struct import_format *format;
	const struct import_options *options;
	const struct import_sink *sink;
	struct import_result *result;
	struct import_files files;
	size_t next_file;
	struct import_source *source;
	uint64_t done_bytes; /* of the inputs before that */
	bool has_begun;
	bool has_early_damage; /* that was complained about before */
	uint64_t last_ns;      /* of the records so far: the end of the log */
};

/* ---- the table ---- */

const struct import_format *import_format_at(size_t index)
{
	return index < sizeof(formats) / sizeof(*formats) ? formats[index] : NULL;
}

/* NULL: the bytes are of no format in the table. */
static const struct import_format *import_format_detect(const uint8_t *head, size_t length)
{
	for (size_t i = 0; formats[i]; i++) {
		if (formats[i]->is_format(head, length))
			return formats[i];
	}
	return NULL;
}

/* ---- what formats call ---- */

int import_next_source(struct import *import, struct import_source **source)
{
	const char *path;
	int err;

	if (import->source)
		import->done_bytes += import_source_file_offset(import->source);
	import_source_close(import->source);
	import->source = *source = NULL;
	if (import->next_file == import->files.cnt)
		return 0;
	path = import->files.paths[import->next_file++];
	err = import_source_open(&import->source, path);
	if (err) {
		error_set(&import->result->error, "can't read '%s': %s", path, strerror(-err));
		return err;
	}
	*source = import->source;
	return 1;
}

bool import_can_rewind(const struct import *import)
{
	struct stat status;

	for (size_t i = 0; i < import->files.cnt; i++) {
		const char *path = import->files.paths[i];

		/* one that is not there is told of when it is opened */
		if (strcmp(path, "-") == 0 || (stat(path, &status) == 0 && !S_ISREG(status.st_mode)))
			return false;
	}
	return true;
}

void import_rewind(struct import *import)
{
	import_source_close(import->source);
	import->source = NULL;
	import->next_file = 0;
	import->done_bytes = 0;
}

bool import_wait(struct import *import, uint64_t time_ns)
{
	return !import->sink->wait || import->sink->wait(import->sink->context, time_ns);
}

const struct import_options *import_options(const struct import *import)
{
	return import->options;
}

static int add_damage(struct import *import)
{
	struct txtrace_record damage = { .kind = TXTRACE_RECORD_DAMAGE };

	damage.damage.reason = "the input of the import was damaged";
	return import->sink->add(import->sink->context, &damage);
}

int import_begin(struct import *import, const struct txtrace_log_info *info)
{
	struct txtrace_log_info header = *info;
	int err;

	if (import->has_begun)
		return -EALREADY;
	snprintf(header.recorder, sizeof(header.recorder), "txtrace %s import", TXTRACE_VERSION);
	if (getrandom(header.capture_id, sizeof(header.capture_id), 0) != sizeof(header.capture_id))
		return -EIO;
	memcpy(header.boot_id, header.capture_id, sizeof(header.boot_id));
	import->has_begun = true;
	import->last_ns = info->start_monotonic_ns;
	err = import->sink->begin(import->sink->context, &header);
	return !err && import->has_early_damage ? add_damage(import) : err;
}

int import_add(struct import *import, struct txtrace_record *record)
{
	uint64_t time_ns = record_finished_ns(record);
	int err = import->sink->add(import->sink->context, record);

	if (time_ns > import->last_ns)
		import->last_ns = time_ns;
	import->result->record_cnt += !err;
	if (import->source && import->sink->progress)
		import->sink->progress(import->sink->context,
				       import->done_bytes + import_source_file_offset(import->source),
				       import->files.bytes);
	return err;
}

int import_complain(struct import *import, uint64_t offset, const char *format, ...)
{
	struct error what, sentence;
	va_list arguments;

	va_start(arguments, format);
	error_set_arguments(&what, format, arguments);
	va_end(arguments);
	error_set(&sentence, "'%s', byte %" PRIu64 ": %s", import_source_path(import->source), offset,
		  what.text);
	if (import->result->problem_cnt++ < SAID_MAX)
		import->sink->say(import->sink->context, sentence.text);
	import->has_early_damage |= !import->has_begun;
	return import->has_begun ? add_damage(import) : 0;
}

int import_refuse(struct import *import, const char *format, ...)
{
	const char *path = import->source ? import_source_path(import->source) : import->files.paths[0];
	struct error what;
	va_list arguments;

	va_start(arguments, format);
	error_set_arguments(&what, format, arguments);
	va_end(arguments);
	error_set(&import->result->error, "can't import '%s': %s", path, what.text);
	return -ECANCELED;
}

void import_note(struct import *import, const char *format, ...)
{
	struct error sentence;
	va_list arguments;

	va_start(arguments, format);
	error_set_arguments(&sentence, format, arguments);
	va_end(arguments);
	import->sink->say(import->sink->context, sentence.text);
}

/* ---- running ---- */

static int detect(struct import *import)
{
	struct import_source *source;
	const uint8_t *head;
	size_t length;
	int result = import_next_source(import, &source);

	if (result < 0)
		return -ECANCELED;
	head = import_source_peek(source, IMPORT_HEAD_BYTES, &length);
	import->format = head ? import_format_detect(head, length) : NULL;
	if (!import->format)
		return import_refuse(import, length > 0 ? "the format is not recognised: give --format"
							: "it is empty");
	return 0;
}

static int list_files(struct import *import, const char *const *paths, size_t path_cnt)
{
	int err = import_files_list(&import->files, paths, path_cnt,
				    import->format ? import->format->is_member : NULL,
				    &import->result->error);

	return err ? -ECANCELED : 0;
}

static int find_format(struct import *import, const char *const *paths, size_t path_cnt)
{
	int err = list_files(import, paths, path_cnt);

	if (err || import->format)
		return err;
	for (size_t i = 0; i < import->files.cnt; i++) {
		if (strcmp(import->files.paths[i], "-") == 0) {
			error_set(&import->result->error,
				  "the format of standard input can't be detected: give --format");
			return -ECANCELED;
		}
	}
	err = detect(import);
	if (err)
		return err;
	/* a directory stands for the files of this format: they are listed again */
	import_rewind(import);
	import_files_release(&import->files);
	return list_files(import, paths, path_cnt);
}

/* The capture is closed: readers know that this is the end. */
static int add_summary(struct import *import)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SUMMARY };

	record.summary.time_ns = import->last_ns;
	/* there are no events of a kernel side: what was received is what was read */
	record.summary.sent_cnt = record.summary.received_cnt = import->result->record_cnt;
	return import_add(import, &record);
}

static int finish(struct import *import)
{
	int err;

	if (!import->has_begun) {
		error_set(&import->result->error,
			  "can't import '%s': there is nothing in it that can be read",
			  import->files.paths[0]);
		return -ECANCELED;
	}
	err = add_summary(import);
	if (import->result->problem_cnt > SAID_MAX)
		import_note(import, "%" PRIu64 " more places could not be read",
			    import->result->problem_cnt - SAID_MAX);
	return err;
}

int import_run(const struct import_format *format, const char *const *paths, size_t path_cnt,
	       const struct import_options *options, const struct import_sink *sink,
	       struct import_result *result)
{
	struct import *import = calloc(1, sizeof(*import));
	int err;

	*result = (struct import_result){ 0 };
	if (!import)
		return -ENOMEM;
	*import = (struct import){ .format = format, .options = options, .sink = sink, .result = result };
	err = find_format(import, paths, path_cnt);
	if (!err && options->is_following && !import->format->can_follow)
		err = import_refuse(import, "files of the format '%s' can't be followed",
				    import->format->name);
	if (!err && options->lanes && import->format != &import_sui)
		err = import_refuse(import, "--lanes is for the format sui, and this is %s",
				    import->format->name);
	if (!err)
		err = import->format->read(import);
	if (!err)
		err = finish(import);
	if (result->error.text[0])
		err = -ECANCELED;
	import_source_close(import->source);
	import_files_release(&import->files);
	free(import);
	return err;
}
