/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records that hold anything at all: what is printed about them is text, has no control characters, and is
 * valid JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/label/label_report.h"
#include "base/utf8.h"
#include "cli/files/capture_info.h"
#include "cli/print/dump_line.h"
#include "cli/print/ledger_part.h"
#include "cli/print/report_print.h"
#include "cli/print/span_json.h"
#include "unit/random_bytes_record.h"

#define RECORDS 3000

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static char noise[256];

/* Up to 40 bytes of anything; sometimes none, and then no pointer either. */
static struct txtrace_string random_string(void *unused)
{
	size_t length = next_random() % 40;

	(void)unused;
	return length < 5 ? (struct txtrace_string){ NULL, 0 }
			  : (struct txtrace_string){ noise + next_random() % 200, length };
}

static void fill(void *memory, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((unsigned char *)memory)[i] = (unsigned char)(next_random() >> 24);
}

static struct txtrace_record random_record(void)
{
	struct txtrace_record record;

	fill(&record, sizeof(record));
	do
		record.kind = 1 + next_random() % (TXTRACE_RECORD_KIND_COUNT - 1);
	while (!txtrace_record_kind_name(record.kind)); /* numbers that are kept for kinds to come */
	random_bytes_become_valid(&record, random_string, NULL);
	if (record.kind == TXTRACE_RECORD_ATTRIBUTE)
		record.attribute.type %= 8;
	return record;
}

static void expect_text(const char *bytes, size_t length, bool may_have_newlines)
{
	for (size_t i = 0; i < length;) {
		uint32_t point;

		i += utf8_decode(bytes + i, length - i, &point);
		assert_true(point != UTF8_INVALID);
		if (!(may_have_newlines && point == '\n'))
			assert_true(point >= 0x20 && (point < 0x7f || point > 0x9f));
	}
}

static void a_dumped_record_is_one_line_of_text(void **state)
{
	struct text text = { 0 };

	(void)state;
	for (int i = 0; i < RECORDS; i++) {
		struct txtrace_record record = random_record();

		text_clear(&text);
		dump_line_append(&text, &record);
		assert_int_equal(text.err, 0);
		assert_memory_equal(text.bytes, txtrace_record_kind_name(record.kind),
				    strlen(txtrace_record_kind_name(record.kind)));
		expect_text(text.bytes, text.length, false);
	}
	text_release(&text);
}

static void a_report_is_text_whatever_the_log_holds(void **state)
{
	struct label_report *report = label_report_new(0);
	struct txtrace_log_info info;
	struct screen screen = { .columns = 100 };
	struct json json;
	char *printed = NULL;
	size_t length = 0;

	(void)state;
	fill(&info, sizeof(info));
	info.host[255] = info.kernel[255] = info.command[255] = info.recorder[63] = info.options[255] = '\0';
	for (int i = 0; i < RECORDS; i++) {
		struct txtrace_record record = random_record();

		assert_int_equal(label_report_add(report, &record), 0);
	}
	label_report_sort(report);
	screen.file = open_memstream(&printed, &length);
	assert_int_equal(report_print(report, &screen, &(struct report_view){ .row_limit = 50 }), 0);
	fclose(screen.file);
	expect_text(printed, length, true);
	free(printed);

	json_init_memory(&json);
	capture_json_begin(&json, "report", &info);
	json_name(&json, "labels");
	json_array_begin(&json);
	for (size_t i = 0; i < label_report_row_count(report); i++) {
		json_object_begin(&json);
		report_row_json(&(struct report_view){ 0 }, label_report_row(report, i), &json);
		json_object_end(&json);
	}
	json_array_end(&json);
	report_tail_json(report, &(struct report_view){ 0 }, &json);
	capture_json_end(&json, label_report_census(report));
	expect_text(json.bytes, json.length, false);
	assert_int_equal(json_release(&json), 0);
	label_report_free(report);
}

static void a_span_is_json(void **state)
{
	struct json json;

	(void)state;
	json_init_memory(&json);
	json_array_begin(&json);
	for (int i = 0; i < RECORDS; i++) {
		struct txtrace_record record = random_record();

		if (record.kind == TXTRACE_RECORD_SPAN)
			span_json(&json, &record.span, random_string(NULL));
	}
	json_array_end(&json);
	expect_text(json.bytes, json.length, false);
	assert_int_equal(json_release(&json), 0);
}

/* ---- bars ---- */

static void expect_bar(const struct txtrace_ledger *ledger, size_t columns, const char *expected)
{
	static const struct table_column column[] = { { NULL, TABLE_LEFT, NULL } };
	struct table *table = table_new(column, 1);
	char *printed = NULL;
	size_t length = 0;
	FILE *file = open_memstream(&printed, &length);

	ledger_bar(table, ledger, columns);
	table_cell(table, TABLE_PLAIN, "");
	assert_int_equal(table_print(table, file, false), 0);
	fclose(file);
	assert_string_equal(printed, expected);
	free(printed);
	table_free(table);
}

#define ON "\xe2\x96\x88"
#define RUNNABLE "\xe2\x96\x93"
#define BLOCKED "\xe2\x96\x92"
#define DETACHED "\xe2\x96\x91"
#define UNKNOWN "?"

static void a_bar_is_full_and_true_to_a_column(void **state)
{
	const struct txtrace_ledger all = {
		.on_cpu_ns = 1, .runnable_ns = 1, .blocked_ns = { 1 }, .detached_ns = 1, .unknown_ns = 1
	};
	const struct txtrace_ledger thirds = { .on_cpu_ns = 1, .runnable_ns = 1, .blocked_ns = { 0, 1 } };
	const struct txtrace_ledger little = { .on_cpu_ns = 999, .runnable_ns = 1 };
	const struct txtrace_ledger nothing = { 0 };
	struct txtrace_ledger huge;

	(void)state;
	expect_bar(&all, 5, ON RUNNABLE BLOCKED DETACHED UNKNOWN "\n");
	expect_bar(&thirds, 10, ON ON ON ON RUNNABLE RUNNABLE RUNNABLE BLOCKED BLOCKED BLOCKED "\n");
	expect_bar(&little, 4, ON ON ON ON "\n");
	expect_bar(&nothing, 4, "\n");
	/* the sum does not fit, and stops at the largest number: no part has more than all of it */
	memset(&huge, 0xff, sizeof(huge));
	expect_bar(&huge, 3, ON ON ON "\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_dumped_record_is_one_line_of_text),
		cmocka_unit_test(a_report_is_text_whatever_the_log_holds),
		cmocka_unit_test(a_span_is_json),
		cmocka_unit_test(a_bar_is_full_and_true_to_a_column),
	};

	random_state = 88172645463325252u;
	fill(noise, sizeof(noise));
	return cmocka_run_group_tests_name("cli_print", tests, NULL, NULL);
}
