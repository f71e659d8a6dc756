/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/ledger_part.h"

#include "base/units.h"

#define FULL "\xe2\x96\x88"   /* full block */
#define DARK "\xe2\x96\x93"   /* dark shade */
#define MEDIUM "\xe2\x96\x92" /* medium shade */
#define LIGHT "\xe2\x96\x91"  /* light shade */
#define QUADRANTS "\xe2\x96\x9a" /* two of four quadrants */

#define LEDGER(member) offsetof(struct txtrace_ledger, member)
#define BLOCKED(reason) (LEDGER(blocked_ns) + sizeof(uint64_t) * TXTRACE_BLOCK_##reason), true

const struct ledger_part ledger_parts[LEDGER_PART_COUNT] = {
	{ "on-CPU", FULL, "32", LEDGER(on_cpu_ns), false },
	{ "runnable", DARK, "33", LEDGER(runnable_ns), false },
	{ "lock", MEDIUM, "31", BLOCKED(LOCK) },
	{ "disk", MEDIUM, "35", BLOCKED(DISK) },
	{ "network", MEDIUM, "34", BLOCKED(NETWORK) },
	{ "sleep", MEDIUM, "36", BLOCKED(SLEEP) },
	{ "fault", MEDIUM, "95", BLOCKED(PAGE_FAULT) },
	{ "pipe", MEDIUM, "94", BLOCKED(PIPE) },
	{ "wait", MEDIUM, "96", BLOCKED(WAIT) },
	{ "stopped", MEDIUM, "91", BLOCKED(STOPPED) },
	{ "other", MEDIUM, "93", BLOCKED(OTHER) },
	{ "throttled", DARK, "31", BLOCKED(THROTTLED) },
	{ "poll", MEDIUM, "33", BLOCKED(POLL) },
	[LEDGER_PART_DETACHED] = { "detached", LIGHT, "37", LEDGER(detached_ns), false },
	[LEDGER_PART_UNKNOWN] = { "unknown", "?", "90", LEDGER(unknown_ns), false },
	[LEDGER_PART_INTERRUPT] = { "interrupt", QUADRANTS, "92", LEDGER(interrupt_ns), false },
	[LEDGER_PART_STOLEN] = { "stolen", "%", "31", LEDGER(stolen_ns), false },
};

uint64_t ledger_part_ns(const struct txtrace_ledger *ledger, size_t part)
{
	return *(const uint64_t *)((const char *)ledger + ledger_parts[part].offset);
}

/* ---- the bar ---- */

/* Shares of the columns by largest remainder: they add up, and no part is off by a column. */
static void share_columns(const struct txtrace_ledger *ledger, size_t columns,
			  size_t shares[LEDGER_PART_COUNT])
{
	uint64_t sum_ns = txtrace_ledger_sum_ns(ledger);
	double remainders[LEDGER_PART_COUNT];
	size_t left = columns;

	for (size_t i = 0; i < LEDGER_PART_COUNT; i++) {
		double exact = (double)ledger_part_ns(ledger, i) / (double)sum_ns * (double)columns;

		shares[i] = exact < (double)left ? (size_t)exact : left;
		remainders[i] = exact - (double)shares[i];
		left -= shares[i];
	}
	while (left > 0) {
		size_t largest = 0;

		for (size_t i = 1; i < LEDGER_PART_COUNT; i++) {
			if (remainders[i] > remainders[largest])
				largest = i;
		}
		shares[largest]++;
		remainders[largest] -= 1;
		left--;
	}
}

void ledger_bar(struct table *table, const struct txtrace_ledger *ledger, size_t columns)
{
	size_t shares[LEDGER_PART_COUNT];
	struct text text = { 0 };

	if (txtrace_ledger_sum_ns(ledger) == 0)
		return;
	share_columns(ledger, columns, shares);
	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		text_clear(&text);
		for (size_t i = 0; i < shares[part]; i++)
			text_append(&text, ledger_parts[part].glyph);
		if (shares[part] > 0)
			table_piece(table, ledger_parts[part].style, text_string(&text));
	}
	text_release(&text);
}

/* ---- the list ---- */

/* Parts that are not 0, the largest first; equal ones in the order of the table. Returns how many. */
static size_t order_parts(const struct txtrace_ledger *ledger, size_t order[LEDGER_PART_COUNT])
{
	size_t cnt = 0;

	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		uint64_t ns = ledger_part_ns(ledger, part);
		size_t at = cnt;

		if (ns == 0)
			continue;
		for (; at > 0 && ledger_part_ns(ledger, order[at - 1]) < ns; at--)
			order[at] = order[at - 1];
		order[at] = part;
		cnt++;
	}
	return cnt;
}

