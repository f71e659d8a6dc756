/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * make_log OUT [none|zstd|lz4] <TEXT: a log from a text that says what is in it, for tests of whatever reads
 * logs.
 *
 * A line is what `txtrace dump` prints: a kind, then name=value. A field that is not named is 0 or empty;
 * wall_ns and a span's blocked_ns are ignored. Some lines are no records: "header pid=42 command="bank" …" (once, first), "flush"
 * (ends the batch), "anchor monotonic_ns=1 realtime_ns=2" (the clocks of the batches from here on), "abort"
 * (leaves OUT.partial, as a crash would). "#" begins a comment.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/record_table.h"
#include "log/write/log_writer.h"

#define INFO(name_, member, type_)                                                                      \
	{                                                                                               \
		.name = name_, .type = RECORD_##type_, .offset = offsetof(struct txtrace_log_info, member), \
		.size = sizeof(((struct txtrace_log_info *)0)->member)                                  \
	}

static const struct record_field header_fields[] = {
	INFO("pid", pid, PID),
	INFO("cpus", cpu_cnt, U32),
	INFO("part", part, U32),
	INFO("first_sequence", first_sequence, COUNT),
	INFO("start_monotonic_ns", start_monotonic_ns, TIME),
	INFO("start_realtime_ns", start_realtime_ns, TIME),
	INFO("capture_id", capture_id, CHARS),
	INFO("boot_id", boot_id, CHARS),
	INFO("host", host, CHARS),
	INFO("kernel", kernel, CHARS),
	INFO("command", command, CHARS),
	INFO("recorder", recorder, CHARS),
	INFO("options", options, CHARS),
};

static const struct record_kind header = { .fields = header_fields, .field_cnt = 13 };

struct anchor {
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
};

static const struct record_field anchor_fields[] = {
	{ .name = "monotonic_ns", .type = RECORD_TIME, .offset = offsetof(struct anchor, monotonic_ns) },
	{ .name = "realtime_ns", .type = RECORD_TIME, .offset = offsetof(struct anchor, realtime_ns) },
};

static const struct record_kind anchor_kind = { .fields = anchor_fields, .field_cnt = 2 };

static unsigned long line_number;

__attribute__((noreturn)) static void fail(const char *what, const char *subject)
{
	fprintf(stderr, "make_log: line %lu: %s '%s'\n", line_number, what, subject);
	exit(2);
}

static uint64_t parse_number(const char *text)
{
	char *end;
	uint64_t value;

	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		return *text == 't';
	errno = 0;
	value = text[0] == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	if (errno || !*text || *end)
		fail("no number:", text);
	return value;
}

static uint64_t parse_name(const struct record_names *of, const char *text)
{
	for (unsigned int i = 0; i < of->cnt; i++)
		if (of->names[i] && strcmp(of->names[i], text) == 0)
			return i;
	return parse_number(text);
}

/* "named,child", or "none". */
static uint64_t parse_set(const struct record_names *of, char *text)
{
	uint64_t bits = 0;

	if (strcmp(text, "none") == 0)
		return 0;
	for (char *name = strtok(text, ","); name; name = strtok(NULL, ","))
		bits |= *name >= '0' && *name <= '9' ? parse_number(name) : 1u << parse_name(of, name);
	return bits;
}

static const struct record_field *find_field(const struct record_kind *kind, const char *name)
{
	for (unsigned int i = 0; i < kind->field_cnt; i++)
		if (strcmp(kind->fields[i].name, name) == 0)
			return &kind->fields[i];
	fail("no such field:", name);
}

/* "moved,loss", or "none": names of the fields that are flags. */
static void set_flags(const struct record_kind *kind, void *base, char *text)
{
	const struct record_field *field;

	if (strcmp(text, "none") == 0)
		return;
	for (char *name = strtok(text, ","); name; name = strtok(NULL, ",")) {
		field = find_field(kind, name);
		if (field->type != RECORD_FLAG)
			fail("no flag:", name);
		*(uint32_t *)((char *)base + field->offset) |= field->mask;
	}
}

/* Undoes the escapes in place, up to the closing quote; returns what follows it. */
static char *unquote(char *text, size_t *length)
{
	char *to = text, *from = text;

	while (*from != '"') {
		if (!*from)
			fail("no closing quote:", text);
		if (*from != '\\') {
			*to++ = *from++;
		} else if (from[1] == 'x') {
			char hex[3] = { from[2], from[2] ? from[3] : '\0', '\0' };

			*to++ = (char)strtoul(hex, NULL, 16);
			from += 4;
		} else {
			*to++ = from[1] == 'n'	 ? '\n'
				: from[1] == 't' ? '\t'
				: from[1] == 'r' ? '\r'
				: from[1] == 'e' ? '\033'
						 : from[1];
			from += 2;
		}
	}
	*length = (size_t)(to - text);
	return from + 1;
}

