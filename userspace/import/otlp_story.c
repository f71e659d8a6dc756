/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/otlp_story.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/protobuf.h"

#define SORT_BYTES (64u << 20)
#define RESOURCE_MAX 65536u
#define FIRST_MADE_PID 0x40000000u /* above those of Linux */

struct txtrace_string otlp_cut(struct otlp_story *story, struct txtrace_string string, size_t max)
{
	if (string.length > max) {
		story->cut_cnt++;
		string.length = max;
	}
	return string;
}

/* ---- beginning and end ---- */

/* Where what is too much for memory goes. */
static int open_directory(void)
{
	const char *path = secure_getenv("TMPDIR");

	return open(path && path[0] ? path : _PATH_TMP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int otlp_story_init(struct otlp_story *story, struct import *import)
{
	*story = (struct otlp_story){ .import = import, .first_ns = UINT64_MAX };
	key_map_init(&story->pids, sizeof(bool), NULL);
	key_map_init(&story->threads, sizeof(bool), NULL);
	id_map_init(&story->spans);
	story->directory = open_directory();
	story->sort = spill_sort_new(story->directory, SORT_BYTES);
	story->resources = string_pool_new();
	story->scopes = string_pool_new();
	return story->sort && story->resources && story->scopes ? 0 : -ENOMEM;
}

void otlp_story_release(struct otlp_story *story)
{
	key_map_release(&story->pids);
	key_map_release(&story->threads);
	id_map_release(&story->spans);
	string_pool_free(story->resources);
	string_pool_free(story->scopes);
	spill_sort_free(story->sort);
	text_release(&story->item);
	text_release(&story->value);
	free(story->known);
	if (story->directory >= 0)
		close(story->directory);
}

/* ---- processes ---- */

/* What tells one process from another: without what txtrace says of its own state. */
static int pack_resource(struct otlp_story *story, struct txtrace_string resource)
{
	struct protobuf_reader reader = otlp_reader(resource);
	struct protobuf_field field;
	struct otlp_pair pair;
	bool is_lossy = false;

	text_clear(&story->value);
	while (protobuf_next(&reader, &field)) {
		if (field.number != RESOURCE_ATTRIBUTES || field.type != PROTOBUF_BYTES)
			continue;
		if (!otlp_read_pair(otlp_string(&field), &pair))
			story->broken_cnt++;
		else if (!otlp_begins_with(pair.key, OTLP_OWN_PREFIX))
			protobuf_bytes(&story->value, RESOURCE_ATTRIBUTES, field.bytes, field.length);
		else
			is_lossy |= otlp_begins_with(pair.key, OTLP_OWN_PREFIX "lost.") ||
				    otlp_is_equal(pair.key, OTLP_OWN_PREFIX "incomplete");
	}
	story->lossy_cnt += is_lossy;
	story->broken_cnt += reader.at != reader.end;
	return story->value.err;
}

static int choose_pid(struct otlp_story *story, struct txtrace_string resource, uint32_t number,
		      uint32_t *pid)
{
	struct otlp_pair pair;
	uint64_t value;
	bool is_new;

	*pid = FIRST_MADE_PID + number;
	if (otlp_find(resource, "process.pid", &pair) && otlp_is_number(&pair, FIRST_MADE_PID - 1, &value) &&
	    value > 0) {
		uint32_t said = (uint32_t)value;

		if (!key_map_add(&story->pids, &said, sizeof(said), &is_new))
			return -ENOMEM;
		if (is_new)
			*pid = said;
	}
	return 0;
}

/* -E2BIG: there are too many. */
static int find_resource(struct otlp_story *story, struct txtrace_string resource, uint32_t *number)
{
	struct otlp_resource *known;
	struct txtrace_string packed;
	int err = pack_resource(story, resource);

	if (err)
		return err;
	packed = (struct txtrace_string){ text_string(&story->value), story->value.length };
	if (story->known_cnt >= RESOURCE_MAX &&
	    string_pool_find(story->resources, packed.bytes, packed.length) == STRING_POOL_NONE)
		return -E2BIG;
	err = string_pool_add(story->resources, packed.bytes, packed.length, number);
	if (err || *number < story->known_cnt)
		return err;
	known = array_grow(story->known, &story->known_room, story->known_cnt, sizeof(*known));
	if (!known)
		return -ENOMEM;
	story->known = known;
	story->known_cnt++;
	packed = otlp_find_text(packed, "host.name");
	if (!story->host[0] && packed.length < sizeof(story->host))
		memcpy(story->host, packed.bytes, packed.length);
	packed.bytes = string_pool_get(story->resources, *number, &packed.length);
	return choose_pid(story, packed, *number, &known[*number].pid);
}

/* ---- spans, as they come ---- */

static int keep(struct otlp_story *story, uint64_t time_ns, const struct otlp_item *item,
		struct txtrace_string bytes)
{
	text_clear(&story->item);
	text_append_bytes(&story->item, (const char *)item, sizeof(*item));
	text_append_bytes(&story->item, bytes.bytes, bytes.length);
	if (time_ns < story->first_ns)
		story->first_ns = time_ns;
	if (story->item.err)
		return story->item.err;
	return spill_sort_add(story->sort, time_ns, story->sequence++, text_string(&story->item),
			      (uint32_t)story->item.length);
}

/* The times of events lie in their span, if the clock was right. */
static int keep_event(struct otlp_story *story, struct otlp_item item, const struct otlp_in_span *span,
		      struct txtrace_string bytes)
{
	struct protobuf_reader reader = otlp_reader(bytes);
	struct protobuf_field field;
	struct txtrace_string name = otlp_literal("");
	uint64_t time_ns = span->begin_ns;

	while (protobuf_next(&reader, &field)) {
		if (field.number == EVENT_TIME && field.type == PROTOBUF_FIXED64)
			time_ns = otlp_fixed64(&field);
		else if (field.number == EVENT_NAME && field.type == PROTOBUF_BYTES)
			name = otlp_string(&field);
		story->event_attribute_cnt += field.number == EVENT_ATTRIBUTES;
	}
	if (reader.at != reader.end)
		story->broken_cnt++;
	item.kind = OTLP_ITEM_INSTANT;
	item.tid = span->tid;
	item.span = otlp_id(span->span_id);
	return keep(story, time_ns, &item, otlp_cut(story, name, OTLP_NAME_MAX));
}

static int keep_span(struct otlp_story *story, struct otlp_item item, struct txtrace_string bytes)
{
	struct protobuf_reader reader = otlp_reader(bytes);
	struct protobuf_field field;
	struct otlp_in_span span;
	int err = 0;

	if (!otlp_read_span(bytes, &span)) {
		story->nameless_cnt++;
		return 0;
	}
	while (!err && protobuf_next(&reader, &field))
		if (field.number == SPAN_EVENTS && field.type == PROTOBUF_BYTES)
			err = keep_event(story, item, &span, otlp_string(&field));
	if (span.begin_ns < story->first_ns)
		story->first_ns = span.begin_ns;
	if (!err && story->spans.cnt < OTLP_STORY_SPAN_MAX)
		err = id_map_put(&story->spans, item.resource, otlp_id(span.span_id), story);
	story->backward_cnt += span.end_ns < span.begin_ns;
	return err ? err
		   : keep(story, span.end_ns > span.begin_ns ? span.end_ns : span.begin_ns, &item, bytes);
}

static int take_scope(struct otlp_story *story, struct otlp_item item, struct txtrace_string bytes)
{
	struct protobuf_reader reader = otlp_reader(bytes), inner;
	struct protobuf_field field, name;
	struct txtrace_string scope = otlp_literal("");
	int err;

	while (protobuf_next(&reader, &field)) {
		if (field.number != SCOPE_SPANS_SCOPE || field.type != PROTOBUF_BYTES)
			continue;
		inner = otlp_reader(otlp_string(&field));
		while (protobuf_next(&inner, &name))
			if (name.number == SCOPE_NAME && name.type == PROTOBUF_BYTES)
				scope = otlp_string(&name);
	}
	story->broken_cnt += reader.at != reader.end;
	err = string_pool_add(story->scopes, scope.bytes, scope.length, &item.scope);
	reader = otlp_reader(bytes);
	while (!err && protobuf_next(&reader, &field))
		if (field.number == SCOPE_SPANS_SPANS && field.type == PROTOBUF_BYTES)
			err = keep_span(story, item, otlp_string(&field));
	return err;
}

int otlp_story_take(struct otlp_story *story, const char *bytes, size_t length)
{
	struct protobuf_reader reader = { bytes, bytes + length };
	struct protobuf_field field;
	struct txtrace_string resource = otlp_literal("");
	struct otlp_item item = { .kind = OTLP_ITEM_SPAN };
	int err;

	while (protobuf_next(&reader, &field))
		if (field.number == RESOURCE_SPANS_RESOURCE && field.type == PROTOBUF_BYTES)
			resource = otlp_string(&field);
	story->broken_cnt += reader.at != reader.end;
	err = find_resource(story, resource, &item.resource);
	if (err == -E2BIG) {
		story->crowd_cnt++;
		return 0;
	}
	reader = (struct protobuf_reader){ bytes, bytes + length };
	while (!err && protobuf_next(&reader, &field))
		if (field.number == RESOURCE_SPANS_SCOPE_SPANS && field.type == PROTOBUF_BYTES)
			err = take_scope(story, item, otlp_string(&field));
	return err;
}

/* ---- the end ---- */

/* Of a single process. */
static void name_program(const struct otlp_story *story, struct txtrace_log_info *info)
{
	struct txtrace_string resource, name;

	resource.bytes = string_pool_get(story->resources, 0, &resource.length);
	name = otlp_find_text(resource, "process.command_line");
	if (name.length == 0)
		name = otlp_find_text(resource, "service.name");
	info->pid = story->known[0].pid;
	if (name.length < sizeof(info->command))
		memcpy(info->command, name.bytes, name.length);
}

static int begin(struct otlp_story *story)
{
	struct txtrace_log_info info = { .start_monotonic_ns = story->first_ns,
					 .start_realtime_ns = story->first_ns };
	int err;

	if (story->known_cnt == 1)
		name_program(story, &info);
	memcpy(info.host, story->host, sizeof(info.host));
	err = import_begin(story->import, &info);
	for (uint32_t number = 0; number < story->known_cnt && !err; number++)
		err = otlp_tell_process(story, number);
	return err;
}

static int tell(struct otlp_story *story, const struct spill_item *sorted)
{
	struct otlp_item item;
	struct txtrace_string bytes = { (const char *)sorted->bytes + sizeof(item),
					sorted->length - sizeof(item) };

	memcpy(&item, sorted->bytes, sizeof(item));
	return item.kind == OTLP_ITEM_SPAN ? otlp_tell_span(story, &item, bytes)
					   : otlp_tell_instant(story, &item, sorted->high, bytes);
}

int otlp_story_finish(struct otlp_story *story)
{
	struct spill_item item;
	int got = 0, err;

	if (story->first_ns == UINT64_MAX)
		story->first_ns = 0;
	err = begin(story);
	if (!err)
		err = spill_sort_end(story->sort);
	while (!err && (got = spill_sort_next(story->sort, &item)) > 0)
		err = tell(story, &item);
	return err ? err : got;
}
