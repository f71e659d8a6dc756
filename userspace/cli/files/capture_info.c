/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/capture_info.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analyze/capture_scope.h"
#include "base/units.h"
#include "log/format/fvm_marks.h"

#define WARNING "1;31"

/* Hostile logs may hold any clocks: what is no time of this era is "unknown". */
static bool wall_clock(const struct txtrace_log_info *info, uint64_t monotonic_ns, struct tm *tm,
		       unsigned int *ms)
{
	int64_t ns = (int64_t)(info->start_realtime_ns + (monotonic_ns - info->start_monotonic_ns));
	time_t seconds = ns / 1000000000;

	*ms = (unsigned int)(ns / 1000000 % 1000);
	return info->start_realtime_ns > 0 && ns >= 0 && gmtime_r(&seconds, tm);
}

void capture_append_time(struct text *text, const struct txtrace_log_info *info, uint64_t monotonic_ns)
{
	char date[32];
	unsigned int ms;
	struct tm tm;

	if (!wall_clock(info, monotonic_ns, &tm, &ms)) {
		text_append(text, "at an unknown time");
		return;
	}
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &tm);
	text_append_format(text, "%s.%03u UTC", date, ms);
}

/* From the start of the capture to the last time in it. */
static uint64_t duration_ns(const struct txtrace_log_info *info, const struct log_census *census)
{
	return census->has_time && census->last_ns > info->start_monotonic_ns
		       ? census->last_ns - info->start_monotonic_ns
		       : 0;
}

void capture_append_scope(struct text *text, const struct txtrace_log_info *info)
{
	struct capture_scope scope;
	char number[UNITS_SIZE];

	capture_scope_read(&scope, info);
	if (!scope.has_ledgers)
		text_append(text, "; no timeline, no ledgers (--sched off)");
	else if (!scope.has_timeline)
		text_append(text, "; no timeline (--sched ledger)");
	if (scope.sample_rate > 1)
		text_append_format(text, "; 1 of %s transactions",
				   units_format_count(number, scope.sample_rate));
	if (scope.has_labels)
		text_append(text, "; only some labels");
	if (scope.min_duration_ns)
		text_append_format(text, "; only spans of %s and more",
				   units_format_duration(number, scope.min_duration_ns));
	if (scope.is_flight)
		text_append(text, "; from a flight recorder");
}

void capture_append_title(struct text *text, const struct txtrace_log_info *info,
			  const struct log_census *census)
{
	char duration[UNITS_SIZE];

	if (info->command[0])
		text_append_clipped(text, info->command, strlen(info->command), 48);
	else
		text_append(text, "unknown program");
	if (info->pid)
		text_append_format(text, " (pid %u)", info->pid);
	if (info->host[0]) {
		text_append(text, " on ");
		text_append_clipped(text, info->host, strlen(info->host), 32);
	}
	if (!fvm_is_gas(info->options)) {
		text_append(text, ", ");
		capture_append_time(text, info, info->start_monotonic_ns);
		text_append_format(text, ", for %s",
				   units_format_duration(duration, duration_ns(info, census)));
	}
	capture_append_scope(text, info);
}

/* ---- losses, for people ---- */

static void add_row(struct table *table, const char *style, const char *name, const struct text *what)
{
	table_cell(table, style, name);
	table_cell(table, style, text_string(what));
}

/* "+1.20 s": since the first time in the log */
static const char *relative(char buffer[static UNITS_SIZE], const struct log_census *census, uint64_t ns)
{
	return units_format_duration(buffer, ns > census->first_ns ? ns - census->first_ns : 0);
}

static void add_events(struct table *table, const struct log_census *census)
{
	const struct txtrace_summary *summary = &census->summary;
	char sent[UNITS_SIZE], received[UNITS_SIZE], lost[UNITS_SIZE];
	struct text text = { 0 };

	units_format_count(lost, log_census_lost_cnt(census));
	if (census->has_summary)
		text_append_format(&text, "%s sent, %s received, %s lost%s",
				   units_format_count(sent, summary->sent_cnt),
				   units_format_count(received, summary->received_cnt), lost,
				   census->is_range ? ", in the whole capture" : "");
	else if (census->is_range)
		text_append_format(&text, "%s lost in this range", lost);
	else
		text_append_format(&text,
				   "%s lost as far as the log goes: it was not closed, so the recorder's own "
				   "count is missing",
				   lost);
	add_row(table, log_census_lost_cnt(census) ? WARNING : TABLE_PLAIN, "events", &text);
	text_clear(&text);
	text_append(&text,
		    "sent is not received + lost: the recorder's counts do not add up, please report it");
	if (!log_census_is_balanced(census))
		add_row(table, WARNING, "", &text);
	text_release(&text);
}

