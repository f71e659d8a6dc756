/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/sched_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/sched_line.h"
#include "import/sched_story.h"

#define LINE_BYTES_MAX (64u << 10)

struct reader {
	struct import *import;
	struct sched_story story;
	uint64_t lost_cnt;  /* events, by the text */
	uint64_t stack_cnt; /* lines of stacks */
	uint64_t line_cnt;
	uint64_t bad_cnt; /* lines that are none of these */
};

/* ---- lines ---- */

/* The next one, without its newline: 1; 0: the end; -E2BIG: too long, and passed. -ENOMEM. */
static int next_line(struct import_source *source, const char **text, size_t *length)
{
	size_t wanted = 512, there;
	const uint8_t *bytes, *newline;

	for (;; wanted *= 4) {
		if (wanted > LINE_BYTES_MAX)
			wanted = LINE_BYTES_MAX;
		bytes = import_source_peek(source, wanted, &there);
		if (!bytes)
			return -ENOMEM;
		newline = there ? memchr(bytes, '\n', there) : NULL;
		if (newline || there < wanted || wanted == LINE_BYTES_MAX)
			break;
	}
	*text = (const char *)bytes;
	*length = newline ? (size_t)(newline - bytes) : there;
	if (!newline && there == LINE_BYTES_MAX)
		return -E2BIG;
	return there > 0;
}

static int pass_long_line(struct import_source *source)
{
	const uint8_t *bytes, *newline = NULL;
	size_t there = 1;

	while (!newline && there > 0) {
		bytes = import_source_peek(source, LINE_BYTES_MAX, &there);
		if (!bytes)
			return -ENOMEM;
		newline = there ? memchr(bytes, '\n', there) : NULL;
		import_source_skip(source, newline ? (size_t)(newline - bytes) + 1 : there);
	}
	return 0;
}

static int complain(struct reader *reader, uint64_t offset, const char *what)
{
	reader->bad_cnt++;
	return import_complain(reader->import, offset, "%s; it is left out", what);
}

static int add_line(struct reader *reader, const char *text, size_t length, uint64_t offset)
{
	struct sched_line line;
	int err;

	sched_line_parse(&line, text, length);
	reader->line_cnt++;
	switch (line.kind) {
	case SCHED_LINE_BAD:
		return complain(reader, offset, "a line that is no event of perf script's or ftrace's");
	case SCHED_LINE_STACK:
		reader->stack_cnt++;
		return 0;
	case SCHED_LINE_NOTHING:
		return 0;
	case SCHED_LINE_LOST:
		reader->lost_cnt += line.lost_cnt;
		break;
	case SCHED_LINE_EVENT:
		break;
	}
	err = sched_story_add(&reader->story, &line);
	return err == -EBADMSG ? complain(reader, offset, "an event whose words can't be read") : err;
}

static int read_source(struct reader *reader, struct import_source *source)
{
	const char *text;
	size_t length;
	int result, err = 0;

	while (!err && (result = next_line(source, &text, &length)) != 0) {
		uint64_t offset = import_source_offset(source);

		if (result == -ENOMEM)
			return result;
		if (result == -E2BIG) {
			err = complain(reader, offset, "a line of more than 64 KiB");
			err = err ? err : pass_long_line(source);
			continue;
		}
		err = add_line(reader, text, length, offset);
		import_source_skip(source, length + 1);
	}
	if (!err && import_source_error(source))
		err = import_complain(reader->import, import_source_offset(source),
				      "%s; what follows in this file is not read",
				      import_source_error(source) == -EBADMSG
					      ? "the packed data are damaged or cut off"
					      : strerror(-import_source_error(source)));
	return err;
}

/* ---- what is said ---- */

static void note(struct import *import, uint64_t cnt, const char *what)
{
	if (cnt > 0)
		import_note(import, "%s: %" PRIu64, what, cnt);
}

static void tell_all(const struct reader *reader)
{
	const struct sched_story *story = &reader->story;
	struct import *import = reader->import;

	note(import, reader->lost_cnt, "events that were lost before they were printed");
	note(import, story->no_pid_cnt,
	     "threads whose process is not given, each taken for a process of its own (perf script -F +pid, "
	     "ftrace's option record-tgid)");
	note(import, story->no_wake_cnt,
	     "sleeps without an event of their wakeup: blocked to their end, in which a wait for a CPU may "
	     "hide");
	note(import, story->guess_cnt,
	     "switches that do not go with the ones before, so that the time in between is unknown");
	note(import, story->step_back_cnt,
	     "events whose time lies before that of the event in front of them");
	note(import, story->no_room_cnt,
	     "events of threads, and begins of pairs, for which there is no room");
	note(import, story->unfinished_cnt, "spans of pairs that did not end, unfinished spans");
	note(import, story->lone_end_cnt, "ends of pairs whose begin is not in the text");
	note(import, story->nobody_cnt,
	     "events of the idle task, or of threads that are not known, which are left out");
	note(import, reader->stack_cnt, "lines of stacks, which are left out");
}

/* ---- all ---- */

static int read_all(struct reader *reader)
{
	const char *pairs = import_options(reader->import)->pairs;
	struct import_source *source;
	int result, err = 0;

	if (pairs && !sched_story_set_pairs(&reader->story, pairs))
		return import_refuse(reader->import, "'%s' is no list of BEGIN=END, or one of more than %u",
				     pairs, SCHED_PAIR_MAX);
	while (!err && (result = import_next_source(reader->import, &source)) != 0) {
		if (result < 0)
			return result;
		err = read_source(reader, source);
	}
	if (!err && reader->story.event_cnt == 0 && reader->bad_cnt > 0)
		return import_refuse(reader->import,
				     "no line in it is an event of perf script's or ftrace's");
	return err ? err : sched_story_finish(&reader->story);
}

int sched_text_read(struct import *import)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->import = import;
	sched_story_init(&reader->story, import);
	err = read_all(reader);
	if (!err)
		tell_all(reader);
	sched_story_release(&reader->story);
	free(reader);
	return err;
}

bool sched_text_is_event(const uint8_t *head, size_t length, bool *has_dash)
{
	const char *text = (const char *)head, *newline;

	for (; length > 0; text = newline + 1) {
		struct sched_line line;
		size_t cnt;

		newline = memchr(text, '\n', length);
		cnt = newline ? (size_t)(newline - text) : length;
		sched_line_parse(&line, text, cnt);
		if (line.kind == SCHED_LINE_EVENT) {
			/* the tid follows the name, a dash or a blank in between */
			*has_dash = line.comm.length > 0 && line.comm.bytes[line.comm.length] == '-';
			return true;
		}
		if (line.kind == SCHED_LINE_BAD || !newline)
			return false;
		length -= cnt + 1;
	}
	return false;
}
