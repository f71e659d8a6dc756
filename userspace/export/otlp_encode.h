/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OTLP's messages of traces, in protobuf (opentelemetry-proto 1.x) or in its
 * JSON. Each call puts one more element behind those in a text: events and links
 * of a span, spans of a process, processes of a message. So that what a span has
 * can be kept packed until it ends. Errors stick in out->err.
 *
 * Strings may hold any bytes: they become valid UTF-8 without control characters.
 */
#ifndef OTLP_ENCODE_H
#define OTLP_ENCODE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "analyze/trace_ids.h"

enum otlp_type {
	OTLP_STRING = 0,
	OTLP_BOOL = 1,
	OTLP_INT = 2,
	OTLP_DOUBLE = 3,
	OTLP_BYTES = 4,
};

struct otlp_attribute {
	struct txtrace_string name;
	bool is_own; /* the name is one of ours: it is written as it is */
	enum otlp_type type;
	uint64_t value; /* bits: bool, int64_t, double */
	struct txtrace_string string;
};

struct otlp_attributes {
	const struct otlp_attribute *items;
	size_t cnt;
	uint32_t dropped_cnt;
};

/* What otlp_put_event() or otlp_put_link() have put. */
struct otlp_elements {
	const char *bytes;
	size_t length;
	uint32_t dropped_cnt;
};

struct otlp_span {
	struct trace_place place;
	struct txtrace_string name;
	uint64_t begin_ns; /* Unix time */
	uint64_t end_ns;
	struct otlp_attributes attributes;
	struct otlp_elements events;
	struct otlp_elements links;
};

struct otlp_encoder {
	bool is_json;
	struct text scratch;
};

void otlp_encoder_release(struct otlp_encoder *encoder);

void otlp_put_event(struct otlp_encoder *encoder, struct text *out, uint64_t time_ns,
		    struct txtrace_string name, struct otlp_attributes attributes);
void otlp_put_link(struct otlp_encoder *encoder, struct text *out, const struct trace_span_id *to,
		   struct otlp_attributes attributes);
void otlp_put_span(struct otlp_encoder *encoder, struct text *out, const struct otlp_span *span);
/* A process with these spans. */
void otlp_put_process(struct otlp_encoder *encoder, struct text *out, struct otlp_attributes attributes,
		      const char *version, const struct text *spans);
/* What goes before the processes of a message, and behind them. */
const char *otlp_message_begin(const struct otlp_encoder *encoder);
const char *otlp_message_end(const struct otlp_encoder *encoder);

#endif