static void add_loss_details(struct table *table, const struct log_census *census)
{
	char span[UNITS_SIZE], sched[UNITS_SIZE], first[UNITS_SIZE], last[UNITS_SIZE], touched[UNITS_SIZE];
	struct text text = { 0 };

	text_append_format(
		&text, "%s of spans, %s of the scheduler, from +%s to +%s; %s span%s may be touched and %s",
		units_format_count(span, census->lost_span_event_cnt),
		units_format_count(sched, census->lost_sched_event_cnt),
		relative(first, census, census->first_lost_ns), relative(last, census, census->last_lost_ns),
		units_format_count(touched, census->touched_by_loss_cnt),
		census->touched_by_loss_cnt == 1 ? "" : "s",
		census->touched_by_loss_cnt == 1 ? "is a lower bound" : "are lower bounds");
	if (census->record_cnt[TXTRACE_RECORD_LOSS] > 0)
		add_row(table, WARNING, "", &text);
	text_release(&text);
}

static void add_dropped(struct table *table, const struct log_census *census)
{
	char spans[UNITS_SIZE], records[UNITS_SIZE], first[UNITS_SIZE], last[UNITS_SIZE];
	struct text text = { 0 };

	text_append_format(&text, "%s span%s, %s other records, +%s to +%s: the disk did not keep up",
			   units_format_count(spans, census->dropped_span_cnt),
			   census->dropped_span_cnt == 1 ? "" : "s",
			   units_format_count(records, census->dropped_record_cnt - census->dropped_span_cnt),
			   relative(first, census, census->first_dropped_ns),
			   relative(last, census, census->last_dropped_ns));
	if (census->record_cnt[TXTRACE_RECORD_DROPPED] > 0)
		add_row(table, WARNING, "dropped", &text);
	text_release(&text);
}

static void add_count(struct table *table, const char *name, uint64_t cnt, const char *what)
{
	char count[UNITS_SIZE];
	struct text text = { 0 };

	text_append_format(&text, "%s %s", units_format_count(count, cnt), what);
	if (cnt > 0)
		add_row(table, WARNING, name, &text);
	text_release(&text);
}

static void add_left_out(struct table *table, const struct log_census *census)
{
	static const char *const names[TXTRACE_LEFT_OUT_COUNT] = {
		[TXTRACE_LEFT_OUT_SAMPLE] = "spans not sampled",
		[TXTRACE_LEFT_OUT_LABEL] = "of other labels",
		[TXTRACE_LEFT_OUT_SHORT] = "too short",
		[TXTRACE_LEFT_OUT_NO_ROOM] = "without room to remember them",
		[TXTRACE_LEFT_OUT_MARK] = "other events of such spans",
	};
	struct text text = { 0 };
	char count[UNITS_SIZE];

	for (unsigned int i = 0; i < TXTRACE_LEFT_OUT_COUNT; i++)
		if (census->summary.left_out_cnt[i])
			text_append_format(&text, "%s%s %s", text.length ? ", " : "",
					   units_format_count(count, census->summary.left_out_cnt[i]),
					   names[i]);
	if (text.length > 0)
		add_row(table, TABLE_PLAIN, "filtered", &text);
	text_release(&text);
}

static void add_anomalies(struct table *table, const struct log_census *census)
{
	struct text text = { 0 };
	char count[UNITS_SIZE];

	for (unsigned int i = 0; i < TXTRACE_ANOMALY_COUNT; i++) {
		uint64_t cnt = census->summary.anomaly_cnt[i];

		if (cnt > 0)
			text_append_format(&text, "%s%s %s", text.length ? ", " : "",
					   units_format_count(count, cnt), txtrace_anomaly_name(i));
	}
	if (text.length > 0)
		add_row(table, "33", "anomalies", &text);
	text_release(&text);
}

void capture_append_missing(struct text *text, const struct log_census *census)
{
	char count[UNITS_SIZE];

	if (census->damaged_record_cnt > 0)
		text_append_format(text, "at least %s record%s",
				   units_format_count(count, census->damaged_record_cnt),
				   census->damaged_record_cnt == 1 ? "" : "s");
	else
		text_append(text, "an unknown number of records");
}

static void add_damage(struct table *table, const struct log_census *census)
{
	uint64_t damage_cnt = census->record_cnt[TXTRACE_RECORD_DAMAGE];
	char bytes[UNITS_SIZE], parts[UNITS_SIZE];
	struct text text = { 0 };

	text_append_format(&text, "%s part%s of the file, %s: ", units_format_count(parts, damage_cnt),
			   damage_cnt == 1 ? "" : "s", units_format_size(bytes, census->damaged_bytes));
	capture_append_missing(&text, census);
	text_append(&text, " missing");
	if (damage_cnt > 0)
		add_row(table, WARNING, "damage", &text);
	text_release(&text);
}

