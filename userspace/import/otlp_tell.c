/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "import/otlp_story.h"
#include "log/format/log_format.h"

#define THREAD_MAX 1000000u
#define UNKNOWN_SERVICE "unknown_service"
#define DEPTH_MAX 16 /* of lists in lists */

/* ---- records ---- */

static int add_thread(struct otlp_story *story, uint32_t pid, uint32_t tid, uint64_t time_ns,
		      struct txtrace_string name)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_THREAD };
	const uint32_t key[] = { pid, tid };
	bool is_new = false;

	if (story->threads.count >= THREAD_MAX)
		return 0;
	if (!key_map_add(&story->threads, key, sizeof(key), &is_new))
		return -ENOMEM;
	if (!is_new)
		return 0;
	record.thread = (struct txtrace_thread){ .time_ns = time_ns,
						 .pid = pid,
						 .tid = tid,
						 .is_seed = true,
						 .comm = otlp_cut(story, name, OTLP_NAME_MAX) };
	return import_add(story->import, &record);
}

/* "unknown_service:app" is an app of which more is not known; of "unknown_service" nothing is. */
static struct txtrace_string service_of(struct txtrace_string resource)
{
	struct txtrace_string name = otlp_find_text(resource, "service.name");
	size_t length = strlen(UNKNOWN_SERVICE ":");

	if (otlp_is_equal(name, UNKNOWN_SERVICE))
		return otlp_literal("");
	if (!otlp_begins_with(name, UNKNOWN_SERVICE ":"))
		return name;
	return (struct txtrace_string){ name.bytes + length, name.length - length };
}

int otlp_tell_process(struct otlp_story *story, uint32_t number)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_PROCESS };
	struct txtrace_string resource;
	struct otlp_pair pair;
	uint64_t inner;

	resource.bytes = string_pool_get(story->resources, number, &resource.length);
	record.process = (struct txtrace_process){
		.time_ns = story->first_ns,
		.pid = story->known[number].pid,
		.is_seed = true,
		.comm = otlp_cut(story, service_of(resource), OTLP_NAME_MAX),
		.exe = otlp_cut(story, otlp_find_text(resource, "process.executable.path"), OTLP_NAME_MAX),
		.command = otlp_cut(story, otlp_find_text(resource, "process.command_line"), OTLP_NAME_MAX),
		.container = otlp_cut(story, otlp_find_text(resource, "container.id"), OTLP_NAME_MAX),
		.pod = otlp_cut(story, otlp_find_text(resource, "k8s.pod.uid"), OTLP_NAME_MAX),
	};
	if (otlp_find(resource, "process.vpid", &pair) && otlp_is_number(&pair, INT32_MAX, &inner))
		record.process.inner_pid = (uint32_t)inner;
	return import_add(story->import, &record);
}

/* ---- values of attributes ---- */

static void put_json(struct json *json, const struct protobuf_field *value, unsigned int depth);

static void put_json_list(struct json *json, const struct protobuf_field *list, unsigned int depth)
{
	struct protobuf_reader reader = otlp_reader(otlp_string(list));
	struct protobuf_field field, value;

	json_array_begin(json);
	while (protobuf_next(&reader, &field))
		if (field.number == LIST_VALUES && field.type == PROTOBUF_BYTES &&
		    otlp_read_value(otlp_string(&field), &value))
			put_json(json, &value, depth + 1);
	json_array_end(json);
}

static void put_json_pairs(struct json *json, const struct protobuf_field *list, unsigned int depth)
{
	struct protobuf_reader reader = otlp_reader(otlp_string(list));
	struct protobuf_field field;
	struct otlp_pair pair;

	json_object_begin(json);
	while (protobuf_next(&reader, &field)) {
		if (field.number != LIST_VALUES || field.type != PROTOBUF_BYTES ||
		    !otlp_read_pair(otlp_string(&field), &pair))
			continue;
		json_name_string(json, pair.key.bytes, pair.key.length);
		put_json(json, &pair.value, depth + 1);
	}
	json_object_end(json);
}

