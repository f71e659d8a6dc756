/* SPDX-License-Identifier: BSD-2-Clause */
/* OpenTelemetry's traces: files of a collector, JSON or protobuf, and what txtrace export writes. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/protobuf_reader.h"
#include "import/import_formats.h"
#include "import/otlp_json.h"
#include "import/otlp_story.h"

#define RESOURCE_SPANS_FIELD 1
#define PART_BYTES_MAX (64u << 20) /* of a ResourceSpans */
#define HEAD_BYTES 11		   /* a field's number, and its length */
#define NOT_READ "what follows in this file is not read"

struct reader {
	struct otlp_story story;
	uint64_t wrong_cnt, other_cnt, cut_cnt;
};

static int take_part(void *context, const char *bytes, size_t length)
{
	return otlp_story_take(&((struct reader *)context)->story, bytes, length);
}

/* ---- JSON ---- */

static const char *explain_json(int err)
{
	switch (err) {
	case -EBADMSG:
		return "this is no JSON";
	case -ENODATA:
		return "the JSON is cut off";
	case -ELOOP:
		return "values are nested more than 32 deep";
	default:
		return NULL;
	}
}

static int read_json(struct reader *reader, struct import_source *source)
{
	struct json_source json;
	struct otlp_json otlp = { .json = &json, .take = take_part, .context = reader };
	uint64_t offset;
	int err;

	json_source_init(&json, source);
	err = otlp_json_read(&otlp);
	offset = json_offset(&json);
	reader->wrong_cnt += otlp.wrong_cnt;
	reader->other_cnt += otlp.other_cnt;
	reader->cut_cnt += json.cut_cnt;
	text_release(&otlp.packed);
	json_source_release(&json);
	return explain_json(err)
		       ? import_complain(reader->story.import, offset, "%s; " NOT_READ, explain_json(err))
		       : err;
}

/* ---- protobuf ---- */

/* The length of the field that begins here, with its head; 0: there is none. */
static uint64_t length_of_part(const uint8_t *bytes, size_t length)
{
	uint64_t value = 0;

	if (length < 2 || bytes[0] != (RESOURCE_SPANS_FIELD << 3 | PROTOBUF_BYTES))
		return 0;
	for (unsigned int i = 1; i < length && i < HEAD_BYTES; i++) {
		value |= (uint64_t)(bytes[i] & 0x7f) << (7 * (i - 1));
		if (bytes[i] < 0x80)
			return value + i + 1;
	}
	return 0;
}

static int take_field(struct reader *reader, const uint8_t *bytes, size_t length)
{
	struct protobuf_reader fields = { (const char *)bytes, (const char *)bytes + length };
	struct protobuf_field field;

	return protobuf_next(&fields, &field) && field.type == PROTOBUF_BYTES
		       ? take_part(reader, field.bytes, field.length)
		       : -EBADMSG;
}

static int read_protobuf(struct reader *reader, struct import_source *source)
{
	struct import *import = reader->story.import;
	int err = 0;

	while (!err) {
		uint64_t offset = import_source_offset(source), wanted;
		size_t length;
		const uint8_t *bytes = import_source_peek(source, HEAD_BYTES, &length);

		if (!bytes)
			return -ENOMEM;
		if (length == 0)
			break;
		wanted = length_of_part(bytes, length);
		if (wanted == 0 || wanted > PART_BYTES_MAX)
			return import_complain(
				import, offset,
				"this is no ResourceSpans, or one of more than 64 MiB; " NOT_READ);
		bytes = import_source_peek(source, (size_t)wanted, &length);
		if (!bytes)
			return -ENOMEM;
		if (length < wanted)
			return import_complain(import, offset, "the file is cut off");
		err = take_field(reader, bytes, length);
		import_source_skip(source, length);
	}
	return err;
}

/* ---- all ---- */

static bool is_json(const uint8_t *head, size_t length)
{
	size_t at = 0;

	while (at < length && memchr(" \t\r\n", head[at], 4))
		at++;
	return at < length && head[at] == '{' && memmem(head, length, "\"resourceSpans\"", 15);
}

