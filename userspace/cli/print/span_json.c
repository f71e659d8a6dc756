/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/span_json.h"

#include "export/record_json.h"

void span_members_json(struct json *json, const struct txtrace_span *span, struct txtrace_string thread_name)
{
	const struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN, .span = *span };

	record_json_members(json, &record);
	if (thread_name.length > 0)
		json_member_string(json, "thread_name", thread_name.bytes, thread_name.length);
}

void span_json(struct json *json, const struct txtrace_span *span, struct txtrace_string thread_name)
{
	json_object_begin(json);
	span_members_json(json, span, thread_name);
	json_object_end(json);
}
