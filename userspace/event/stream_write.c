/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "event/stream.h"
#include "event/stream_fields.h"

/* `blocked_at` takes the state of a thread and how it left a CPU for the same number. */
_Static_assert((int)WIRE_LEFT_BLOCKED == (int)WIRE_THREAD_BLOCKED, "blocked is blocked");

static uint64_t u64_at(const void *base, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *)base + offset, sizeof(value));
	return value;
}

static uint32_t u32_at(const void *base, size_t offset)
{
	uint32_t value;

	memcpy(&value, (const char *)base + offset, sizeof(value));
	return value;
}

static uint8_t u8_at(const void *base, size_t offset)
{
	return ((const uint8_t *)base)[offset];
}

static const struct event_text *text_at(const void *base, size_t offset)
{
	return (const void *)((const char *)base + offset);
}

static bool is_absent(const struct stream_field *field, const void *base)
{
	const struct event_text *text;

	switch (field->type) {
	case STREAM_U32:
	case STREAM_NAME32:
		return u32_at(base, field->offset) == (uint32_t)field->absent;
	case STREAM_INT32:
		return (int32_t)u32_at(base, field->offset) == field->absent;
	case STREAM_U64:
	case STREAM_PARENT:
	case STREAM_HEX:
	case STREAM_INT:
	case STREAM_THREAD:
		return u64_at(base, field->offset) == (uint64_t)field->absent;
	case STREAM_NAME:
	case STREAM_YES:
		return u8_at(base, field->offset) == (uint8_t)field->absent;
	case STREAM_TEXT:
		text = text_at(base, field->offset);
		return !text->length && !text->is_truncated && !text->is_unreadable;
	}
	return false;
}

static bool is_written(const struct stream_field *field, const void *base)
{
	return field->is_shown || !is_absent(field, base) ||
	       (field->blocked_at && u8_at(base, field->blocked_at) == WIRE_THREAD_BLOCKED);
}

static int write_text(FILE *out, const struct event_text *text)
{
	if (text->is_unreadable)
		return text->length ? -EINVAL : fputc('?', out);
	if (text->length > STREAM_TEXT_MAX)
		return -EINVAL;
	fputc('"', out);
	for (uint32_t i = 0; i < text->length; i++) {
		unsigned char byte = text->bytes[i];

		if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte == '\n')
			fputs("\\n", out);
		else if (byte == '\t')
			fputs("\\t", out);
		else if (byte < 0x20 || byte >= 0x7f)
			fprintf(out, "\\x%02x", byte);
		else
			fputc(byte, out);
	}
	fputs(text->is_truncated ? "\"~" : "\"", out);
	return 0;
}

static int write_name(FILE *out, const struct stream_names *names, uint32_t number, bool may_be_number)
{
	if (number < names->cnt)
		fputs(names->names[number], out);
	else if (may_be_number)
		fprintf(out, "%" PRIu32, number);
	else
		return -EINVAL;
	return 0;
}

static int write_value(FILE *out, const struct stream_field *field, const void *base)
{
	switch (field->type) {
	case STREAM_U32:
		fprintf(out, "%" PRIu32, u32_at(base, field->offset));
		break;
	case STREAM_PARENT:
		if (u64_at(base, field->offset) == WIRE_PARENT_ROOT) {
			fputs("root", out);
			break;
		}
		/* fall through */
	case STREAM_U64:
		fprintf(out, "%" PRIu64, u64_at(base, field->offset));
		break;
	case STREAM_HEX:
		fprintf(out, "0x%" PRIx64, u64_at(base, field->offset));
		break;
	case STREAM_INT:
		fprintf(out, "%" PRId64, (int64_t)u64_at(base, field->offset));
		break;
	case STREAM_INT32:
		fprintf(out, "%" PRId32, (int32_t)u32_at(base, field->offset));
		break;
	case STREAM_NAME:
		return write_name(out, field->names, u8_at(base, field->offset), false);
	case STREAM_NAME32:
		return write_name(out, field->names, u32_at(base, field->offset), true);
	case STREAM_THREAD:
		fprintf(out, "%" PRIu32 "/%" PRIu32, u32_at(base, field->offset),
			u32_at(base, field->offset + sizeof(uint32_t)));
		break;
	case STREAM_TEXT:
		return write_text(out, text_at(base, field->offset));
	case STREAM_YES:
		break;
	}
	return 0;
}

static int write_fields(FILE *out, const struct stream_field *field, const void *base)
{
	for (; field->name; field++) {
		int err;

		if (!is_written(field, base))
			continue;
		fprintf(out, field->type == STREAM_YES ? " %s" : " %s=", field->name);
		err = write_value(out, field, base);
		if (err < 0)
			return err;
	}
	return 0;
}

static int write_clocks(FILE *out, const struct wire_clocks *clocks)
{
	int err = write_fields(out, stream_clock_fields, clocks);

	for (size_t i = 0; i < BLOCK_REASON_COUNT; i++)
		if (clocks->blocked_ns[i])
			fprintf(out, " blocked[%s]=%" PRIu64, stream_reasons.names[i], clocks->blocked_ns[i]);
	return err;
}

/* That there are clocks needs no flag: they are there. */
static void write_flags(FILE *out, const struct event *event)
{
	uint16_t flags = event->clocks ? event->flags & ~WIRE_HAS_CLOCKS : event->flags;
	const char *before = "";

	for (size_t i = 0; i < stream_flags.cnt; i++) {
		if (!(flags & 1u << i))
			continue;
		fprintf(out, "%s%s", before, stream_flags.names[i]);
		before = "+";
	}
	if (!flags)
		fputc('-', out);
}

int stream_write_event(FILE *out, const struct event *event)
{
	const struct stream_kind *kind = stream_kind_of(event->kind);
	int err;

	if (!kind || (event->clocks && !kind->has_clocks))
		return -EINVAL;
	fprintf(out, "%" PRIu64 " %s %" PRIu32 "/%" PRIu32 " %u ", event->time_ns, kind->name, event->tid,
		event->tgid, event->cpu);
	write_flags(out, event);
	err = write_fields(out, kind->fields, event);
	if (!err && event->clocks)
		err = write_clocks(out, event->clocks);
	fputc('\n', out);
	if (err)
		return err;
	return ferror(out) ? -EIO : 0;
}