static double real_of(const struct protobuf_field *value)
{
	uint64_t bits = otlp_fixed64(value);
	double real;

	memcpy(&real, &bits, sizeof(real));
	return real;
}

static void put_json(struct json *json, const struct protobuf_field *value, unsigned int depth)
{
	if (depth > DEPTH_MAX || value->number == 0)
		json_null(json);
	else if (value->number == VALUE_BOOL && value->type == PROTOBUF_VARINT)
		json_bool(json, value->value);
	else if (value->number == VALUE_INT && value->type == PROTOBUF_VARINT)
		json_i64(json, (int64_t)value->value);
	else if (value->number == VALUE_DOUBLE && value->type == PROTOBUF_FIXED64)
		json_double(json, real_of(value));
	else if (value->type != PROTOBUF_BYTES)
		json_null(json);
	else if (value->number == VALUE_ARRAY)
		put_json_list(json, value, depth);
	else if (value->number == VALUE_PAIRS)
		put_json_pairs(json, value, depth);
	else
		json_string(json, value->bytes, value->length);
}

/* false: there is no value, or one that is not known. */
static bool take_value(struct txtrace_attribute *attribute, const struct protobuf_field *value)
{
	if (value->number == VALUE_BOOL && value->type == PROTOBUF_VARINT) {
		attribute->type = TXTRACE_ATTRIBUTE_BOOL;
		attribute->value = value->value != 0;
	} else if (value->number == VALUE_INT && value->type == PROTOBUF_VARINT) {
		attribute->type = TXTRACE_ATTRIBUTE_INT;
		attribute->value = value->value;
	} else if (value->number == VALUE_DOUBLE && value->type == PROTOBUF_FIXED64) {
		attribute->type = TXTRACE_ATTRIBUTE_DOUBLE;
		attribute->value = otlp_fixed64(value);
	} else if ((value->number == VALUE_STRING || value->number == VALUE_BYTES) &&
		   value->type == PROTOBUF_BYTES) {
		attribute->type = value->number == VALUE_BYTES ? TXTRACE_ATTRIBUTE_BYTES
							       : TXTRACE_ATTRIBUTE_STRING;
		attribute->string = otlp_string(value);
	} else {
		return false;
	}
	return true;
}

static int add_attribute(struct otlp_story *story, const struct txtrace_span *span,
			 struct txtrace_string name, struct txtrace_attribute attribute)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_ATTRIBUTE, .attribute = attribute };

	record.attribute.time_ns = span->end_ns;
	record.attribute.span = span->id;
	record.attribute.pid = span->pid;
	record.attribute.tid = span->tid;
	record.attribute.name = otlp_cut(story, name, OTLP_NAME_MAX);
	record.attribute.is_truncated = attribute.string.length > LOG_STRING_MAX_BYTES;
	record.attribute.string = otlp_cut(story, attribute.string, LOG_STRING_MAX_BYTES);
	return import_add(story->import, &record);
}

static int add_text(struct otlp_story *story, const struct txtrace_span *span, const char *name,
		    struct txtrace_string text)
{
	return text.length == 0 ? 0
				: add_attribute(story, span, otlp_literal(name),
						(struct txtrace_attribute){ .type = TXTRACE_ATTRIBUTE_STRING,
									    .string = text });
}

static int add_pair(struct otlp_story *story, const struct txtrace_span *span, const struct otlp_pair *pair)
{
	struct txtrace_attribute attribute = { .type = 0 };
	struct json json;
	int err;

	if (take_value(&attribute, &pair->value))
		return add_attribute(story, span, pair->key, attribute);
	json_init_memory(&json);
	put_json(&json, &pair->value, 0);
	err = json.err;
	if (!err)
		err = add_attribute(story, span, pair->key,
				    (struct txtrace_attribute){ .type = TXTRACE_ATTRIBUTE_STRING,
								.string = { json.bytes, json.length } });
	json_release(&json);
	return err;
}

