/* SPDX-License-Identifier: BSD-2-Clause */
/* Each kind of record, and the line that it becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "unit/export_feed.h"

/* The records are fed by `feed`; the lines between header and summary are the expected ones. */
static void expect_lines(void (*feed_records)(struct feed *feed), const char *expected)
{
	struct feed feed;
	char *lines;

	feed_begin(&feed, "jsonl");
	feed_records(&feed);
	feed_end(&feed);
	lines = feed_middle(&feed);
	assert_string_equal(lines, expected);
	free(lines);
	feed_release(&feed);
}

static void a_span(struct feed *feed)
{
	feed_span(feed, .id = UINT64_MAX, .parent = 1ull << 53, .pid = 100, .tid = 101, .end_tid = 102,
		  .flags = TXTRACE_SPAN_MOVED | TXTRACE_SPAN_LOSS | TXTRACE_SPAN_LOWER_BOUND,
		  .begin_ns = 1000, .end_ns = 1900, .work_ns = 950,
		  .ledger = { .on_cpu_ns = 100,
			      .runnable_ns = 20,
			      .blocked_ns = { 1, 2, 3, 4, 5, 6, 7, 8, 9 },
			      .detached_ns = 700,
			      .unknown_ns = 85 },
		  .label = feed_string("transfer"), .tag = feed_string("shard=3,kind=\"w\""));
}

static void a_span_has_every_field(void **state)
{
	(void)state;
	expect_lines(
		a_span,
		"{\"type\":\"span\",\"id\":\"18446744073709551615\",\"pid\":100,\"tid\":101,\"end_tid\":102,"
		"\"label\":\"transfer\","
		"\"tag\":\"shard=3,kind=\\\"w\\\"\",\"parent\":\"9007199254740992\",\"begin_ns\":1000,\"end_"
		"ns\":1900,"
		"\"wall_ns\":900,\"work_ns\":950,\"on_cpu_ns\":100,\"runnable_ns\":20,\"blocked_ns\":45,"
		"\"blocked\":{\"lock\":1,\"disk\":2,\"network\":3,\"sleep\":4,\"page_fault\":5,\"pipe\":6,"
		"\"wait\":7,"
		"\"stopped\":8,\"other\":9,\"throttled\":0,"
		"\"poll\":0},\"detached_ns\":700,\"unknown_ns\":85,\"lower_bound\":true,\"unfinished\":false,"
		"\"loss\":true,\"imbalance\":false,\"keyed\":false,\"moved\":true}\n");
}

static void open_spans_with_keys(struct feed *feed)
{
	feed_open_span(feed, .time_ns = 9, .id = 7, .parent = 6, .begin_ns = 5, .pid = 1, .tid = 2,
		       .label = feed_string("tx"), .key = feed_string("order-42"));
	feed_open_span(feed, .key = { "\xde\xad\x00\x01", 4 });
}

static void a_key_is_hex_and_text_if_it_is_text(void **state)
{
	(void)state;
	expect_lines(open_spans_with_keys, "{\"type\":\"open_span\",\"time_ns\":9,\"id\":\"7\",\"pid\":1,"
					   "\"tid\":2,\"label\":\"tx\",\"key\":\"6f726465722d3432\","
					   "\"key_text\":\"order-42\",\"parent\":\"6\",\"begin_ns\":5}\n"
					   "{\"type\":\"open_span\",\"time_ns\":0,\"id\":\"0\",\"pid\":0,"
					   "\"tid\":0,\"label\":\"\",\"key\":\"dead0001\","
					   "\"parent\":\"0\",\"begin_ns\":0}\n");
}