/* Why a flight recorder wrote the file; of several files, the last one's. */
static void add_trigger(struct table *table, const struct log_census *census)
{
	static const char *const others[] = {
		[TXTRACE_TRIGGER_UNKNOWN] = "not known",
		[TXTRACE_TRIGGER_SPAN] = "",
		[TXTRACE_TRIGGER_REQUEST] = "SIGUSR1, or txtrace-bpf --dump",
		[TXTRACE_TRIGGER_EXIT] = "the end of the recording",
	};
	const struct txtrace_trigger *trigger = &census->trigger;
	uint64_t cnt = census->record_cnt[TXTRACE_RECORD_TRIGGER];
	char time[UNITS_SIZE], count[UNITS_SIZE];
	struct text text = { 0 };

	if (!cnt)
		return;
	if (trigger->cause == TXTRACE_TRIGGER_SPAN) {
		text_append_escaped(&text, census->trigger_rule, trigger->rule.length);
		text_append(&text, ": ");
		if (trigger->label.length)
			text_append_escaped(&text, census->trigger_label, trigger->label.length);
		else
			text_append(&text, "(unknown label)");
		text_append_format(&text, ", %sspan %" PRIu64 " of process %" PRIu32,
				   trigger->is_keyed ? "keyed " : "", trigger->span, trigger->pid);
		if (trigger->wall_ns)
			text_append_format(&text, ", took %s", units_format_duration(time, trigger->wall_ns));
	} else {
		text_append(&text, others[trigger->cause <= TXTRACE_TRIGGER_EXIT ? trigger->cause
										 : TXTRACE_TRIGGER_UNKNOWN]);
	}
	if (cnt > 1)
		text_append_format(&text, "; the last of %s", units_format_count(count, cnt));
	add_row(table, NULL, "trigger", &text);
	text_release(&text);
}

void capture_add_losses(struct table *table, const struct log_census *census)
{
	add_trigger(table, census);
	add_events(table, census);
	add_loss_details(table, census);
	add_dropped(table, census);
	add_count(table, "clocks", census->summary.lost_clocks_cnt,
		  "threads or events had no state clocks: their account is unknown");
	add_count(table, "late", census->summary.late_cnt, "events came too late to be put in order");
	add_count(table, "unbalanced", census->unbalanced_cnt,
		  "ledgers do not add up: a bug of txtrace, please report it");
	add_left_out(table, census);
	add_anomalies(table, census);
	add_damage(table, census);
}

/* ---- JSON ---- */