/* ---- what txtrace has said of its own spans ---- */

static const struct {
	const char *name;
	size_t offset; /* of uint64_t in struct txtrace_span */
} own_numbers[] = {
	{ "work_ns", offsetof(struct txtrace_span, work_ns) },
	{ "on_cpu_ns", offsetof(struct txtrace_span, ledger.on_cpu_ns) },
	{ "runnable_ns", offsetof(struct txtrace_span, ledger.runnable_ns) },
	{ "stolen_ns", offsetof(struct txtrace_span, ledger.stolen_ns) },
	{ "stolen_max_ns", offsetof(struct txtrace_span, stolen_max_ns) },
	{ "detached_ns", offsetof(struct txtrace_span, ledger.detached_ns) },
	{ "interrupt_ns", offsetof(struct txtrace_span, ledger.interrupt_ns) },
	{ "unknown_ns", offsetof(struct txtrace_span, ledger.unknown_ns) },
};
static const struct {
	const char *name;
	uint32_t flags;
} own_flags[] = {
	{ "lower_bound", TXTRACE_SPAN_LOWER_BOUND },
	{ "loss", TXTRACE_SPAN_LOSS | TXTRACE_SPAN_LOWER_BOUND },
	{ "unfinished", TXTRACE_SPAN_UNFINISHED | TXTRACE_SPAN_LOWER_BOUND },
};

/* "blocked.lock_ns": the number of the reason; or that of none. */
static unsigned int reason_of(struct txtrace_string name)
{
	static const char prefix[] = "blocked.", suffix[] = "_ns";
	size_t around = strlen(prefix) + strlen(suffix);
	unsigned int reason = 0;

	if (name.length <= around || !otlp_begins_with(name, prefix) ||
	    memcmp(name.bytes + name.length - strlen(suffix), suffix, strlen(suffix)) != 0)
		return TXTRACE_BLOCK_REASON_COUNT;
	name = (struct txtrace_string){ name.bytes + strlen(prefix), name.length - around };
	while (reason < TXTRACE_BLOCK_REASON_COUNT && !otlp_is_equal(name, txtrace_block_reason_name(reason)))
		reason++;
	return reason;
}

static void take_own(struct txtrace_span *span, const struct otlp_pair *pair, bool *has_ledger)
{
	struct txtrace_string name = { pair->key.bytes + strlen(OTLP_OWN_PREFIX),
				       pair->key.length - strlen(OTLP_OWN_PREFIX) };
	unsigned int reason = reason_of(name);
	uint64_t number = 0;

	if (otlp_is_equal(name, "tag"))
		span->tag = otlp_text(pair);
	if (pair->value.number == VALUE_BOOL && pair->value.type == PROTOBUF_VARINT && pair->value.value)
		for (size_t i = 0; i < sizeof(own_flags) / sizeof(own_flags[0]); i++)
			span->flags |= otlp_is_equal(name, own_flags[i].name) ? own_flags[i].flags : 0;
	if (!otlp_is_number(pair, INT64_MAX, &number))
		return;
	if (otlp_is_equal(name, "thread.end_tid"))
		span->end_tid = (uint32_t)number;
	if (reason < TXTRACE_BLOCK_REASON_COUNT)
		span->ledger.blocked_ns[reason] = number;
	for (size_t i = 0; i < sizeof(own_numbers) / sizeof(own_numbers[0]); i++)
		if (otlp_is_equal(name, own_numbers[i].name))
			memcpy((char *)span + own_numbers[i].offset, &number, sizeof(number));
	*has_ledger |= otlp_is_equal(name, "on_cpu_ns");
}

