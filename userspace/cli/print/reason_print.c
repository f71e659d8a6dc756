/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/reason_print.h"

#include "base/units.h"
#include "cli/print/analysis_frame.h"
#include "cli/files/capture_info.h"
#include "cli/print/mixed_programs.h"

static const double fractions[] = { 0.5, 0.99 };
#define FRACTION_COUNT (sizeof(fractions) / sizeof(fractions[0]))

static const char *reason_name(unsigned int reason)
{
	return reason == BLOCK_REASON_UNKNOWN ? "unknown" : txtrace_block_reason_name(reason);
}

/* The most time first; equal ones in the order of the reasons. */
static void order_rows(const struct block_report *report, unsigned int order[BLOCK_ROW_COUNT])
{
	for (unsigned int i = 0; i < BLOCK_ROW_COUNT; i++) {
		uint64_t sum_ns = block_report_row(report, i)->sum_ns;
		unsigned int at = i;

		for (; at > 0 && block_report_row(report, order[at - 1])->sum_ns < sum_ns; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

static void add_time(struct table *table, uint64_t ns)
{
	char time[UNITS_SIZE];

	table_cell(table, ns ? TABLE_PLAIN : TABLE_DIM, ns ? units_format_duration(time, ns) : "\xc2\xb7");
}

static void add_row(struct table *table, unsigned int reason, const struct block_row *row)
{
	char count[UNITS_SIZE];

	table_cell(table, TABLE_BOLD, reason_name(reason));
	table_cell(table, TABLE_PLAIN, units_format_count(count, row->cnt));
	add_time(table, row->sum_ns);
	add_time(table, row->cnt ? row->sum_ns / row->cnt : 0);
	for (size_t i = 0; i < FRACTION_COUNT; i++)
		add_time(table, quantile_at(&row->block_ns, fractions[i]));
	add_time(table, row->block_ns.max);
	add_time(table, row->in_spans_ns);
}

int reason_print(struct cli *cli, const struct block_report *report, const struct log_input *input)
{
	static const struct table_column columns[] = {
		{ "blocked on", TABLE_LEFT, NULL }, { "blocks", TABLE_RIGHT, NULL },
		{ "total", TABLE_RIGHT, NULL },	    { "mean", TABLE_RIGHT, NULL },
		{ "p50", TABLE_RIGHT, NULL },	    { "p99", TABLE_RIGHT, NULL },
		{ "max", TABLE_RIGHT, NULL },	    { "in spans", TABLE_RIGHT, NULL },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct mixed_programs mixed = { .known = block_report_programs(report) };
	unsigned int order[BLOCK_ROW_COUNT];
	int err;

	order_rows(report, order);
	for (unsigned int i = 0; i < BLOCK_ROW_COUNT; i++) {
		const struct block_row *row = block_report_row(report, order[i]);

		if (row->cnt > 0 || row->in_spans_ns > 0)
			add_row(table, order[i], row);
	}
	analysis_print_title(cli, input);
	err = screen_print_table(&cli->out, table);
	table_free(table);
	fputs("blocks of all threads, in spans or not; in spans: what spans without a parent were charged "
	      "with\n",
	      cli->out.file);
	mixed_programs_add(&mixed, "each row", block_report_program_mask(report));
	if (!err)
		err = mixed_programs_print(&mixed, "blocks", cli->out.file);
	fputc('\n', cli->out.file);
	return err ? err : analysis_print_losses(cli, input);
}

int reason_json(struct cli *cli, const struct block_report *report, const struct log_input *input)
{
	struct json json;

	cli_begin_json(cli, &json);
	capture_json_begin(&json, "report", &input->info);
	json_member_text(&json, "by", "reason");
	json_name(&json, "rows");
	json_array_begin(&json);
	for (unsigned int i = 0; i < BLOCK_ROW_COUNT; i++) {
		const struct block_row *row = block_report_row(report, i);

		json_object_begin(&json);
		json_member_text(&json, "name", reason_name(i));
		json_member_u64(&json, "count", row->cnt);
		json_member_u64(&json, "sum_ns", row->sum_ns);
		json_member_u64(&json, "mean_ns", row->cnt ? row->sum_ns / row->cnt : 0);
		json_member_u64(&json, "p50_ns", quantile_at(&row->block_ns, fractions[0]));
		json_member_u64(&json, "p99_ns", quantile_at(&row->block_ns, fractions[1]));
		json_member_u64(&json, "max_ns", row->block_ns.max);
		json_member_u64(&json, "in_spans_ns", row->in_spans_ns);
		json_object_end(&json);
	}
	json_array_end(&json);
	mixed_programs_json(&json, block_report_programs(report), block_report_program_mask(report));
	capture_json_end(&json, &input->census);
	return cli_finish_json(cli, &json);
}