void ledger_print_legend(FILE *file, bool has_interrupts, bool has_stolen)
{
	fprintf(file, "%s on-CPU  %s runnable  %s blocked  %s detached  %s unknown", ledger_parts[0].glyph,
		ledger_parts[1].glyph, ledger_parts[2].glyph, ledger_parts[LEDGER_PART_DETACHED].glyph,
		ledger_parts[LEDGER_PART_UNKNOWN].glyph);
	if (has_interrupts)
		fprintf(file, "  %s %s", ledger_parts[LEDGER_PART_INTERRUPT].glyph,
			ledger_parts[LEDGER_PART_INTERRUPT].title);
	if (has_stolen)
		fprintf(file, "  %s %s", ledger_parts[LEDGER_PART_STOLEN].glyph,
			ledger_parts[LEDGER_PART_STOLEN].title);
	fputc('\n', file);
}

void ledger_list(struct text *text, const struct txtrace_ledger *ledger, uint64_t sum_ns, uint64_t cnt,
		 size_t indent, size_t columns)
{
	size_t order[LEDGER_PART_COUNT], part_cnt = order_parts(ledger, order), used = indent;
	char share[UNITS_SIZE], time[UNITS_SIZE], part[3 * UNITS_SIZE];

	for (size_t i = 0; i < part_cnt; i++) {
		uint64_t ns = ledger_part_ns(ledger, order[i]);
		size_t length = (size_t)snprintf(part, sizeof(part), "%s %s %s%s",
						 ledger_parts[order[i]].title,
						 units_format_share(share, ns, sum_ns),
						 units_format_duration(time, cnt ? ns / cnt : 0),
						 i + 1 < part_cnt ? "," : "");
		size_t width = text_columns(part, length);

		if (i > 0 && used + 1 + width > columns) {
			text_append_format(text, "\n%*s", (int)indent, "");
			used = indent;
		} else if (i > 0) {
			text_append(text, " ");
			used++;
		}
		text_append(text, part);
		used += width;
	}
}

/* ---- JSON ---- */

void ledger_json(struct json *json, const struct txtrace_ledger *ledger)
{
	json_member_u64(json, "on_cpu_ns", ledger->on_cpu_ns);
	json_member_u64(json, "runnable_ns", ledger->runnable_ns);
	json_member_u64(json, "blocked_ns", txtrace_ledger_blocked_ns(ledger));
	json_name(json, "blocked");
	json_object_begin(json);
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		json_member_u64(json, txtrace_block_reason_name(i), ledger->blocked_ns[i]);
	json_object_end(json);
	json_member_u64(json, "detached_ns", ledger->detached_ns);
	json_member_u64(json, "unknown_ns", ledger->unknown_ns);
	if (ledger->interrupt_ns)
		json_member_u64(json, "interrupt_ns", ledger->interrupt_ns);
	if (ledger->stolen_ns)
		json_member_u64(json, "stolen_ns", ledger->stolen_ns);
}

static void member_percent(struct json *json, const char *name, uint64_t part_ns, uint64_t sum_ns)
{
	json_name(json, name);
	if (sum_ns == 0)
		json_null(json);
	else
		json_fixed(json, 100.0 * ((double)part_ns / (double)sum_ns), 3);
}

void ledger_json_percent(struct json *json, const struct txtrace_ledger *ledger)
{
	uint64_t sum_ns = txtrace_ledger_sum_ns(ledger);

	member_percent(json, "on_cpu", ledger->on_cpu_ns, sum_ns);
	member_percent(json, "runnable", ledger->runnable_ns, sum_ns);
	member_percent(json, "blocked", txtrace_ledger_blocked_ns(ledger), sum_ns);
	json_name(json, "blocked_by");
	json_object_begin(json);
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		member_percent(json, txtrace_block_reason_name(i), ledger->blocked_ns[i], sum_ns);
	json_object_end(json);
	member_percent(json, "detached", ledger->detached_ns, sum_ns);
	member_percent(json, "unknown", ledger->unknown_ns, sum_ns);
	if (ledger->interrupt_ns)
		member_percent(json, "interrupt", ledger->interrupt_ns, sum_ns);
	if (ledger->stolen_ns)
		member_percent(json, "stolen", ledger->stolen_ns, sum_ns);
}
