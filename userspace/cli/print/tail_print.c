/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/tail_print.h"

#include <errno.h>
#include <stdlib.h>

#include "base/units.h"
#include "cli/print/ledger_part.h"

#define WORD_COUNT_MAX 4
#define WORD_LEAST_PERCENT 5
#define TOO_FEW_LISTED 8

_Static_assert(TAIL_PART_COUNT == LEDGER_PART_COUNT, "parts of tails are parts of ledgers");

int tail_parse_percentile(double *percentile, const char *value, const char **complaint)
{
	char *end;

	*complaint = "a number above 60 and below 100";
	*percentile = strtod(value, &end);
	return !*value || *end || !(*percentile > 60 && *percentile < 100) ? -EINVAL : 0;
}

/* ---- for people ---- */

static void append_label(struct text *text, const struct tail_row *row)
{
	if (row->label->label.length > 0)
		text_append_escaped(text, row->label->label.bytes, row->label->label.length);
	else
		text_append(text, "(unknown label)");
}

/* The parts that make the difference, the largest share first. */
size_t tail_order_parts(const struct tail_row *row, size_t order[TAIL_PART_COUNT])
{
	size_t cnt = 0;

	for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
		int64_t more_ns = tail_part_more_ns(row, part);
		size_t at = cnt;

		if (tail_mean_ns(&row->tail, part) == 0 && tail_mean_ns(&row->middle, part) == 0)
			continue;
		for (; at > 0 && tail_part_more_ns(row, order[at - 1]) < more_ns; at--)
			order[at] = order[at - 1];
		order[at] = part;
		cnt++;
	}
	return cnt;
}

double tail_share_percent(const struct tail_row *row, size_t part)
{
	double percent = 100.0 * (double)tail_part_more_ns(row, part) / (double)tail_more_ns(row);

	return percent > -0.0005 && percent < 0 ? 0 : percent; /* no minus before a 0 */
}

/* "commit: p99 is 12.1 ms, 9.80 ms above p50: 84 % blocked on disk, 11 % runnable" */
static void append_words(struct text *text, double percentile, const struct tail_row *row)
{
	size_t order[LEDGER_PART_COUNT], part_cnt = tail_order_parts(row, order), word_cnt = 0;
	char high[UNITS_SIZE], gap[UNITS_SIZE];

	append_label(text, row);
	text_append_format(text, ": p%g is %s, %s above p50", percentile,
			   units_format_duration(high, row->high_ns),
			   units_format_duration(gap, row->high_ns - row->median_ns));
	for (size_t i = 0; i < part_cnt && word_cnt < WORD_COUNT_MAX; i++) {
		const struct ledger_part *part = &ledger_parts[order[i]];
		double percent = tail_share_percent(row, order[i]);

		if (percent < WORD_LEAST_PERCENT)
			break;
		text_append_format(text, "%s%.0f %% %s%s", word_cnt ? ", " : ": ", percent,
				   part->is_blocked ? "blocked on " : "", part->title);
		word_cnt++;
	}
}

static void add_signed(struct table *table, int64_t ns)
{
	char time[UNITS_SIZE];

	table_cell_format(table, TABLE_PLAIN, "%s%s", ns < 0 ? "-" : "+",
			  units_format_duration(time, (uint64_t)(ns < 0 ? -ns : ns)));
}

static void add_parts(struct table *table, const struct tail_row *row)
{
	size_t order[LEDGER_PART_COUNT], part_cnt = tail_order_parts(row, order);
	char time[UNITS_SIZE];
	double percent;

	for (size_t i = 0; i < part_cnt; i++) {
		const struct ledger_part *part = &ledger_parts[order[i]];

		table_cell_format(table, part->style, "  %s", part->title);
		table_cell(table, TABLE_PLAIN,
			   units_format_duration(time, tail_mean_ns(&row->middle, order[i])));
		table_cell(table, TABLE_PLAIN,
			   units_format_duration(time, tail_mean_ns(&row->tail, order[i])));
		add_signed(table, tail_part_more_ns(row, order[i]));
		percent = tail_share_percent(row, order[i]);
		table_cell_format(table, part->style, "%.1f %%",
				  percent > -0.05 && percent < 0 ? 0 : percent);
		table_end_row(table);
	}
}

static void add_label(struct table *table, double percentile, const struct tail_row *row)
{
	char slow[UNITS_SIZE], middle[UNITS_SIZE];
	struct text text = { 0 };

	if (tail_verdict(row) == TAIL_NONE) {
		append_label(&text, row);
		text_append(&text, ": the slow spans are hardly slower than the others");
		table_line(table, text_string(&text));
	} else {
		append_words(&text, percentile, row);
		table_piece(table, TABLE_BOLD, text_string(&text));
		table_line(table, "");
		add_parts(table, row);
		text_clear(&text);
		text_append_format(&text, "  means of %s slow spans, and of %s in the middle",
				   units_format_count(slow, row->tail.sums.cnt),
				   units_format_count(middle, row->middle.sums.cnt));
		table_line(table, text_string(&text));
	}
	table_line(table, "");
	text_release(&text);
}

