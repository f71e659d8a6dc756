/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/party_print.h"

#include <inttypes.h>

#include "base/table.h"
#include "base/units.h"

#define REASONS_SHOWN_MAX 3
#define OBJECT_COLUMNS_MAX 48

/* What stands in front of a name, and instead of one that is empty. */
static const struct {
	const char *before;
	const char *nameless;
} party_words[PARTY_KIND_COUNT] = {
	[PARTY_SPAN] = { "", "(unknown label)" },
	[PARTY_THREAD] = { "thread ", "(a thread without name)" },
	[PARTY_INTERRUPT] = { "", "(interrupt)" },
	[PARTY_UNKNOWN] = { "", "(nobody known)" },
	[PARTY_UNSEEN] = { "", "(wakeup not seen)" },
	[PARTY_NO_SPAN] = { "", "(no span)" },
	[PARTY_REST] = { "", "(all others)" },
	[PARTY_TIMER] = { "", "(timer)" },
	[PARTY_SOFTIRQ] = { "", "(softirq)" },
};

void party_append(struct text *text, const struct party *party)
{
	if (party->name.length == 0) {
		text_append(text, party_words[party->kind].nameless);
		return;
	}
	text_append(text, party_words[party->kind].before);
	text_append_escaped(text, party->name.bytes, party->name.length);
}

void party_members_json(struct json *json, const struct party *party)
{
	json_member_text(json, "kind", party_kind_names[party->kind]);
	if (party->name.length > 0)
		json_member_string(json, "name", party->name.bytes, party->name.length);
	else
		json_member_null(json, "name");
}

void party_json(struct json *json, const char *member, const struct party *party)
{
	json_name(json, member);
	json_object_begin(json);
	party_members_json(json, party);
	json_object_end(json);
}

const char *wait_reason_name(unsigned int reason)
{
	const char *name = txtrace_block_reason_name(reason);

	return name ? name : "unknown";
}

static const char *const fault_words[WAIT_FAULT_COUNT] = {
	[WAIT_FAULT_UNKNOWN] = "memory",
	[WAIT_FAULT_FILE] = "a page of a file",
	[WAIT_FAULT_ANONYMOUS] = "a new page",
	[WAIT_FAULT_SWAP] = "a page in swap",
	[WAIT_FAULT_USERFAULTFD] = "a page that another program provides (userfaultfd)",
	[WAIT_FAULT_MMAP_LOCK] = "the address space, which was being changed",
	[WAIT_FAULT_MIGRATION] = "a page that was being moved",
};

void wait_object_append(struct text *text, const struct wait_object *object)
{
	char time[UNITS_SIZE];

	switch (object->kind) {
	case WAIT_OBJECT_FUTEX:
		text_append_format(text, "futex 0x%" PRIx64, object->value);
		if (object->name.length > 0) {
			text_append(text, " (");
			text_append_clipped(text, object->name.bytes, object->name.length,
					    OBJECT_COLUMNS_MAX);
			text_append(text, ")");
		}
		break;
	case WAIT_OBJECT_FD:
		text_append_format(text, "fd %" PRIu32, (uint32_t)object->value);
		if (object->name.length > 0) {
			text_append(text, ", ");
			text_append_clipped(text, object->name.bytes, object->name.length,
					    OBJECT_COLUMNS_MAX);
		}
		if (object->more_cnt > 0)
			text_append_format(text, ", and %" PRIu32 " more", object->more_cnt);
		break;
	case WAIT_OBJECT_SLEEP:
		text_append_format(text, "sleep of %s", units_format_duration(time, object->value));
		break;
	case WAIT_OBJECT_CALL:
		if (object->call)
			text_append(text, object->call);
		else
			text_append_format(text, "system call %" PRIu64, object->value);
		break;
	case WAIT_OBJECT_MEMORY:
		text_append(text, fault_words[object->value]);
		break;
	case WAIT_OBJECT_REST:
		text_append(text, "(all others)");
		break;
	default:
		text_append(text, object->kind == WAIT_OBJECT_UNKNOWN ? "(not known)" : "");
		break;
	}
}

void wait_what_append(struct text *text, const struct wait_object *object)
{
	bool has_name = object->kind != WAIT_OBJECT_NONE && object->kind != WAIT_OBJECT_UNKNOWN;

	if (object->kind != WAIT_OBJECT_SLEEP)
		text_append_format(text, "%s%s", wait_reason_name(object->reason), has_name ? ", " : "");
	if (has_name)
		wait_object_append(text, object);
}

