/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/reason_print.h"

#include "cli/print/mixed_programs.h"

static const char *reason_name(unsigned int reason)
{
	return reason == BLOCK_REASON_UNKNOWN ? "unknown" : txtrace_block_reason_name(reason);
}

void reason_order(const struct block_report *report, unsigned int order[BLOCK_ROW_COUNT])
{
	for (unsigned int i = 0; i < BLOCK_ROW_COUNT; i++) {
		uint64_t sum_ns = block_report_row(report, i)->sum_ns;
		unsigned int at = i;

		for (; at > 0 && block_report_row(report, order[at - 1])->sum_ns < sum_ns; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static void get_name(const void *row, struct cell *cell)
{
	unsigned int reason = 0;

	while (block_report_row(cell->context, reason) != row)
		reason++;
	text_append(&cell->words, reason_name(reason));
}

static void get_mean(const void *at, struct cell *cell)
{
	const struct block_row *row = at;

	cell->number = row->cnt ? row->sum_ns / row->cnt : 0;
}

static void get_p50(const void *row, struct cell *cell)
{
	cell->number = quantile_at(&((const struct block_row *)row)->block_ns, 0.5);
}

static void get_p99(const void *row, struct cell *cell)
{
	cell->number = quantile_at(&((const struct block_row *)row)->block_ns, 0.99);
}

#define TIME(name_, title_, member_) \
	COLUMN_OF(name_, title_, NULL, COLUMN_DURATION, struct block_row, member_, .flags = COLUMN_DOT)

const struct column reason_columns[] = {
	{ "name", "blocked on", NULL, COLUMN_WORDS, .get = get_name, .style = TABLE_BOLD },
	COLUMN_OF("count", "blocks", NULL, COLUMN_COUNT, struct block_row, cnt),
	TIME("sum_ns", "total", sum_ns),
	{ "mean_ns", "mean", NULL, COLUMN_DURATION, COLUMN_DOT, .get = get_mean },
	{ "p50_ns", "p50", NULL, COLUMN_DURATION, COLUMN_DOT, .get = get_p50 },
	{ "p99_ns", "p99", NULL, COLUMN_DURATION, COLUMN_DOT, .get = get_p99 },
	TIME("max_ns", "max", block_ns.max),
	TIME("in_spans_ns", "in spans", in_spans_ns),
	COLUMN_END,
};

int reason_print_notes(const struct block_report *report, FILE *out)
{
	struct mixed_programs mixed = { .known = block_report_programs(report) };

	fputs("blocks of all threads, in spans or not; in spans: what spans without a parent were charged "
	      "with\n",
	      out);
	mixed_programs_add(&mixed, "each row", block_report_program_mask(report));
	return mixed_programs_print(&mixed, "blocks", out);
}