/* What is not known of it, or does not add up, is unknown. */
static void settle_ledger(struct otlp_story *story, struct txtrace_span *span, bool has_ledger)
{
	bool is_equal_sum = has_ledger && txtrace_ledger_sum_ns(&span->ledger) == span->work_ns &&
			    span->work_ns >= span->end_ns - span->begin_ns;

	story->unequal_cnt += has_ledger && !is_equal_sum;
	if (is_equal_sum) { /* more than one thread can do in that time: several did */
		if (span->work_ns > span->end_ns - span->begin_ns)
			span->flags |= TXTRACE_SPAN_MOVED;
		return;
	}
	span->work_ns = span->end_ns - span->begin_ns;
	span->stolen_max_ns = 0;
	span->ledger = (struct txtrace_ledger){ .unknown_ns = span->work_ns };
}

/* ---- a span's records ---- */

static char *put_hex(char *at, const void *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < length; i++) {
		*at++ = digits[byte[i] >> 4];
		*at++ = digits[byte[i] & 0xf];
	}
	return at;
}

/* A traceparent of these ids. */
static struct txtrace_string header(char text[64], struct txtrace_string trace_id,
				    struct txtrace_string span_id, uint32_t flags)
{
	const uint8_t sampled = flags & 0xff;
	char *at = text;

	*at++ = '0';
	*at++ = '0';
	*at++ = '-';
	at = put_hex(at, trace_id.bytes, OTLP_TRACE_ID_BYTES);
	*at++ = '-';
	at = put_hex(at, span_id.bytes, OTLP_SPAN_ID_BYTES);
	*at++ = '-';
	at = put_hex(at, &sampled, 1);
	return (struct txtrace_string){ text, (size_t)(at - text) };
}

/* The parent is in another process, or not there. Where that is not said, that of a span that serves is. */
static bool is_remote(const struct otlp_story *story, const struct otlp_item *item,
		      const struct otlp_in_span *span)
{
	if (!otlp_is_id(span->parent_id, OTLP_SPAN_ID_BYTES))
		return false;
	if (span->flags & OTLP_PARENT_KNOWN ? span->flags & OTLP_PARENT_REMOTE
					    : span->kind == KIND_SERVER || span->kind == KIND_CONSUMER)
		return true;
	return story->spans.cnt < OTLP_STORY_SPAN_MAX &&
	       !id_map_get(&story->spans, item->resource, otlp_id(span->parent_id));
}

static int add_ids(struct otlp_story *story, const struct txtrace_span *record,
		   const struct otlp_in_span *span)
{
	char text[64];
	int err = 0;

	if (otlp_is_id(span->parent_id, OTLP_SPAN_ID_BYTES) && !record->parent)
		err = add_text(story, record, "traceparent",
			       header(text, span->trace_id, span->parent_id, span->flags));
	if (!err)
		err = add_text(story, record, "traceparent.sent",
			       header(text, span->trace_id, span->span_id, span->flags));
	return err ? err : add_text(story, record, "tracestate", span->state);
}

static int add_about(struct otlp_story *story, const struct txtrace_span *record,
		     const struct otlp_in_span *span, struct txtrace_string scope)
{
	static const char *const kinds[] = { "", "", "server", "client", "producer", "consumer" };
	int err = 0;

	if (span->kind < sizeof(kinds) / sizeof(kinds[0]))
		err = add_text(story, record, "span.kind", otlp_literal(kinds[span->kind]));
	if (!err && span->status)
		err = add_text(story, record, "otel.status_code",
			       otlp_literal(span->status == STATUS_OK	   ? "OK"
					    : span->status == STATUS_ERROR ? "ERROR"
									   : ""));
	if (!err)
		err = add_text(story, record, "otel.status_description", span->status_message);
	if (!err && !otlp_is_equal(scope, "txtrace"))
		err = add_text(story, record, "otel.scope.name", scope);
	return err;
}

