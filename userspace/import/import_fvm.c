/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of the Filecoin virtual machine: text of the workbench or the machine itself, or lotus' JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/fvm_json.h"
#include "import/fvm_text.h"
#include "import/import_formats.h"

#define LINE_BYTES_MAX (16u << 20)
#define NOT_READ "what follows in this file is not read"

struct reader {
	struct import *import;
	struct fvm_story story;
	uint64_t unknown_cnt;
	uint64_t cut_cnt, wrong_cnt, unlike_cnt, trace_cnt;
};

static int explain_packing(struct reader *reader, struct import_source *source)
{
	int err = import_source_error(source);

	return err ? import_complain(reader->import, import_source_offset(source), "%s; " NOT_READ,
				     err == -EBADMSG ? "the packed data are damaged or cut off"
						     : strerror(-err))
		   : 0;
}

/* ---- text ---- */

/* Its length with the end of line; 0: there is none; -EFBIG, -ENOMEM. */
static int64_t find_line(struct import_source *source, const uint8_t **line)
{
	for (size_t wanted = 4096;; wanted *= 4) {
		size_t length;
		const uint8_t *bytes = import_source_peek(source, wanted, &length), *end;

		if (!bytes)
			return -ENOMEM;
		*line = bytes;
		end = memchr(bytes, '\n', length);
		if (end || length < wanted)
			return end ? end - bytes + 1 : (int64_t)length;
		if (wanted >= LINE_BYTES_MAX)
			return -EFBIG;
	}
}

static int pass_line(struct reader *reader, struct import_source *source)
{
	uint64_t offset = import_source_offset(source);
	const uint8_t *bytes, *end = NULL;
	size_t length;

	while (!end && (bytes = import_source_peek(source, 4096, &length)) && length > 0) {
		end = memchr(bytes, '\n', length);
		import_source_skip(source, end ? (uint64_t)(end - bytes) + 1 : length);
	}
	return import_complain(reader->import, offset, "a line is longer than 16 MiB, and is left out");
}

static int read_text(struct reader *reader, struct import_source *source)
{
	struct error error;
	int64_t length;
	int err = 0;

	while (!err) {
		const uint8_t *line;
		int result;

		length = find_line(source, &line);
		if (length == -EFBIG) {
			err = pass_line(reader, source);
			continue;
		}
		if (length <= 0)
			break;
		result = fvm_text_line(&reader->story, (const char *)line,
				       (size_t)(line[length - 1] == '\n' ? length - 1 : length), &error);
		reader->unknown_cnt += result == 0;
		if (result == -EBADMSG)
			err = import_complain(reader->import, import_source_offset(source), "%s", error.text);
		else if (result < 0)
			err = result;
		import_source_skip(source, (uint64_t)length);
	}
	err = err ? err : length < 0 ? (int)length : 0;
	return err ? err : explain_packing(reader, source);
}

/* ---- JSON ---- */

static int read_json(struct reader *reader, struct import_source *source)
{
	struct json_source json;
	struct fvm_json of = { .story = &reader->story, .json = &json };
	uint64_t offset;
	int err;

	json_source_init(&json, source);
	err = fvm_json_read(&of);
	offset = json_offset(&json);
	reader->cut_cnt += json.cut_cnt;
	reader->wrong_cnt += of.wrong_cnt;
	reader->unlike_cnt += of.unlike_cnt;
	reader->trace_cnt += of.trace_cnt;
	json_source_release(&json);
	if (err != -EBADMSG && err != -ENODATA && err != -ELOOP)
		return err;
	if (import_source_error(source))
		return explain_packing(reader, source);
	return import_complain(reader->import, offset, "%s; " NOT_READ,
			       err == -EBADMSG	 ? "this is no JSON"
			       : err == -ENODATA ? "the JSON is cut off"
						 : "calls are nested more than 1,000 deep");
}

/* ---- all ---- */

static void note(struct import *import, uint64_t cnt, const char *what)
{
	if (cnt > 0)
		import_note(import, "%s: %" PRIu64, what, cnt);
}

