/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is in the messages of OTLP's traces in protobuf. The bytes may be
 * anything; strings point into what is read.
 */
#ifndef OTLP_MESSAGE_H
#define OTLP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/protobuf_reader.h"
#include "txtrace/log.h"

/* Field numbers, as in opentelemetry/proto/trace/v1/trace.proto and common/v1/common.proto. */
enum {
	RESOURCE_SPANS_RESOURCE = 1,
	RESOURCE_SPANS_SCOPE_SPANS = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_SPANS_SCOPE = 1,
	SCOPE_SPANS_SPANS = 2,
	SCOPE_NAME = 1,
	SPAN_TRACE_ID = 1,
	SPAN_SPAN_ID = 2,
	SPAN_TRACE_STATE = 3,
	SPAN_PARENT_SPAN_ID = 4,
	SPAN_NAME = 5,
	SPAN_KIND = 6,
	SPAN_START = 7,
	SPAN_END = 8,
	SPAN_ATTRIBUTES = 9,
	SPAN_DROPPED_ATTRIBUTES = 10,
	SPAN_EVENTS = 11,
	SPAN_DROPPED_EVENTS = 12,
	SPAN_LINKS = 13,
	SPAN_DROPPED_LINKS = 14,
	SPAN_STATUS = 15,
	SPAN_FLAGS = 16,
	EVENT_TIME = 1,
	EVENT_NAME = 2,
	EVENT_ATTRIBUTES = 3,
	LINK_TRACE_ID = 1,
	LINK_SPAN_ID = 2,
	STATUS_MESSAGE = 2,
	STATUS_CODE = 3,
	PAIR_KEY = 1,
	PAIR_VALUE = 2,
	VALUE_STRING = 1,
	VALUE_BOOL = 2,
	VALUE_INT = 3,
	VALUE_DOUBLE = 4,
	VALUE_ARRAY = 5,
	VALUE_PAIRS = 6,
	VALUE_BYTES = 7,
	LIST_VALUES = 1,
};

enum { KIND_SERVER = 2, KIND_CONSUMER = 5, STATUS_OK = 1, STATUS_ERROR = 2 };

#define OTLP_OWN_PREFIX "txtrace." /* of names of attributes */
#define OTLP_PARENT_KNOWN 0x100u   /* flags: whether the parent is in another process is known */
#define OTLP_PARENT_REMOTE 0x200u  /* and that it is */
#define OTLP_TRACE_ID_BYTES 16
#define OTLP_SPAN_ID_BYTES 8

struct otlp_pair {
	struct txtrace_string key;
	struct protobuf_field value; /* the field of the value that is set; number 0: none */
};

/* A span. */
struct otlp_in_span {
	struct txtrace_string trace_id, span_id, parent_id, state, name;
	uint64_t kind, begin_ns, end_ns;
	uint32_t flags;
	uint64_t status;
	struct txtrace_string status_message;
	uint32_t tid;
	struct txtrace_string thread;
	struct protobuf_reader fields; /* all of it once more */
};

struct txtrace_string otlp_literal(const char *text);
bool otlp_is_equal(struct txtrace_string string, const char *text);
bool otlp_begins_with(struct txtrace_string string, const char *text);

struct txtrace_string otlp_string(const struct protobuf_field *field); /* of BYTES */
struct protobuf_reader otlp_reader(struct txtrace_string bytes);
uint64_t otlp_fixed64(const struct protobuf_field *field); /* of FIXED64 */

/* false: these bytes are no such message. */
bool otlp_read_value(struct txtrace_string bytes, struct protobuf_field *value);
bool otlp_read_pair(struct txtrace_string bytes, struct otlp_pair *pair);
bool otlp_read_span(struct txtrace_string bytes, struct otlp_in_span *span); /* with valid ids */

/* A whole number from 0 to max. */
bool otlp_is_number(const struct otlp_pair *pair, uint64_t max, uint64_t *number);
struct txtrace_string otlp_text(const struct otlp_pair *pair); /* empty: it is none */

/* Of a Resource: the first attribute of that name. */
bool otlp_find(struct txtrace_string resource, const char *name, struct otlp_pair *pair);
struct txtrace_string otlp_find_text(struct txtrace_string resource, const char *name);

bool otlp_is_id(struct txtrace_string id, size_t length); /* of that length, and not all zero */
uint64_t otlp_id(struct txtrace_string id);		  /* of a span: its bytes as a number, big-endian */

#endif
