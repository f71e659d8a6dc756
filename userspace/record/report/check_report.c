/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/report/check_report.h"

#include <string.h>
#include <unistd.h>

#include "attach/probes/system_check.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/screen.h"
#include "record/foreign_spans.h"
#include "record/kernel/kernel_side.h"
#include "ring/ring_set.h"

#define ROW_MAX 32

enum { STATUS_WORKS = 0, STATUS_DOES_NOT = 2 };

/* As a recording would, up to where it needs a target. */
static void try_kernel_side(struct system_facts *facts, const struct record_options *options)
{
	struct ring_set_options rings = { 0 };
	struct kernel_side_options kernel = {
		.features = &facts->features,
		.rules = &options->targets,
		.choices = &options->choices,
		.sched = options->sched,
		.has_foreign = foreign_spans_are_wanted(options) && foreign_spans_can_be(&facts->features),
		.has_otel = options->wants_otel && facts->features.has_task_storage,
	};
	struct kernel_side *side = NULL;
	struct ring_set *set = NULL;
	struct error ignored;
	int err;

	ring_set_plan(&rings, (size_t)sysconf(_SC_NPROCESSORS_CONF), options->ring_size_bytes);
	facts->ring_cnt = kernel.ring_cnt = rings.ring_cnt;
	facts->ring_bytes = kernel.ring_bytes = rings.ring_bytes;
	if (kernel_features_missing(&facts->features, NULL, 0))
		return;
	facts->load_err = kernel_side_open(&side, &kernel, &ignored);
	if (!facts->load_err)
		facts->load_err = kernel_side_wait(side, &ignored);
	if (facts->load_err) {
		kernel_side_close(side);
		return;
	}
	rings.rings_map_fd = kernel_side_rings_fd(side);
	err = ring_set_open(&set, &rings, &ignored);
	facts->ring_errno = -err;
	if (!err)
		facts->load_err = kernel_side_start(side, &ignored);
	kernel_side_stop(side);
	ring_set_close(err ? NULL : set);
	kernel_side_close(side);
}

static int print_table(const struct check_row *rows, size_t cnt, bool works, FILE *out)
{
	static const char *const styles[] = { [CHECK_OK] = "32",
					      [CHECK_LIMITED] = "33",
					      [CHECK_MISSING] = "1;31",
					      [CHECK_UNKNOWN] = TABLE_DIM };
	static const struct table_column columns[] = {
		{ NULL, TABLE_LEFT, NULL }, { NULL, TABLE_LEFT, NULL }, { NULL, TABLE_LEFT, NULL },
	};
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct screen screen;
	int err;

	for (size_t i = 0; i < cnt; i++) {
		table_cell(table, styles[rows[i].verdict], check_verdict_names[rows[i].verdict]);
		table_cell(table, TABLE_BOLD, rows[i].subject);
		table_cell_format(table, TABLE_PLAIN, "%s%s%s", rows[i].found.text,
				  *rows[i].advice.text ? ": " : "", rows[i].advice.text);
	}
	table_line(table, "");
	table_line(table, works ? "recording works here" : "recording does not work here");
	screen_init(&screen, out);
	err = table_print(table, out, screen.has_colours);
	table_free(table);
	return err;
}

static int print_json(const struct check_row *rows, size_t cnt, bool works, FILE *out)
{
	struct json json;

	json_init_file(&json, out);
	json.is_pretty = true;
	json_object_begin(&json);
	json_member_text(&json, "type", "check");
	json_member_bool(&json, "works", works);
	json_name(&json, "rows");
	json_array_begin(&json);
	for (size_t i = 0; i < cnt; i++) {
		json_object_begin(&json);
		json_member_text(&json, "subject", rows[i].subject);
		json_member_text(&json, "verdict", check_verdict_names[rows[i].verdict]);
		json_member_text(&json, "found", rows[i].found.text);
		json_member_text(&json, "advice", *rows[i].advice.text ? rows[i].advice.text : NULL);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	json_newline(&json);
	return json_release(&json);
}

int check_report_print(const struct record_options *options, FILE *out)
{
	struct check_row rows[ROW_MAX];
	struct system_facts facts;
	bool works = true;
	size_t cnt;
	int err;

	system_facts_gather(&facts, "");
	try_kernel_side(&facts, options);
	cnt = system_check(&facts, rows, ROW_MAX);
	for (size_t i = 0; i < cnt; i++)
		works &= rows[i].verdict != CHECK_MISSING;
	err = options->wants_json ? print_json(rows, cnt, works, out) : print_table(rows, cnt, works, out);
	if (fflush(out) || ferror(out))
		err = err ? err : -1;
	if (err)
		fprintf(stderr, "txtrace-bpf: cannot write what was found\n");
	return works && !err ? STATUS_WORKS : STATUS_DOES_NOT;
}