static void tell_all(const struct reader *reader)
{
	const struct fvm_story *story = &reader->story;
	struct import *import = reader->import;

	import_note(import,
		    "the clock of the log is gas, not time: 1 ns stands for 1 milligas; see 'txtrace gas'");
	if (story->is_json)
		import_note(import,
			    "the order of charges, calls, and lines of the log within one call is not known: "
			    "charges are put first, and lines are instants; sums are exact");
	note(import, reader->unlike_cnt,
	     "charges whose total is not the sum of their parts; the total counts");
	note(import, reader->wrong_cnt, "charges without a total, or beyond 64 bits, left out");
	note(import, reader->unknown_cnt, "lines that are no known event, left out");
	note(import, story->stray_end_cnt, "ends of label spans that are not open, left out");
	note(import, story->stray_return_cnt, "returns without a call, left out");
	note(import, story->open_call_cnt, "calls that never returned, unfinished spans");
	note(import, story->open_label_cnt, "label spans that never ended, unfinished");
	note(import, story->timed_twice_cnt, "second ends of spans, left out");
	note(import, story->timed_stray_cnt, "ends of spans that never began, left out");
	note(import, story->timed_open_end_cnt, "spans that never ended, unfinished");
	note(import, story->timed_parent_cnt, "spans whose parent had not begun");
	note(import, story->negative_cnt, "negative charges, for which the clock stands still");
	note(import, story->sum_cnt, "sums beyond 64 bits, which stay at the largest number");
	note(import, story->no_room_cnt, "spans beyond those that can be open at a time");
	note(import, story->cut_cnt + reader->cut_cnt, "texts longer than a log can hold, cut");
}

static bool looks_like_json(const uint8_t *head, size_t length)
{
	static const char *const keys[] = { "\"ExecutionTrace\"", "\"GasCharges\"", "\"MsgRct\"",
					    "\"Subcalls\"" };
	size_t at = 0;

	while (at < length && memchr(" \t\r\n", head[at], 4))
		at++;
	if (at == length || (head[at] != '{' && head[at] != '['))
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		if (memmem(head, length, keys[i], strlen(keys[i])))
			return true;
	}
	return false;
}

/* The first line that is not empty is an event. */
static bool looks_like_text(const uint8_t *head, size_t length)
{
	const char *at = (const char *)head, *end = at + length, *stop;

	while (at < end && memchr(" \t\r\n", *at, 4))
		at++;
	if (at == end)
		return false;
	stop = memchr(at, '\n', (size_t)(end - at));
	return fvm_text_is_event(at, (size_t)((stop ? stop : end) - at));
}

static int read_all(struct reader *reader)
{
	struct import_source *source;
	bool is_first = true;
	int result, err = 0;

	while (!err && (result = import_next_source(reader->import, &source)) != 0) {
		const uint8_t *head;
		size_t length;

		if (result < 0)
			return result;
		if (!is_first)
			return import_refuse(reader->import,
					     "each file is a trace of its own: import one at a time");
		is_first = false;
		head = import_source_peek(source, IMPORT_HEAD_BYTES, &length);
		if (!head)
			return -ENOMEM;
		err = fvm_story_init(&reader->story, reader->import,
				     length > 0 && (head[0] == '{' || head[0] == '[' ||
						    looks_like_json(head, length)));
		if (!err && reader->story.is_json)
			err = read_json(reader, source);
		else if (!err)
			err = read_text(reader, source);
	}
	if (!err && reader->story.is_json && !reader->story.has_begun)
		return import_refuse(reader->import, "there is no execution trace in it");
	return err || is_first ? err : fvm_story_finish(&reader->story);
}

static int read_fvm(struct import *import)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->import = import;
	err = read_all(reader);
	if (!err)
		tell_all(reader);
	fvm_story_release(&reader->story);
	free(reader);
	return err;
}

static bool is_fvm(const uint8_t *head, size_t length)
{
	return looks_like_json(head, length) || looks_like_text(head, length);
}

const struct import_format import_fvm = {
	.name = "fvm",
	.help = "traces of the Filecoin virtual machine: text, or lotus' JSON",
	.is_format = is_fvm,
	.read = read_fvm,
};