static void scheduler_records(struct feed *feed)
{
	feed_run(feed, .tid = 5, .pid = 4, .cpu = 1, .begin_ns = 100, .end_ns = 250, .blocked_ns = 30,
		 .runnable_ns = 10, .left_as = TXTRACE_LEFT_BLOCKED, .reason = TXTRACE_BLOCK_LOCK,
		 .syscall_nr = 202, .object = 0x7ffe12340010);
	feed_run(feed, .tid = 5, .pid = 4, .begin_ns = 300, .end_ns = 400, .left_as = TXTRACE_LEFT_PREEMPTED,
		 .syscall_nr = -1);
	feed_run(feed, .left_as = 200); /* of a newer recorder */
	feed_wake(feed, .time_ns = 290, .tid = 5, .pid = 4, .waker_tid = 6, .waker_pid = 4, .cpu = 3,
		  .waker_comm = feed_string("worker"));
	feed_wake(feed, .time_ns = 291, .tid = 5, .pid = 4, .flags = TXTRACE_WAKE_INTERRUPT);
	feed_wake(feed, .time_ns = 291, .tid = 5, .pid = 4,
		  .flags = TXTRACE_WAKE_INTERRUPT | TXTRACE_WAKE_TIMER);
	feed_wake(feed, .time_ns = 291, .tid = 5, .pid = 4,
		  .flags = TXTRACE_WAKE_INTERRUPT | TXTRACE_WAKE_SOFTIRQ);
	feed_wake(feed, .time_ns = 292, .tid = 5, .pid = 4, .flags = TXTRACE_WAKE_WAKER_UNKNOWN);
	feed_thread(feed, .time_ns = 1, .tid = 5, .pid = 4, .is_seed = true, .comm = feed_string("main"));
	feed_thread(feed, .time_ns = 2, .tid = 5, .pid = 4, .is_exit = true);
}

static void the_scheduler_s_records_have_every_field(void **state)
{
	(void)state;
	expect_lines(scheduler_records,
		     "{\"type\":\"run\",\"tid\":5,\"pid\":4,\"cpu\":1,\"begin_ns\":100,\"end_ns\":250,"
		     "\"blocked_ns\":30,\"runnable_ns\":10,"
		     "\"left_as\":\"blocked\",\"reason\":\"lock\",\"syscall_nr\":202,\"object\":"
		     "\"0x7ffe12340010\"}\n"
		     "{\"type\":\"run\",\"tid\":5,\"pid\":4,\"cpu\":0,\"begin_ns\":300,\"end_ns\":400,"
		     "\"blocked_ns\":0,\"runnable_ns\":0,"
		     "\"left_as\":\"preempted\"}\n"
		     "{\"type\":\"run\",\"tid\":0,\"pid\":0,\"cpu\":0,\"begin_ns\":0,\"end_ns\":0,\"blocked_"
		     "ns\":0,\"runnable_ns\":0,"
		     "\"left_as\":\"unknown\"}\n"
		     "{\"type\":\"wake\",\"time_ns\":290,\"tid\":5,\"pid\":4,\"waker_tid\":6,\"waker_pid\":4,"
		     "\"cpu\":3,\"interrupt\":false,"
		     "\"timer\":false,\"softirq\":false,\"waker_unknown\":false,\"waker_comm\":\"worker\","
		     "\"span\":\"0\",\"span_keyed\":false,\"waker_span\":\"0\",\"waker_span_keyed\":false}\n"
		     "{\"type\":\"wake\",\"time_ns\":291,\"tid\":5,\"pid\":4,\"waker_tid\":0,\"waker_pid\":0,"
		     "\"cpu\":0,\"interrupt\":true,"
		     "\"timer\":false,\"softirq\":false,\"waker_unknown\":false,\"waker_comm\":\"\","
		     "\"span\":\"0\",\"span_keyed\":false,\"waker_span\":\"0\",\"waker_span_keyed\":false}\n"
		     "{\"type\":\"wake\",\"time_ns\":291,\"tid\":5,\"pid\":4,\"waker_tid\":0,\"waker_pid\":0,"
		     "\"cpu\":0,\"interrupt\":true,"
		     "\"timer\":true,\"softirq\":false,\"waker_unknown\":false,\"waker_comm\":\"\","
		     "\"span\":\"0\",\"span_keyed\":false,\"waker_span\":\"0\",\"waker_span_keyed\":false}\n"
		     "{\"type\":\"wake\",\"time_ns\":291,\"tid\":5,\"pid\":4,\"waker_tid\":0,\"waker_pid\":0,"
		     "\"cpu\":0,\"interrupt\":true,"
		     "\"timer\":false,\"softirq\":true,\"waker_unknown\":false,\"waker_comm\":\"\","
		     "\"span\":\"0\",\"span_keyed\":false,\"waker_span\":\"0\",\"waker_span_keyed\":false}\n"
		     "{\"type\":\"wake\",\"time_ns\":292,\"tid\":5,\"pid\":4,\"waker_tid\":0,\"waker_pid\":0,"
		     "\"cpu\":0,\"interrupt\":false,"
		     "\"timer\":false,\"softirq\":false,\"waker_unknown\":true,\"waker_comm\":\"\","
		     "\"span\":\"0\",\"span_keyed\":false,\"waker_span\":\"0\",\"waker_span_keyed\":false}\n"
		     "{\"type\":\"thread\",\"time_ns\":1,\"tid\":5,\"pid\":4,\"seed\":true,\"exit\":false,"
		     "\"comm\":\"main\"}\n"
		     "{\"type\":\"thread\",\"time_ns\":2,\"tid\":5,\"pid\":4,\"seed\":false,\"exit\":true,"
		     "\"comm\":\"\"}\n");
}