void wait_object_json(struct json *json, const struct wait_object *object)
{
	struct text text = { 0 };

	json_member_u64(json, "pid", object->pid);
	if (object->reason < WAIT_REASON_COUNT)
		json_member_text(json, "reason", wait_reason_name(object->reason));
	else
		json_member_null(json, "reason");
	json_member_text(json, "kind", wait_object_kind_names[object->kind]);
	text_append_format(&text, "0x%" PRIx64, object->value);
	if (object->kind == WAIT_OBJECT_FUTEX)
		json_member_text(json, "address", text_string(&text));
	if (object->kind == WAIT_OBJECT_FD)
		json_member_u64(json, "fd", (uint32_t)object->value);
	if (object->more_cnt > 0)
		json_member_u64(json, "more_fds", object->more_cnt);
	if (object->kind == WAIT_OBJECT_MEMORY)
		json_member_text(json, "fault", wait_fault_names[object->value]);
	if (object->name.length > 0)
		json_member_string(json, "name", object->name.bytes, object->name.length);
	if (object->kind == WAIT_OBJECT_SLEEP)
		json_member_u64(json, "asked_ns", object->value);
	if (object->kind == WAIT_OBJECT_CALL) {
		json_member_u64(json, "syscall_nr", object->value);
		json_member_text(json, "syscall", object->call);
	}
	text_release(&text);
}

void wait_reasons_json(struct json *json, const char *member, const uint64_t reason_ns[WAIT_REASON_COUNT])
{
	json_name(json, member);
	json_object_begin(json);
	for (unsigned int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		if (reason_ns[reason] > 0)
			json_member_u64(json, wait_reason_name(reason), reason_ns[reason]);
	}
	json_object_end(json);
}

void wait_reasons_append(struct text *text, const uint64_t reason_ns[WAIT_REASON_COUNT])
{
	bool is_shown[WAIT_REASON_COUNT] = { false };
	char time[UNITS_SIZE];

	for (size_t shown = 0; shown <= REASONS_SHOWN_MAX; shown++) {
		unsigned int best = WAIT_REASON_COUNT;

		for (unsigned int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
			if (!is_shown[reason] && reason_ns[reason] > 0 &&
			    (best == WAIT_REASON_COUNT || reason_ns[reason] > reason_ns[best]))
				best = reason;
		}
		if (best == WAIT_REASON_COUNT)
			return;
		is_shown[best] = true;
		if (shown == REASONS_SHOWN_MAX)
			text_append(text, ", \xe2\x80\xa6");
		else
			text_append_format(text, "%s%s %s", shown > 0 ? ", " : "", wait_reason_name(best),
					   units_format_duration(time, reason_ns[best]));
	}
}

static void add_line(struct table *table, const char *style, const char *name, uint64_t cnt, uint64_t ns,
		     const char *what)
{
	char time[UNITS_SIZE], count[UNITS_SIZE];

	table_cell(table, style, name);
	table_cell_format(table, style, "%s in %s wait%s%s", units_format_duration(time, ns),
			  units_format_count(count, cnt), cnt == 1 ? "" : "s", what);
}

void wait_totals_add(struct table *table, const struct wait_sums *sums)
{
	const struct wait_totals *totals = wait_sums_totals(sums);
	const char *style = totals->unseen_cnt ? "33" : TABLE_PLAIN;

	add_line(table, TABLE_PLAIN, "blocked", totals->cnt, totals->ns, ", of all threads; of that");
	add_line(table, TABLE_PLAIN, "  in spans", totals->in_span_cnt, totals->in_span_ns, "");
	add_line(table, TABLE_PLAIN, "  in no span", totals->no_span_cnt, totals->no_span_ns, "");
	add_line(table, style, "  unknown", totals->unseen_cnt, totals->unseen_ns,
		 totals->unseen_cnt
			 ? "; the wakeup is not in the log: who ended it, and in which span, is not known"
			 : "");
	if (wait_sums_is_full(sums)) {
		table_cell(table, "33", "memory");
		table_cell(table, "33",
			   "used up: what came later is counted as all others, or unknown; --max-memory "
			   "allows more");
	}
}

void wait_totals_json(struct json *json, const struct wait_sums *sums)
{
	const struct wait_totals *totals = wait_sums_totals(sums);
	const struct {
		const char *name;
		uint64_t cnt, ns;
	} parts[] = {
		{ "all", totals->cnt, totals->ns },
		{ "in_spans", totals->in_span_cnt, totals->in_span_ns },
		{ "in_no_span", totals->no_span_cnt, totals->no_span_ns },
		{ "unseen", totals->unseen_cnt, totals->unseen_ns },
	};

	json_name(json, "waits");
	json_object_begin(json);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		json_name(json, parts[i].name);
		json_object_begin(json);
		json_member_u64(json, "count", parts[i].cnt);
		json_member_u64(json, "ns", parts[i].ns);
		json_object_end(json);
	}
	json_object_end(json);
	json_member_bool(json, "memory_used_up", wait_sums_is_full(sums));
}