/* A ResourceSpans with a resource, whose first attribute has a name. */
static bool is_protobuf(const uint8_t *head, size_t length)
{
	static const uint8_t resource_tag = 1 << 3 | PROTOBUF_BYTES;
	const char *at = (const char *)head, *end = at + length;

	for (unsigned int level = 0; level < 4; level++) {
		uint64_t part = length_of_part((const uint8_t *)at, (size_t)(end - at));
		struct protobuf_reader reader = { at + 1, end };

		if (part == 0 || *at != resource_tag)
			return false;
		do
			reader.at++;
		while (reader.at < end && (uint8_t)reader.at[-1] >= 0x80);
		at = reader.at;
	}
	return at < end && *at >= ' ' && *at < 0x7f;
}

static bool is_otlp(const uint8_t *head, size_t length)
{
	return is_json(head, length) || is_protobuf(head, length);
}

static int read_source(struct reader *reader, struct import_source *source)
{
	size_t length;
	const uint8_t *head = import_source_peek(source, IMPORT_HEAD_BYTES, &length);
	bool has_brace = false;
	int err;

	if (!head)
		return -ENOMEM;
	for (size_t i = 0; i < length && !has_brace && memchr(" \t\r\n{", head[i], 5); i++)
		has_brace = head[i] == '{';
	/* the first byte of protobuf is that of a newline, and the length behind it may be that of a brace */
	has_brace = has_brace && !is_protobuf(head, length);
	err = has_brace ? read_json(reader, source) : read_protobuf(reader, source);
	if (err || !import_source_error(source))
		return err;
	return import_complain(reader->story.import, import_source_offset(source), "%s; " NOT_READ,
			       import_source_error(source) == -EBADMSG
				       ? "the packed data are damaged or cut off"
				       : strerror(-import_source_error(source)));
}

static void note(struct import *import, uint64_t cnt, const char *what)
{
	if (cnt > 0)
		import_note(import, "%s: %" PRIu64, what, cnt);
}

static void tell_all(const struct reader *reader)
{
	const struct otlp_story *story = &reader->story;
	struct import *import = story->import;

	note(import, story->lossy_cnt,
	     "parts that say of themselves that events were lost, or that they are incomplete");
	note(import, story->nameless_cnt, "spans without valid ids, left out");
	note(import, story->backward_cnt, "spans that end before they begin, of no length");
	note(import, story->unequal_cnt, "ledgers whose parts are not their sum: all of it is unknown");
	note(import, story->link_cnt, "links, left out");
	note(import, story->event_attribute_cnt, "attributes of events, left out");
	note(import, story->dropped_cnt, "attributes, events and links that had been dropped before");
	note(import, story->broken_cnt, "parts of messages that cannot be read, left out");
	note(import, story->crowd_cnt, "processes beyond 65,536, with their spans, left out");
	note(import, story->cut_cnt + reader->cut_cnt, "texts longer than a log can hold, cut");
	note(import, reader->wrong_cnt, "values that are not of their member's type, left out");
	note(import, reader->other_cnt, "documents without spans");
}

static int read_all(struct reader *reader)
{
	struct import_source *source;
	int result, err = 0;

	while (!err && (result = import_next_source(reader->story.import, &source)) != 0)
		err = result < 0 ? result : read_source(reader, source);
	return err ? err : otlp_story_finish(&reader->story);
}

static int read_otlp(struct import *import)
{
	struct reader reader = { 0 };
	int err = otlp_story_init(&reader.story, import);

	if (!err)
		err = read_all(&reader);
	if (!err)
		tell_all(&reader);
	otlp_story_release(&reader.story);
	return err;
}

const struct import_format import_otlp = {
	.name = "otlp",
	.help = "OpenTelemetry's traces: files of a collector, JSON lines or protobuf",
	.is_format = is_otlp,
	.read = read_otlp,
};