static uint64_t bits(double number)
{
	uint64_t value;

	memcpy(&value, &number, sizeof(value));
	return value;
}

static void attributes(struct feed *feed)
{
	static const struct {
		uint8_t type;
		double number;
		uint64_t value;
	} values[] = {
		{ TXTRACE_ATTRIBUTE_BOOL, 0, 1 },
		{ TXTRACE_ATTRIBUTE_INT, 0, (uint64_t)INT64_MIN },
		{ TXTRACE_ATTRIBUTE_UINT, 0, UINT64_MAX },
		{ TXTRACE_ATTRIBUTE_DOUBLE, 0.1, 0 },
		{ TXTRACE_ATTRIBUTE_DOUBLE, NAN, 0 },
		{ TXTRACE_ATTRIBUTE_DOUBLE, -INFINITY, 0 },
		{ TXTRACE_ATTRIBUTE_POINTER, 0, 0xffff0000 },
		{ 99, 0, 12 }, /* of a newer recorder */
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		feed_attribute(feed, .span = 3, .name = feed_string("n"), .type = values[i].type,
			       .value = values[i].type == TXTRACE_ATTRIBUTE_DOUBLE ? bits(values[i].number)
										   : values[i].value);
	feed_attribute(feed, .time_ns = 8, .span = 3, .pid = 1, .tid = 2, .name = feed_string("url"),
		       .type = TXTRACE_ATTRIBUTE_STRING, .string = feed_string("/a"), .is_truncated = true);
}

static void an_attribute_has_the_type_that_the_program_gave_it(void **state)
{
#define BEFORE                                                                                             \
	"{\"type\":\"attribute\",\"time_ns\":0,\"span\":\"3\",\"pid\":0,\"tid\":0,\"name\":\"n\",\"value_" \
	"type\":"
	(void)state;
	expect_lines(
		attributes, BEFORE
		"\"bool\",\"value\":true}\n" BEFORE "\"int\",\"value\":-9223372036854775808}\n" BEFORE
		"\"uint\",\"value\":18446744073709551615}\n" BEFORE "\"double\",\"value\":0.1}\n" BEFORE
		"\"double\",\"value\":\"NaN\"}\n" BEFORE "\"double\",\"value\":\"-Infinity\"}\n" BEFORE
		"\"pointer\",\"value\":\"0xffff0000\"}\n" BEFORE "\"unknown\",\"value\":12}\n"
		"{\"type\":\"attribute\",\"time_ns\":8,\"span\":\"3\",\"pid\":1,\"tid\":2,\"name\":\"url\","
		"\"value_type\":\"string\",\"value\":\"/a\",\"truncated\":true}\n");
#undef BEFORE
}

static void marks(struct feed *feed)
{
	feed_instant(feed, .time_ns = 1, .span = 2, .pid = 3, .tid = 4, .name = feed_string("retry"));
	feed_counter(feed, .time_ns = 1, .value = -5, .pid = 3, .tid = 4, .name = feed_string("queue"));
	feed_link(feed, .time_ns = 1, .from = 10, .to = 11, .pid = 3, .tid = 4,
		  .name = feed_string("caused-by"));
	feed_loss(feed, .first_ns = 1, .last_ns = 2, .cpu = 3, .span_event_cnt = 4, .sched_event_cnt = 5);
	feed_damage(feed, .offset_bytes = 4096, .length_bytes = 100, .record_cnt = 7,
		    .reason = "the checksum differs");
}

static void marks_and_holes_have_every_field(void **state)
{
	(void)state;
	expect_lines(
		marks,
		"{\"type\":\"instant\",\"time_ns\":1,\"span\":\"2\",\"pid\":3,\"tid\":4,\"name\":\"retry\"}\n"
		"{\"type\":\"counter\",\"time_ns\":1,\"pid\":3,\"tid\":4,\"name\":\"queue\",\"value\":-5}\n"
		"{\"type\":\"link\",\"time_ns\":1,\"from\":\"10\",\"to\":\"11\",\"pid\":3,\"tid\":4,\"name\":"
		"\"caused-by\"}\n"
		"{\"type\":\"loss\",\"first_ns\":1,\"last_ns\":2,\"cpu\":3,\"span_event_cnt\":4,\"sched_"
		"event_cnt\":5}\n"
		"{\"type\":\"damage\",\"offset_bytes\":4096,\"length_bytes\":100,\"record_cnt\":7,"
		"\"reason\":\"the checksum differs\"}\n");
}

static void hostile_names(struct feed *feed)
{
	feed_instant(feed, .name = { "a\xff\n\x1b[31m\0", 9 });
	feed_instant(feed, .name = { "gr\xc3\xbc\xc3\x9f", 6 });
}

static void bytes_that_are_no_text_come_also_as_hex(void **state)
{
	(void)state;
	expect_lines(hostile_names,
		     "{\"type\":\"instant\",\"time_ns\":0,\"span\":\"0\",\"pid\":0,\"tid\":0,"
		     "\"name\":\"a\xef\xbf\xbd\\n\\u001b[31m\\u0000\",\"name_hex\":\"61ff0a1b5b33316d00\"}\n"
		     "{\"type\":\"instant\",\"time_ns\":0,\"span\":\"0\",\"pid\":0,\"tid\":0,\"name\":"
		     "\"gr\xc3\xbc\xc3\x9f\"}\n");
}

static void the_first_line_says_what_the_log_is(void **state)
{
	struct feed feed;

	(void)state;
	feed_begin(&feed, "jsonl");
	feed_end(&feed);
	assert_memory_equal(
		feed.bytes,
		"{\"type\":\"header\",\"format\":\"txtrace-jsonl\",\"format_version\":1,\"version_major\":1,"
		"\"version_minor\":2,"
		"\"capture_id\":\"c00102030405060708090a0b0c0d0e0f\",\"boot_id\":"
		"\"b0ff0000000000000000000000000000\","
		"\"start_monotonic_ns\":500,\"start_realtime_ns\":1700000000000000500,\"pid\":100,\"cpu_"
		"cnt\":2,\"host\":\"box\","
		"\"kernel\":\"6.18.0 x86_64\",\"command\":\"./bank -t 2\",\"recorder\":\"txtrace-bpf 0.1.0\","
		"\"options\":\"-p 100\"}\n",
		strcspn(feed.bytes, "\n") + 1);
	feed_release(&feed);
}

static void expect_last_line(const struct feed *feed, const char *expected)
{
	const char *last = memrchr(feed->bytes, '\n', feed->length - 1);

	assert_non_null(last);
	assert_string_equal(last + 1, expected);
}

static void the_last_line_adds_up(void **state)
{
	struct feed feed;

	(void)state;
	feed_begin(&feed, "jsonl");
	feed_span(&feed, .begin_ns = 50, .end_ns = 60, .flags = TXTRACE_SPAN_LOWER_BOUND);
	feed_span(&feed, .begin_ns = 40, .end_ns = 70);
	feed_loss(&feed, .first_ns = 41, .last_ns = 80, .span_event_cnt = 3, .sched_event_cnt = 10);
	feed_loss(&feed, .first_ns = 42, .last_ns = 43, .span_event_cnt = 1, .sched_event_cnt = UINT64_MAX);
	feed_summary(&feed, .time_ns = 90, .sent_cnt = 1000, .received_cnt = 986, .lost_cnt = 14,
		     .lost_clocks_cnt = 1, .late_cnt = 2,
		     .anomaly_cnt = { 10, 11, 12, 13, 14, 15, 16, 17, 18 });
	feed_end(&feed);
	expect_last_line(
		&feed,
		"{\"type\":\"summary\",\"records\":{\"span\":2,\"run\":0,\"wake\":0,\"thread\":0,"
		"\"attribute\":0,\"instant\":0,"
		"\"counter\":0,\"link\":0,\"loss\":2,\"open_span\":0,\"summary\":1,\"dropped\":0,"
		"\"continued\":0,"
		"\"stay\":0,\"object\":0,\"stack\":0,\"frames\":0,\"other_run\":0,"
		"\"cost\":0,\"process\":0,\"trigger\":0,\"overlap\":0,\"damage\":0},\"lower_bound_cnt\":1,"
		"\"lost_span_event_cnt\":4,\"lost_sched_event_cnt\":18446744073709551615,\"dropped_record_"
		"cnt\":0,\"damaged_bytes\":0,"
		"\"damaged_record_cnt\":0,\"first_ns\":40,\"last_ns\":90,\"recorder\":{\"time_ns\":90,\"sent_"
		"cnt\":1000,"
		"\"received_cnt\":986,\"lost_cnt\":14,\"lost_clocks_cnt\":1,\"late_cnt\":2,\"anomalies\":{"
		"\"end_unknown\":10,"
		"\"enter_unknown\":11,\"exit_unknown\":12,\"exit_unentered\":13,\"begin_twice\":14,\"mark_"
		"unknown\":15,"
		"\"unfinished\":16,\"clock_mismatch\":17,\"imbalance\":18}},\"read_error\":null,\"complete\":"
		"true}\n");
	feed_release(&feed);
}

static void a_log_without_its_end_is_not_complete(void **state)
{
	struct feed feed;

	(void)state;
	feed_begin(&feed, "jsonl");
	feed_damage(&feed, .length_bytes = 10, .record_cnt = 3, .reason = "cut off");
	feed_end(&feed);
	expect_last_line(
		&feed,
		"{\"type\":\"summary\",\"records\":{\"span\":0,\"run\":0,\"wake\":0,\"thread\":0,"
		"\"attribute\":0,\"instant\":0,"
		"\"counter\":0,\"link\":0,\"loss\":0,\"open_span\":0,\"summary\":0,\"dropped\":0,"
		"\"continued\":0,"
		"\"stay\":0,\"object\":0,\"stack\":0,\"frames\":0,\"other_run\":0,"
		"\"cost\":0,\"process\":0,\"trigger\":0,\"overlap\":0,\"damage\":1},\"lower_bound_cnt\":0,"
		"\"lost_span_event_cnt\":0,\"lost_sched_event_cnt\":0,\"dropped_record_cnt\":0,\"damaged_"
		"bytes\":10,\"damaged_record_cnt\":3,"
		"\"first_ns\":0,\"last_ns\":0,\"recorder\":null,\"read_error\":null,\"complete\":false}\n");
	feed_release(&feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_has_every_field),
		cmocka_unit_test(a_key_is_hex_and_text_if_it_is_text),
		cmocka_unit_test(the_scheduler_s_records_have_every_field),
		cmocka_unit_test(an_attribute_has_the_type_that_the_program_gave_it),
		cmocka_unit_test(marks_and_holes_have_every_field),
		cmocka_unit_test(bytes_that_are_no_text_come_also_as_hex),
		cmocka_unit_test(the_first_line_says_what_the_log_is),
		cmocka_unit_test(the_last_line_adds_up),
		cmocka_unit_test(a_log_without_its_end_is_not_complete),
	};

	return cmocka_run_group_tests_name("export_jsonl", tests, NULL, NULL);
}
