/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/stream.h"
#include "event/stream_fields.h"

/* Where reading is in the line. A line ends with a NUL and holds no other. */
struct reader {
	char *at;
	struct stream_event_storage *storage;
};

/* Says what is wrong with the line; -EBADMSG. */
#define BAD(reader, format, ...)									\
	(error_set(&(reader)->storage->error, "line %" PRIu64 ": " format, (reader)->storage->line_cnt, \
		##__VA_ARGS__), -EBADMSG)

/* 1: a line; 0: the end. What follows the room is skipped, so that reading can go on behind it. */
static int read_line(FILE *in, struct stream_event_storage *storage)
{
	struct reader reader = { .storage = storage };
	size_t length = 0;
	bool has_nul = false;
	int byte;

	while ((byte = getc_unlocked(in)) != EOF && byte != '\n') {
		has_nul |= !byte;
		if (length < STREAM_LINE_MAX)
			storage->line[length] = byte;
		length++;
	}
	if (byte == EOF && ferror(in))
		return -EIO;
	if (byte == EOF && !length)
		return 0;
	storage->line_cnt++;
	if (length > STREAM_LINE_MAX)
		return BAD(&reader, "it is longer than %d bytes", STREAM_LINE_MAX);
	if (has_nul)
		return BAD(&reader, "it holds a NUL byte");
	storage->line[length] = 0;
	return 1;
}

static size_t word_length(const char *at)
{
	return strcspn(at, " ");
}

/* A number up to max that ends at one of `ends` (or the end of the line), which is not taken. */
static int read_number(struct reader *reader, int base, uint64_t max, const char *ends, uint64_t *number)
{
	char *end;
	const char *digits = base == 16 ? "0123456789abcdefABCDEF" : "0123456789";
	size_t length = strspn(reader->at, digits);

	errno = 0;
	*number = strtoull(reader->at, &end, base);
	if (!length || end != reader->at + length || errno || *number > max || (*end && !strchr(ends, *end)))
		return BAD(reader, "'%.*s' is no number up to %llu", (int)word_length(reader->at), reader->at,
			   (unsigned long long)max);
	reader->at = end;
	return 0;
}

static int read_signed(struct reader *reader, uint64_t max, int64_t *number)
{
	bool is_negative = *reader->at == '-';
	uint64_t magnitude;
	int err;

	reader->at += is_negative;
	err = read_number(reader, 10, max + is_negative, " ", &magnitude);
	*number = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return err;
}

static int read_thread(struct reader *reader, uint32_t ids[2])
{
	uint64_t tid, tgid;
	int err = read_number(reader, 10, UINT32_MAX, "/ ", &tid);

	if (err)
		return err;
	if (*reader->at != '/')
		return BAD(reader, "a thread is written tid/tgid");
	reader->at++;
	err = read_number(reader, 10, UINT32_MAX, " ", &tgid);
	ids[0] = tid;
	ids[1] = tgid;
	return err;
}

static int hex_digit(char digit)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = digit ? strchr(digits, digit) : NULL;

	return found ? (int)(found - digits) : -1;
}

/* One escape behind its backslash; the byte, or -EBADMSG. */
static int read_escape(struct reader *reader)
{
	static const char names[] = "\"\\nt", bytes[] = "\"\\\n\t";
	char kind = *reader->at;
	const char *simple = kind ? strchr(names, kind) : NULL;

	if (simple) {
		reader->at++;
		return (unsigned char)bytes[simple - names];
	}
	if (kind == 'x') {
		int high = hex_digit(reader->at[1]), low = high < 0 ? -1 : hex_digit(reader->at[2]);

		if (low >= 0) {
			reader->at += 3;
			return high << 4 | low;
		}
	}
	return BAD(reader, "an escape is \\\", \\\\, \\n, \\t or \\x and two of 0-9a-f");
}

/* Unescaped in place: it never gets longer. */
static int read_text(struct reader *reader, struct event_text *text)
{
	char *to = reader->at;

	*text = (struct event_text){ .is_unreadable = *reader->at == '?' };
	if (text->is_unreadable) {
		reader->at++;
		return 0;
	}
	if (*reader->at++ != '"')
		return BAD(reader, "a string begins with \", or is ?");
	text->bytes = to;
	while (*reader->at != '"') {
		int byte = (unsigned char)*reader->at;

		if (!byte)
			return BAD(reader, "a string does not end");
		reader->at++;
		if (byte == '\\')
			byte = read_escape(reader);
		if (byte < 0)
			return byte;
		*to++ = byte;
	}
	reader->at++;
	text->length = to - text->bytes;
	text->is_truncated = *reader->at == '~';
	reader->at += text->is_truncated;
	return text->length <= STREAM_TEXT_MAX
		       ? 0
		       : BAD(reader, "a string is longer than %d bytes", STREAM_TEXT_MAX);
}

static int read_name(struct reader *reader, const struct stream_field *field, void *to)
{
	size_t length = word_length(reader->at);
	int number = stream_name_find(field->names, reader->at, length);
	uint64_t other = number;
	int err = 0;

	if (number >= 0)
		reader->at += length;
	else if (field->type == STREAM_NAME32)
		err = read_number(reader, 10, UINT32_MAX, " ", &other);
	else
		err = BAD(reader, "'%.*s' is nothing that %s can be", (int)length, reader->at, field->name);
	if (field->type == STREAM_NAME32)
		*(uint32_t *)to = other;
	else
		*(uint8_t *)to = other;
	return err;
}

static int read_value(struct reader *reader, const struct stream_field *field, void *to)
{
	uint64_t number = 0;
	int64_t value = 0;
	int err = 0;

	switch (field->type) {
	case STREAM_U32:
		err = read_number(reader, 10, UINT32_MAX, " ", &number);
		*(uint32_t *)to = number;
		return err;
	case STREAM_PARENT:
		if (word_length(reader->at) == 4 && !strncmp(reader->at, "root", 4)) {
			reader->at += 4;
			*(uint64_t *)to = WIRE_PARENT_ROOT;
			return 0;
		}
		return read_number(reader, 10, UINT64_MAX, " ", to);
	case STREAM_U64:
		return read_number(reader, 10, UINT64_MAX, " ", to);
	case STREAM_HEX:
		if (strncmp(reader->at, "0x", 2))
			return BAD(reader, "%s is written 0x…", field->name);
		reader->at += 2;
		return read_number(reader, 16, UINT64_MAX, " ", to);
	case STREAM_INT:
		return read_signed(reader, INT64_MAX, to);
	case STREAM_INT32:
		err = read_signed(reader, INT32_MAX, &value);
		*(int32_t *)to = value;
		return err;
	case STREAM_NAME:
	case STREAM_NAME32:
		return read_name(reader, field, to);
	case STREAM_TEXT:
		return read_text(reader, to);
	case STREAM_YES:
		*(bool *)to = true;
		return 0;
	case STREAM_THREAD:
		return read_thread(reader, to);
	}
	return err;
}

static void set_absent(const struct stream_field *field, struct event *event)
{
	for (; field->name; field++)
		if (field->absent)
			*(int32_t *)((char *)event + field->offset) = field->absent;
}

/* Finds the field of this name; *idx is its place. */
static const struct stream_field *find_field(const struct stream_field *fields, const char *name,
					     size_t length, unsigned int *idx)
{
	for (*idx = 0; fields[*idx].name; ++*idx)
		if (strlen(fields[*idx].name) == length && !memcmp(fields[*idx].name, name, length))
			return &fields[*idx];
	return NULL;
}

/* What of an event has been read, so that nothing is said twice. */
struct seen {
	uint32_t fields;
	uint32_t clocks;  /* of stream_clock_fields; then of the reasons */
	uint32_t reasons;
};

static int mark_seen(struct reader *reader, uint32_t *seen, unsigned int idx, const char *name, size_t length)
{
	if (*seen & 1u << idx)
		return BAD(reader, "%.*s is given twice", (int)length, name);
	*seen |= 1u << idx;
	return 0;
}

/* blocked[reason]: where its number goes, or NULL. */
static uint64_t *find_blocked(struct wire_clocks *clocks, const char *name, size_t length, unsigned int *idx)
{
	static const char before[] = "blocked[";
	size_t skip = sizeof(before) - 1;
	int reason;

	if (length <= skip + 1 || memcmp(name, before, skip) || name[length - 1] != ']')
		return NULL;
	reason = stream_name_find(&stream_reasons, name + skip, length - skip - 1);
	if (reason < 0)
		return NULL;
	*idx = reason;
	return &clocks->blocked_ns[reason];
}

static int read_field(struct reader *reader, const struct stream_kind *kind, struct event *event,
		      struct seen *seen)
{
	static const struct stream_field blocked = { .name = "blocked", .type = STREAM_U64 };
	struct wire_clocks *clocks = &reader->storage->clocks;
	size_t length = strcspn(reader->at, "= ");
	const char *name = reader->at;
	const struct stream_field *field;
	unsigned int idx;
	uint32_t *bits = &seen->fields;
	void *to = NULL;
	int err;

	field = find_field(kind->fields, name, length, &idx);
	if (field) {
		to = (char *)event + field->offset;
	} else if (kind->has_clocks && (field = find_field(stream_clock_fields, name, length, &idx))) {
		to = (char *)clocks + field->offset;
		bits = &seen->clocks;
	} else if (kind->has_clocks && (to = find_blocked(clocks, name, length, &idx))) {
		field = &blocked;
		bits = &seen->reasons;
	}
	if (!field)
		return BAD(reader, "%s has no field '%.*s'", kind->name, (int)length, name);
	err = mark_seen(reader, bits, idx, name, length);
	if (err)
		return err;
	reader->at += length;
	if ((*reader->at == '=') == (field->type == STREAM_YES))
		return BAD(reader, "%s %s", field->name,
			   field->type == STREAM_YES ? "has no value" : "lacks =value");
	reader->at += *reader->at == '=';
	return read_value(reader, field, to);
}

static int read_fields(struct reader *reader, const struct stream_kind *kind, struct event *event)
{
	struct stream_event_storage *storage = reader->storage;
	struct seen seen = { 0 };

	storage->clocks = (struct wire_clocks){ 0 };
	set_absent(kind->fields, event);
	while (*reader->at == ' ') {
		int err;

		reader->at++;
		err = read_field(reader, kind, event, &seen);
		if (err)
			return err;
	}
	if (*reader->at)
		return BAD(reader, "a field ends at '%.20s', where a blank belongs", reader->at);
	if (!seen.clocks && !seen.reasons)
		return 0;
	if (!(seen.clocks & 1))
		return BAD(reader, "clocks lack born=");
	event->clocks = &storage->clocks;
	event->flags |= WIRE_HAS_CLOCKS;
	return 0;
}

static int skip_blank(struct reader *reader)
{
	if (*reader->at != ' ')
		return BAD(reader, "it ends early: time, kind, tid/tgid, cpu and flags come first");
	reader->at++;
	return 0;
}

static int read_kind(struct reader *reader, struct event *event)
{
	size_t length = word_length(reader->at);
	int kind = stream_kind_find(reader->at, length);

	if (kind < 0)
		return BAD(reader, "there is no event '%.*s'", (int)length, reader->at);
	event->kind = kind;
	reader->at += length;
	return 0;
}

static int read_flags(struct reader *reader, struct event *event)
{
	if (*reader->at == '-') {
		reader->at++;
		return 0;
	}
	for (;;) {
		size_t length = strcspn(reader->at, "+ ");
		int bit = stream_name_find(&stream_flags, reader->at, length);

		if (bit < 0)
			return BAD(reader, "there is no flag '%.*s'", (int)length, reader->at);
		event->flags |= 1u << bit;
		reader->at += length;
		if (*reader->at != '+')
			return 0;
		reader->at++;
	}
}

static int read_event(struct reader *reader, struct event *event)
{
	uint32_t ids[2] = { 0, 0 };
	uint64_t number = 0;
	int err;

	memset(event, 0, sizeof(*event));
	err = read_number(reader, 10, UINT64_MAX, " ", &event->time_ns);
	if (err || (err = skip_blank(reader)) || (err = read_kind(reader, event)) ||
	    (err = skip_blank(reader)) || (err = read_thread(reader, ids)) || (err = skip_blank(reader)) ||
	    (err = read_number(reader, 10, UINT16_MAX, " ", &number)) || (err = skip_blank(reader)) ||
	    (err = read_flags(reader, event)))
		return err;
	event->tid = ids[0];
	event->tgid = ids[1];
	event->cpu = number;
	if (event->kind == EVENT_WAKE)
		event->wake.has_wait_end = event->flags & WIRE_HAS_WAIT_END ? 1 : 0;
	return read_fields(reader, stream_kind_of(event->kind), event);
}

int stream_read(FILE *in, struct stream_event_storage *storage, struct event *event)
{
	struct reader reader = { .storage = storage };
	int result;

	do {
		result = read_line(in, storage);
		if (result <= 0)
			return result;
	} while (!storage->line[0] || storage->line[0] == '#');
	reader.at = storage->line;
	result = read_event(&reader, event);
	return result ? result : 1;
}