/* Attributes and links; those of txtrace's own are of the span itself. */
static int add_fields(struct otlp_story *story, struct txtrace_span *record, const struct otlp_in_span *span,
		      bool is_own)
{
	struct protobuf_reader reader = span->fields;
	struct protobuf_field field;
	struct otlp_pair pair;
	int err = 0;

	while (!err && protobuf_next(&reader, &field)) {
		if (field.type == PROTOBUF_VARINT &&
		    (field.number == SPAN_DROPPED_ATTRIBUTES || field.number == SPAN_DROPPED_EVENTS ||
		     field.number == SPAN_DROPPED_LINKS))
			story->dropped_cnt += field.value & UINT32_MAX;
		story->link_cnt += field.number == SPAN_LINKS;
		if (field.number != SPAN_ATTRIBUTES || field.type != PROTOBUF_BYTES)
			continue;
		if (!otlp_read_pair(otlp_string(&field), &pair))
			story->broken_cnt++;
		else if (!(is_own && otlp_begins_with(pair.key, OTLP_OWN_PREFIX)) &&
			 !(is_own && otlp_is_equal(pair.key, "thread.name")) &&
			 !otlp_begins_with(pair.key, "traceparent") && !otlp_is_equal(pair.key, "tracestate"))
			err = add_pair(story, record, &pair);
	}
	return err;
}

static void read_own(struct otlp_story *story, struct txtrace_span *record, const struct otlp_in_span *span)
{
	struct protobuf_reader reader = span->fields;
	struct protobuf_field field;
	struct otlp_pair pair;
	bool has_ledger = false;

	while (protobuf_next(&reader, &field))
		if (field.number == SPAN_ATTRIBUTES && field.type == PROTOBUF_BYTES &&
		    otlp_read_pair(otlp_string(&field), &pair) && otlp_begins_with(pair.key, OTLP_OWN_PREFIX))
			take_own(record, &pair, &has_ledger);
	settle_ledger(story, record, has_ledger);
}

int otlp_tell_span(struct otlp_story *story, const struct otlp_item *item, struct txtrace_string bytes)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN };
	struct txtrace_string scope, resource;
	struct otlp_in_span span;
	int err;

	otlp_read_span(bytes, &span);
	resource.bytes = string_pool_get(story->resources, item->resource, &resource.length);
	scope.bytes = string_pool_get(story->scopes, item->scope, &scope.length);
	record.span = (struct txtrace_span){
		.id = otlp_id(span.span_id),
		.pid = story->known[item->resource].pid,
		.begin_ns = span.begin_ns,
		.end_ns = span.end_ns > span.begin_ns ? span.end_ns : span.begin_ns,
		.label = otlp_cut(story, span.name, OTLP_NAME_MAX),
	};
	record.span.tid = record.span.end_tid = span.tid ? span.tid : record.span.pid;
	if (otlp_is_id(span.parent_id, OTLP_SPAN_ID_BYTES) && !is_remote(story, item, &span))
		record.span.parent = otlp_id(span.parent_id);
	if (!record.span.parent)
		record.span.flags |= TXTRACE_SPAN_ROOT;
	if (span.thread.length == 0 && record.span.tid == record.span.pid)
		span.thread = service_of(resource);
	read_own(story, &record.span, &span);
	if (record.span.flags & TXTRACE_SPAN_UNFINISHED)
		record.span.end_tid = 0;
	record.span.tag = otlp_cut(story, record.span.tag, OTLP_NAME_MAX);
	err = add_thread(story, record.span.pid, record.span.tid, record.span.end_ns, span.thread);
	if (!err)
		err = add_ids(story, &record.span, &span);
	if (!err)
		err = add_about(story, &record.span, &span, scope);
	if (!err)
		err = add_fields(story, &record.span, &span, otlp_is_equal(scope, "txtrace"));
	return err ? err : import_add(story->import, &record);
}

int otlp_tell_instant(struct otlp_story *story, const struct otlp_item *item, uint64_t time_ns,
		      struct txtrace_string name)
{
	struct txtrace_record record = { .kind = TXTRACE_RECORD_INSTANT };
	uint32_t pid = story->known[item->resource].pid;

	record.instant = (struct txtrace_instant){ .time_ns = time_ns,
						   .span = item->span,
						   .pid = pid,
						   .tid = item->tid ? item->tid : pid,
						   .name = name };
	return import_add(story->import, &record);
}
