/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON Lines: every record with every field, one object a line. docs/export.md and docs/export.schema.json
 * describe it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/capture_scope.h"
#include "base/json.h"
#include "export/formats.h"
#include "export/record_json.h"

#define JSONL_VERSION 1

static void begin_line(struct json *json, const char *type)
{
	json_object_begin(json);
	json_member_text(json, "type", type);
}

static int end_line(struct json *json)
{
	json_object_end(json);
	json_newline(json);
	return json->err;
}

/* ---- lines ---- */

static int jsonl_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	struct json *json = malloc(sizeof(*json));

	if (!json)
		return -ENOMEM;
	*state = json;
	json_init_file(json, out);
	begin_line(json, "header");
	json_member_text(json, "format", "txtrace-jsonl");
	json_member_u64(json, "format_version", JSONL_VERSION);
	json_member_u64(json, "version_major", info->version_major);
	json_member_u64(json, "version_minor", info->version_minor);
	json_member_hex(json, "capture_id", info->capture_id, sizeof(info->capture_id));
	json_member_hex(json, "boot_id", info->boot_id, sizeof(info->boot_id));
	json_member_u64(json, "start_monotonic_ns", info->start_monotonic_ns);
	json_member_u64(json, "start_realtime_ns", info->start_realtime_ns);
	json_member_u64(json, "pid", info->pid);
	json_member_u64(json, "cpu_cnt", info->cpu_cnt);
	json_member_string(json, "host", info->host, strnlen(info->host, sizeof(info->host)));
	json_member_string(json, "kernel", info->kernel, strnlen(info->kernel, sizeof(info->kernel)));
	json_member_string(json, "command", info->command, strnlen(info->command, sizeof(info->command)));
	json_member_string(json, "recorder", info->recorder, strnlen(info->recorder, sizeof(info->recorder)));
	json_member_string(json, "options", info->options, strnlen(info->options, sizeof(info->options)));
	return end_line(json);
}

static int jsonl_record(void *state, const struct txtrace_record *record)
{
	struct json *json = state;

	begin_line(json, txtrace_record_kind_name(record->kind));
	record_json_members(json, record);
	return end_line(json);
}

/* ---- the last line ---- */

static int jsonl_finish(void *state, const struct export_totals *totals)
{
	struct txtrace_record summary = { .kind = TXTRACE_RECORD_SUMMARY, .summary = totals->census.summary };
	struct json *json = state;

	begin_line(json, "summary");
	json_name(json, "records");
	json_object_begin(json);
	for (unsigned int kind = TXTRACE_RECORD_SPAN; kind < TXTRACE_RECORD_KIND_COUNT; kind++)
		if (txtrace_record_kind_name(kind))
			json_member_u64(json, txtrace_record_kind_name(kind),
					totals->census.record_cnt[kind]);
	json_object_end(json);
	json_member_u64(json, "lower_bound_cnt", totals->census.lower_bound_cnt);
	json_member_u64(json, "lost_span_event_cnt", totals->census.lost_span_event_cnt);
	json_member_u64(json, "lost_sched_event_cnt", totals->census.lost_sched_event_cnt);
	json_member_u64(json, "dropped_record_cnt", totals->census.dropped_record_cnt);
	json_member_u64(json, "damaged_bytes", totals->census.damaged_bytes);
	json_member_u64(json, "damaged_record_cnt", totals->census.damaged_record_cnt);
	json_member_u64(json, "first_ns", totals->census.first_ns);
	json_member_u64(json, "last_ns", totals->census.last_ns);
	json_name(json, "recorder");
	if (totals->census.record_cnt[TXTRACE_RECORD_SUMMARY]) {
		json_object_begin(json);
		record_json_members(json, &summary);
		json_object_end(json);
	} else {
		json_null(json);
	}
	json_member_text(json, "read_error", totals->read_error ? strerror(-totals->read_error) : NULL);
	json_member_bool(json, "complete", totals->is_complete);
	return end_line(json);
}

static void jsonl_free(void *state)
{
	json_release(state);
	free(state);
}

const struct export_format format_jsonl = {
	.name = "jsonl",
	.help = "one JSON object per line: every record with all its fields, then a summary",
	.suffix = ".jsonl",
	.open = jsonl_open,
	.record = jsonl_record,
	.finish = jsonl_finish,
	.free = jsonl_free,
};
