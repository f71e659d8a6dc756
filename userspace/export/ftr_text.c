/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text format of LWTR4SC. It has no escapes: what would end a text early is
 * replaced, and so are blanks in names. It does not tell when an attribute was
 * recorded, and a time is a string.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/ftr_writer.h"

struct text_writer {
	struct ftr_writer writer;
	struct text line;
};

static const char *const type_names[FTR_TYPE_CNT] = {
	[FTR_BOOLEAN] = "BOOLEAN",
	[FTR_ENUMERATION] = "ENUMERATION",
	[FTR_INTEGER] = "INTEGER",
	[FTR_UNSIGNED] = "UNSIGNED",
	[FTR_FLOATING_POINT_NUMBER] = "FLOATING_POINT_NUMBER",
	[FTR_BIT_VECTOR] = "BIT_VECTOR",
	[FTR_LOGIC_VECTOR] = "LOGIC_VECTOR",
	[FTR_FIXED_POINT_INTEGER] = "FIXED_POINT_INTEGER",
	[FTR_UNSIGNED_FIXED_POINT_INTEGER] = "UNSIGNED_FIXED_POINT_INTEGER",
	[FTR_POINTER] = "POINTER",
	[FTR_STRING] = "STRING",
	[FTR_TIME] = "STRING",
};

static void put_text(struct text_writer *writer, struct txtrace_string text, bool is_name)
{
	struct text *line = &writer->line;
	size_t at = line->length;
	bool is_changed = false;

	text_append(line, "\"");
	text_append_visible(line, text.bytes, text.length);
	if (line->err)
		return;
	is_changed = line->length - at - 1 != text.length;
	for (size_t i = at + 1; i < line->length; i++) {
		char c = line->bytes[i];

		if (c != '"' && !(is_name && c == ' '))
			continue;
		line->bytes[i] = c == '"' ? '\'' : '_';
		is_changed = true;
	}
	writer->writer.written.text_cnt += is_changed;
	text_append(line, "\"");
}

/* As SystemC does it: in the largest unit in which it is whole. */
static void put_time(struct text *line, uint64_t ps)
{
	static const char *const units[] = { "ps", "ns", "us", "ms", "s" };
	unsigned int unit = ps == 0 ? 4 : 0;

	for (; ps > 0 && ps % 1000 == 0 && unit < 4; unit++)
		ps /= 1000;
	text_append_format(line, "%" PRIu64 " %s", ps, units[unit]);
}

static int write_line(struct text_writer *writer)
{
	struct text *line = &writer->line;
	int err = line->err;

	text_append(line, "\n");
	if (!err && fwrite(text_string(line), 1, line->length, writer->writer.out) != line->length)
		err = errno ? -errno : -EIO;
	text_clear(line);
	return err;
}

static int text_info(struct ftr_writer *writer, int64_t exponent, uint64_t creation_s)
{
	(void)writer;
	(void)exponent;
	(void)creation_s;
	return 0; /* it has no place for it */
}

static int text_stream(struct ftr_writer *ftr_writer, uint64_t id, struct txtrace_string name,
		       struct txtrace_string kind)
{
	struct text_writer *writer = (struct text_writer *)ftr_writer;

	if (kind.length == 0)
		kind = (struct txtrace_string){ "<no_stream_kind>", 16 };
	text_append_format(&writer->line, "scv_tr_stream (ID %" PRIu64 ", name ", id);
	put_text(writer, name, true);
	text_append(&writer->line, ", kind ");
	put_text(writer, kind, false);
	text_append(&writer->line, ")");
	return write_line(writer);
}

static int text_generator(struct ftr_writer *ftr_writer, uint64_t id, struct txtrace_string name,
			  uint64_t stream)
{
	struct text_writer *writer = (struct text_writer *)ftr_writer;

	text_append_format(&writer->line, "scv_tr_generator (ID %" PRIu64 ", name ", id);
	put_text(writer, name, true);
	text_append_format(&writer->line, ", scv_tr_stream %" PRIu64 ",\n)", stream);
	return write_line(writer);
}

static void put_value(struct text_writer *writer, const struct ftr_value *value)
{
	struct text *line = &writer->line;
	double real;

	switch ((enum ftr_type)value->type) {
	case FTR_BOOLEAN:
		text_append(line, value->value ? "true" : "false");
		break;
	case FTR_INTEGER:
		text_append_format(line, "%" PRId64, (int64_t)value->value);
		break;
	case FTR_FLOATING_POINT_NUMBER:
	case FTR_FIXED_POINT_INTEGER:
	case FTR_UNSIGNED_FIXED_POINT_INTEGER:
		memcpy(&real, &value->value, sizeof(real));
		text_append_format(line, "%.17g", real);
		break;
	case FTR_UNSIGNED:
	case FTR_POINTER:
		text_append_format(line, "%" PRIu64, value->value);
		break;
	case FTR_TIME:
		text_append(line, "\"");
		put_time(line, value->value);
		text_append(line, "\"");
		break;
	default:
		put_text(writer, value->string, false);
	}
}

static int text_row(struct ftr_writer *ftr_writer, const struct ftr_row *row)
{
	struct text_writer *writer = (struct text_writer *)ftr_writer;
	struct text *line = &writer->line;

	text_append_format(line, "tx_begin %" PRIu64 " %" PRIu64 " ", row->id, row->generator);
	put_time(line, row->begin_ps);
	for (size_t i = 0; i < row->value_cnt; i++) {
		text_append_format(line, "\ntx_record_attribute %" PRIu64 " ", row->id);
		put_text(writer, row->values[i].name, true);
		text_append_format(line, " %s = ", type_names[row->values[i].type]);
		put_value(writer, &row->values[i]);
	}
	text_append_format(line, "\ntx_end %" PRIu64 " %" PRIu64 " ", row->id, row->generator);
	put_time(line, row->end_ps);
	return write_line(writer);
}

static int text_arrow(struct ftr_writer *ftr_writer, const struct ftr_arrow *arrow)
{
	struct text_writer *writer = (struct text_writer *)ftr_writer;

	text_append(&writer->line, "tx_relation ");
	put_text(writer, arrow->name, false);
	text_append_format(&writer->line, " %" PRIu64 " %" PRIu64, arrow->to, arrow->from);
	return write_line(writer);
}

static int text_finish(struct ftr_writer *writer)
{
	(void)writer;
	return 0;
}

static void text_free(struct ftr_writer *ftr_writer)
{
	struct text_writer *writer = (struct text_writer *)ftr_writer;

	if (writer)
		text_release(&writer->line);
	free(writer);
}

static int text_open(struct ftr_writer **ftr_writer, FILE *out)
{
	struct text_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return -ENOMEM;
	writer->writer.as = &ftr_as_text;
	writer->writer.out = out;
	*ftr_writer = &writer->writer;
	return 0;
}

const struct ftr_writing ftr_as_text = {
	.open = text_open,
	.info = text_info,
	.stream = text_stream,
	.generator = text_generator,
	.row = text_row,
	.arrow = text_arrow,
	.finish = text_finish,
	.free = text_free,
};
