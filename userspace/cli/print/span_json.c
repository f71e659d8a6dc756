/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/span_json.h"

#include "export/record_json.h"

void span_json(struct json *json, const struct txtrace_span *span, struct txtrace_string thread_name)
{
	const struct txtrace_record record = { .kind = TXTRACE_RECORD_SPAN, .span = *span };

	json_object_begin(json);
	record_json_members(json, &record);
	if (thread_name.length > 0)
		json_member_string(json, "thread_name", thread_name.bytes, thread_name.length);
	json_object_end(json);
}