static void set_number(const struct record_field *field, void *at, char *value)
{
	double number;

	switch ((enum record_type)field->type) {
	case RECORD_ENUM:
		*(uint8_t *)at = (uint8_t)parse_name(field->names, value);
		break;
	case RECORD_SET:
		*(uint8_t *)at = (uint8_t)parse_set(field->names, value);
		break;
	case RECORD_BOOL:
		*(bool *)at = parse_number(value);
		break;
	case RECORD_PID:
	case RECORD_TID:
	case RECORD_CPU:
	case RECORD_U32:
	case RECORD_I32:
		*(uint32_t *)at = (uint32_t)parse_number(value);
		break;
	case RECORD_VALUE:
		if (strpbrk(value, ".") || strstr(value, "nan") || strstr(value, "inf")) {
			number = strtod(value, NULL);
			memcpy(at, &number, sizeof(number));
			break;
		}
		/* fall through */
	case RECORD_TIME:
	case RECORD_DURATION:
	case RECORD_COUNT:
	case RECORD_SPAN_ID:
	case RECORD_ADDRESS:
	case RECORD_I64:
		*(uint64_t *)at = parse_number(value);
		break;
	case RECORD_WALL:
	case RECORD_BLOCKED:
		break; /* follows from the others */
	default:
		fail("no number:", field->name);
	}
}

static void set_string(const struct record_field *field, char *base, struct txtrace_string string)
{
	if (field->type == RECORD_STRING || field->type == RECORD_KEY)
		memcpy(base + field->offset, &string, sizeof(string));
	else if (field->type == RECORD_CHARS && string.length < field->size)
		memcpy(base + field->offset, string.bytes, string.length);
	else if (field->type == RECORD_VALUE)
		((struct txtrace_record *)base)->attribute.string = string;
	else
		fail("no string:", field->name);
}

/* One name=value at `text`; returns what follows it. `base` is the record or the info. */
static char *parse_field(char *text, const struct record_kind *kind, char *base)
{
	char *equals = strchr(text, '='), *value, *end;
	const struct record_field *field;
	struct txtrace_string string;

	if (!equals)
		fail("no field:", text);
	*equals = '\0';
	value = equals + 1;
	if (*value == '"') {
		end = unquote(value + 1, &string.length);
		string.bytes = value + 1;
		set_string(find_field(kind, text), base, string);
		return end;
	}
	end = value + strcspn(value, " \n");
	if (*end)
		*end++ = '\0';
	if (strcmp(text, "flags") == 0) {
		set_flags(kind, base, value);
		return end;
	}
	field = find_field(kind, text);
	set_number(field, base + field->offset, value);
	return end;
}

static void parse_fields(char *text, const struct record_kind *kind, void *base)
{
	for (;;) {
		text += strspn(text, " \n");
		if (!*text)
			return;
		text = parse_field(text, kind, base);
	}
}

static uint32_t find_kind(const char *name)
{
	for (uint32_t kind = 0; kind < TXTRACE_RECORD_KIND_COUNT; ++kind)
		if (record_kinds[kind].name && strcmp(record_kinds[kind].name, name) == 0)
			return kind;
	fail("no such kind:", name);
}

static void check(int err, const char *what)
{
	if (err)
		fail(strerror(-err), what);
}

static void add_line(struct log_writer *writer, const char *kind, char *rest)
{
	struct txtrace_record record;

	memset(&record, 0, sizeof(record));
	record.kind = find_kind(kind);
	if (record.kind == TXTRACE_RECORD_RUN)
		record.run.has_wait_end = strstr(rest, " wait_reason=");
	parse_fields(rest, &record_kinds[record.kind], &record);
	check(log_writer_add(writer, &record), kind);
}

static void set_anchor(struct log_writer *writer, char *rest)
{
	struct anchor anchor = { 0, 0 };

	parse_fields(rest, &anchor_kind, &anchor);
	check(log_writer_flush(writer), "anchor");
	log_writer_set_anchor(writer, anchor.monotonic_ns, anchor.realtime_ns);
}

static struct log_writer *open_log(const char *path, const char *codec, const struct txtrace_log_info *info)
{
	struct log_writer_options options = { .codec = LOG_CODEC_ZSTD };
	struct log_writer *writer;

	if (codec && strcmp(codec, "zstd") != 0)
		options.codec = strcmp(codec, "lz4") == 0 ? LOG_CODEC_LZ4 : LOG_CODEC_NONE;
	check(log_writer_open(&writer, path, info, &options), path);
	return writer;
}

int main(int argc, char **argv)
{
	struct txtrace_log_info info = { .start_monotonic_ns = 1, .start_realtime_ns = 1700000000000000000 };
	struct log_writer *writer = NULL;
	char *line = NULL;
	size_t size = 0;

	if (argc < 2)
		fail("usage:", "make_log OUT [none|zstd|lz4] <TEXT");
	while (getline(&line, &size, stdin) > 0) {
		size_t length = strcspn(line, " \n");
		char *rest = line + length + !!line[length];

		line_number++;
		line[length] = '\0';
		if (length == 0 || line[0] == '#')
			continue;
		if (strcmp(line, "header") == 0) {
			parse_fields(rest, &header, &info);
			continue;
		}
		if (!writer)
			writer = open_log(argv[1], argc > 2 ? argv[2] : NULL, &info);
		if (strcmp(line, "abort") == 0) {
			check(log_writer_flush(writer), "flush");
			log_writer_abort(writer);
			free(line);
			return 0;
		}
		if (strcmp(line, "flush") == 0)
			check(log_writer_flush(writer), "flush");
		else if (strcmp(line, "anchor") == 0)
			set_anchor(writer, rest);
		else
			add_line(writer, line, rest);
	}
	free(line);
	if (!writer)
		writer = open_log(argv[1], argc > 2 ? argv[2] : NULL, &info);
	check(log_writer_close(writer), argv[1]);
	return 0;
}
