/* SPDX-License-Identifier: BSD-2-Clause */
#include "otlp/otlp_split.h"

#include <errno.h>

#include "base/protobuf.h"
#include "base/protobuf_reader.h"
#include "otlp/otlp_split_walk.h"
#include "otlp/otlp_traces.h"

/* Field numbers, as in opentelemetry/proto/trace/v1/trace.proto. */
enum {
	DATA_RESOURCE_SPANS = 1,
	RESOURCE_SPANS_SCOPE_SPANS = 2,
	SCOPE_SPANS_SPANS = 2,
};

/* The levels above the spans, by the field with which each is in the one above it. */
static const unsigned int levels[] = { DATA_RESOURCE_SPANS, RESOURCE_SPANS_SCOPE_SPANS, SCOPE_SPANS_SPANS };

#define SPAN_LEVEL 2u

static bool has_spans(const struct protobuf_field *field, unsigned int level, uint64_t *cnt)
{
	struct protobuf_reader reader = { field->bytes, field->bytes + field->length };
	struct protobuf_field inner;

	if (level == SPAN_LEVEL) {
		++*cnt;
		return true;
	}
	while (protobuf_next(&reader, &inner))
		if (inner.number == levels[level + 1] && inner.type == PROTOBUF_BYTES &&
		    !has_spans(&inner, level + 1, cnt))
			return false;
	return reader.at == reader.end;
}

static int put_wanted(struct text *out, const char *bytes, size_t length, unsigned int level,
		      struct otlp_wanted *wanted);

/* A message that has spans, if it has any that are wanted. */
static int put_field(struct text *out, const struct protobuf_field *field, unsigned int level,
		     struct otlp_wanted *wanted)
{
	uint64_t cnt = 0;
	size_t at;
	int err;

	if (!has_spans(field, level, &cnt))
		return -EBADMSG;
	if (wanted->number + cnt <= wanted->begin || wanted->number >= wanted->end) {
		wanted->number += cnt;
		return 0;
	}
	if (level == SPAN_LEVEL) {
		wanted->number++;
		protobuf_bytes(out, levels[level], field->bytes, field->length);
		return 0;
	}
	at = protobuf_begin(out, levels[level]);
	err = put_wanted(out, field->bytes, field->length, level + 1, wanted);
	protobuf_end(out, at);
	return err;
}

/* All that is no span goes along. */
static int put_wanted(struct text *out, const char *bytes, size_t length, unsigned int level,
		      struct otlp_wanted *wanted)
{
	struct protobuf_reader reader = { bytes, bytes + length };
	struct protobuf_field field;
	int err = 0;

	while (!err && protobuf_next(&reader, &field)) {
		if (field.number == levels[level] && field.type == PROTOBUF_BYTES)
			err = put_field(out, &field, level, wanted);
		else
			text_append_bytes(out, field.begin, (size_t)(reader.at - field.begin));
	}
	return err ? err : reader.at == reader.end ? 0 : -EBADMSG;
}

int otlp_split(const char *bytes, size_t length, uint32_t span_cnt, struct text *first, struct text *second)
{
	struct otlp_wanted before = { .begin = 0, .end = span_cnt },
			   after = { .begin = span_cnt, .end = UINT64_MAX };
	bool is_json = otlp_traces_is_json(bytes, length);
	int err;

	text_clear(first);
	text_clear(second);
	err = is_json ? otlp_split_json(first, bytes, length, &before)
		      : put_wanted(first, bytes, length, 0, &before);
	if (!err)
		err = is_json ? otlp_split_json(second, bytes, length, &after)
			      : put_wanted(second, bytes, length, 0, &after);
	return err ? err : first->err ? first->err : second->err;
}