static void member_hex(struct json *json, const char *name, const uint8_t bytes[16])
{
	char hex[33];

	for (unsigned int i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
	json_member_text(json, name, hex);
}

const char *capture_no_waits(const struct txtrace_log_info *info, const char *sentence)
{
	struct capture_scope scope;

	capture_scope_read(&scope, info);
	return scope.has_timeline
		       ? sentence
		       : "who waited is not known: the log was recorded without a timeline (--sched)";
}

/* Only of a capture that lacks something. */
static void scope_json(struct json *json, const struct txtrace_log_info *info)
{
	struct capture_scope scope;

	capture_scope_read(&scope, info);
	if (!capture_scope_is_limited(&scope))
		return;
	json_name(json, "scope");
	json_object_begin(json);
	json_member_bool(json, "has_timeline", scope.has_timeline);
	json_member_bool(json, "has_ledgers", scope.has_ledgers);
	json_member_u64(json, "sample_rate", scope.sample_rate);
	json_member_u64(json, "min_duration_ns", scope.min_duration_ns);
	json_member_bool(json, "has_all_labels", !scope.has_labels);
	json_member_bool(json, "is_flight", scope.is_flight);
	json_object_end(json);
}

void capture_json(struct json *json, const struct txtrace_log_info *info)
{
	char version[16];

	snprintf(version, sizeof(version), "%u.%u", info->version_major, info->version_minor);
	json_name(json, "capture");
	json_object_begin(json);
	json_member_text(json, "format_version", version);
	member_hex(json, "capture_id", info->capture_id);
	member_hex(json, "boot_id", info->boot_id);
	json_member_text(json, "host", info->host);
	json_member_text(json, "kernel", info->kernel);
	json_member_u64(json, "cpus", info->cpu_cnt);
	json_member_u64(json, "pid", info->pid);
	json_member_text(json, "command", info->command);
	json_member_text(json, "recorder", info->recorder);
	json_member_text(json, "options", info->options);
	scope_json(json, info);
	json_member_u64(json, "start_monotonic_ns", info->start_monotonic_ns);
	json_member_u64(json, "start_realtime_ns", info->start_realtime_ns);
	json_object_end(json);
}

static void losses_json(struct json *json, const struct log_census *census)
{
	const struct txtrace_summary *summary = &census->summary;

	json_name(json, "losses");
	json_object_begin(json);
	json_member_u64(json, "lost", log_census_lost_cnt(census));
	if (census->has_summary) {
		json_member_u64(json, "sent", summary->sent_cnt);
		json_member_u64(json, "received", summary->received_cnt);
		json_member_bool(json, "balanced", log_census_is_balanced(census));
		json_member_u64(json, "lost_clocks", summary->lost_clocks_cnt);
		json_member_u64(json, "late", summary->late_cnt);
	}
	json_member_u64(json, "span_events", census->lost_span_event_cnt);
	json_member_u64(json, "sched_events", census->lost_sched_event_cnt);
	json_member_u64(json, "records", census->record_cnt[TXTRACE_RECORD_LOSS]);
	if (census->record_cnt[TXTRACE_RECORD_LOSS] > 0) {
		json_member_u64(json, "first_ns", census->first_lost_ns);
		json_member_u64(json, "last_ns", census->last_lost_ns);
	}
	json_object_end(json);
}

/* Only if something was. */
static void left_out_json(struct json *json, const struct txtrace_summary *summary)
{
	if (!summary_has_left_out(summary))
		return;
	json_name(json, "left_out");
	json_object_begin(json);
	for (unsigned int i = 0; i < TXTRACE_LEFT_OUT_COUNT; i++)
		json_member_u64(json, txtrace_left_out_name(i), summary->left_out_cnt[i]);
	json_object_end(json);
}

/* Only if marks were read in memory, or should have been. */
static void shared_memory_json(struct json *json, const struct txtrace_summary *summary)
{
	if (!summary->memory_process_cnt && !summary->unread_process_cnt)
		return;
	json_name(json, "shared_memory");
	json_object_begin(json);
	json_member_u64(json, "memory_processes", summary->memory_process_cnt);
	json_member_u64(json, "unread_processes", summary->unread_process_cnt);
	json_object_end(json);
}

static void incomplete_json(struct json *json, const struct log_census *census)
{
	json_member_bool(json, "complete", log_census_is_complete(census));
	json_name(json, "range");
	json_object_begin(json);
	json_member_u64(json, "first_ns", census->first_ns);
	json_member_u64(json, "last_ns", census->last_ns);
	json_object_end(json);
	losses_json(json, census);
	json_name(json, "anomalies");
	json_object_begin(json);
	for (unsigned int i = 0; i < TXTRACE_ANOMALY_COUNT; i++)
		json_member_u64(json, txtrace_anomaly_name(i), census->summary.anomaly_cnt[i]);
	json_object_end(json);
	left_out_json(json, &census->summary);
	shared_memory_json(json, &census->summary);
	json_member_u64(json, "unbalanced_ledgers", census->unbalanced_cnt);
	json_name(json, "damage");
	json_object_begin(json);
	json_member_u64(json, "parts", census->record_cnt[TXTRACE_RECORD_DAMAGE]);
	json_member_u64(json, "bytes", census->damaged_bytes);
	json_member_u64(json, "records", census->damaged_record_cnt);
	json_object_end(json);
}

void capture_json_begin(struct json *json, const char *type, const struct txtrace_log_info *info)
{
	json_object_begin(json);
	json_member_text(json, "type", type);
	capture_json(json, info);
}

/* Only of what a flight recorder wrote. */
static void trigger_json(struct json *json, const struct log_census *census)
{
	static const char *const causes[] = { "unknown", "span", "request", "exit" };
	const struct txtrace_trigger *trigger = &census->trigger;
	bool is_known = trigger->cause < sizeof(causes) / sizeof(causes[0]);

	if (!census->record_cnt[TXTRACE_RECORD_TRIGGER])
		return;
	json_name(json, "trigger");
	json_object_begin(json);
	json_member_text(json, "cause", causes[is_known ? trigger->cause : 0]);
	if (trigger->cause == TXTRACE_TRIGGER_SPAN) {
		json_name(json, "rule");
		json_string(json, census->trigger_rule, trigger->rule.length);
		json_name(json, "label");
		json_string(json, census->trigger_label, trigger->label.length);
		json_member_u64_string(json, "span", trigger->span);
		json_member_bool(json, "keyed", trigger->is_keyed);
		json_member_u64(json, "pid", trigger->pid);
		json_member_u64(json, "tid", trigger->tid);
		json_member_u64(json, "wall_ns", trigger->wall_ns);
	}
	json_object_end(json);
}

void capture_json_end(struct json *json, const struct log_census *census)
{
	trigger_json(json, census);
	incomplete_json(json, census);
	json_object_end(json);
}
