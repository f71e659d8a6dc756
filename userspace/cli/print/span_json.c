/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/span_json.h"

#include "analyze/log_census.h"
#include "base/text.h"
#include "cli/print/ledger_part.h"

static void key_json(struct json *json, const struct txtrace_string *key)
{
	struct text hex = { 0 };

	for (size_t i = 0; i < key->length; i++)
		text_append_format(&hex, "%02x", (unsigned char)key->bytes[i]);
	if (key->length > 0)
		json_member_text(json, "key", text_string(&hex));
	text_release(&hex);
}

void span_members_json(struct json *json, const struct txtrace_span *span, struct txtrace_string thread_name)
{
	json_member_u64_string(json, "id", span->id);
	json_member_u64(json, "pid", span->pid);
	json_member_u64(json, "tid", span->tid);
	json_member_u64(json, "end_tid", span->end_tid);
	if (thread_name.length > 0)
		json_member_string(json, "thread_name", thread_name.bytes, thread_name.length);
	json_member_string(json, "label", span->label.bytes, span->label.length);
	json_member_string(json, "tag", span->tag.bytes, span->tag.length);
	key_json(json, &span->key);
	json_member_u64_string(json, "parent", span->parent);
	json_member_u64(json, "begin_ns", span->begin_ns);
	json_member_u64(json, "end_ns", span->end_ns);
	json_member_u64(json, "wall_ns", span_wall_ns(span));
	json_member_u64(json, "work_ns", span->work_ns);
	ledger_json(json, &span->ledger);
	json_member_bool(json, "lower_bound", span->flags & TXTRACE_SPAN_LOWER_BOUND);
	json_member_bool(json, "unfinished", span->flags & TXTRACE_SPAN_UNFINISHED);
	json_member_bool(json, "loss", span->flags & TXTRACE_SPAN_LOSS);
	json_member_bool(json, "imbalance", span->flags & TXTRACE_SPAN_IMBALANCE);
	json_member_bool(json, "keyed", span->flags & TXTRACE_SPAN_KEYED);
	json_member_bool(json, "moved", span->flags & TXTRACE_SPAN_MOVED);
}

void span_json(struct json *json, const struct txtrace_span *span, struct txtrace_string thread_name)
{
	json_object_begin(json);
	span_members_json(json, span, thread_name);
	json_object_end(json);
}