/* One line for all labels that have too few spans. */
void tail_print_too_few(const struct screen *screen, double percentile, const struct tail_row *const *rows,
			size_t row_cnt)
{
	char count[UNITS_SIZE];
	struct text text = { 0 };
	size_t cnt = 0;

	for (size_t i = 0; i < row_cnt; i++) {
		if (tail_verdict(rows[i]) != TAIL_TOO_FEW)
			continue;
		if (cnt++ >= TOO_FEW_LISTED)
			continue;
		text_append(&text, cnt > 1 ? ", " : "");
		append_label(&text, rows[i]);
		text_append_format(&text, " (%s)", units_format_count(count, rows[i]->label->exact.sums.cnt));
	}
	if (cnt > TOO_FEW_LISTED)
		text_append_format(&text, ", and %s more labels",
				   units_format_count(count, cnt - TOO_FEW_LISTED));
	if (cnt > 0)
		fprintf(screen->file, "too few spans, %s are needed: %s\n\n",
			units_format_count(count, tail_spans_needed(percentile / 100)), text_string(&text));
	text_release(&text);
}

int tail_print(const struct screen *screen, double percentile, const struct tail_row *const *rows, size_t cnt,
	       uint64_t limit, uint64_t *hidden_cnt)
{
	char title[32];
	const struct table_column titles[] = {
		{ "mean split", TABLE_LEFT, NULL }, { "p40 to p60", TABLE_RIGHT, NULL },
		{ title, TABLE_RIGHT, NULL },	    { "more", TABLE_RIGHT, NULL },
		{ "share", TABLE_RIGHT, NULL },
	};
	uint64_t told_cnt = 0;
	struct table *table;
	int err = 0;

	*hidden_cnt = 0;
	snprintf(title, sizeof(title), "from p%g", percentile);
	table = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	for (size_t i = 0; i < cnt; i++) {
		if (tail_verdict(rows[i]) == TAIL_TOO_FEW)
			continue;
		if (limit && told_cnt == limit) {
			++*hidden_cnt;
			continue;
		}
		add_label(table, percentile, rows[i]);
		told_cnt++;
	}
	if (told_cnt > 0)
		err = screen_print_table(screen, table);
	table_free(table);
	return err;
}

/* ---- for machines ---- */

static void band_json(struct json *json, const char *name, const struct tail_band *band)
{
	struct txtrace_ledger mean;

	for (size_t part = 0; part < LEDGER_PART_COUNT; part++)
		*(uint64_t *)((char *)&mean + ledger_parts[part].offset) = tail_mean_ns(band, part);
	json_name(json, name);
	json_object_begin(json);
	json_member_u64(json, "from_ns", band->from_ns);
	json_member_u64(json, "to_ns", band->to_ns);
	json_member_u64(json, "count", band->sums.cnt);
	json_name(json, "mean");
	json_object_begin(json);
	json_member_u64(json, "wall_ns", band->sums.cnt ? band->sums.wall_ns / band->sums.cnt : 0);
	json_member_u64(json, "work_ns", band->sums.cnt ? band->sums.work_ns / band->sums.cnt : 0);
	ledger_json(json, &mean);
	json_object_end(json);
	json_object_end(json);
}

/* Of each part, as the ledger's JSON names it. */
const char *tail_part_name(size_t part)
{
	static const char *const ends[] = { "detached", "unknown", "interrupt", "stolen" };

	if (part < 2)
		return part == 0 ? "on_cpu" : "runnable";
	return part < 2 + TXTRACE_BLOCK_REASON_COUNT ? txtrace_block_reason_name((unsigned int)part - 2)
						     : ends[part - 2 - TXTRACE_BLOCK_REASON_COUNT];
}

/* Without --irq nobody has interrupts, and without a hypervisor nothing is stolen. */
static bool is_told(const struct tail_row *row, size_t part)
{
	return (part != LEDGER_PART_INTERRUPT && part != LEDGER_PART_STOLEN) ||
	       tail_mean_ns(&row->middle, part) || tail_mean_ns(&row->tail, part);
}

void tail_row_json(struct json *json, const struct tail_row *row)
{
	static const char *const verdicts[] = { "told", "too_few_spans", "no_tail" };
	enum tail_verdict verdict = tail_verdict(row);

	json_object_begin(json);
	if (row->label->label.length > 0)
		json_member_string(json, "label", row->label->label.bytes, row->label->label.length);
	else
		json_member_null(json, "label");
	json_member_u64(json, "count", row->label->exact.sums.cnt);
	json_member_text(json, "verdict", verdicts[verdict]);
	json_member_u64(json, "p50_ns", row->median_ns);
	json_member_u64(json, "high_ns", row->high_ns);
	band_json(json, "middle", &row->middle);
	band_json(json, "tail", &row->tail);
	json_name(json, "more_ns");
	json_object_begin(json);
	json_member_i64(json, "work", tail_more_ns(row));
	for (size_t part = 0; part < LEDGER_PART_COUNT; part++)
		if (is_told(row, part))
			json_member_i64(json, tail_part_name(part), tail_part_more_ns(row, part));
	json_object_end(json);
	json_name(json, "share_percent");
	if (verdict == TAIL_TOLD) {
		json_object_begin(json);
		for (size_t part = 0; part < LEDGER_PART_COUNT; part++) {
			if (!is_told(row, part))
				continue;
			json_name(json, tail_part_name(part));
			json_fixed(json, tail_share_percent(row, part), 3);
		}
		json_object_end(json);
	} else {
		json_null(json);
	}
	json_object_end(json);
}
