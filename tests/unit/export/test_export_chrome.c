/* SPDX-License-Identifier: BSD-2-Clause */
/* Each shape, and the event that it becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "unit/export_feed.h"

/* The events but those of the end of the log, one a line, without the commas between them. */
static void expect_events(void (*feed_records)(struct feed *feed), const char *expected)
{
	struct feed feed;
	char *lines, *end, *to;

	feed_begin(&feed, "chrome");
	feed_records(&feed);
	feed_end(&feed);
	lines = feed_middle(&feed);
	end = strstr(lines, "\n,{\"ph\":\"M\",\"pid\":1073741824,\"tid\":0,\"name\":\"process_name\","
			    "\"args\":{\"name\":\"txtrace\"}}");
	if (!end)
		end = strstr(lines, "{\"ph\":\"M\",\"pid\":1073741824");
	assert_non_null(end);
	*end = '\0';
	to = lines;
	for (const char *from = lines; *from; from++) {
		if (*from != ',' || (from > lines && from[-1] != '\n'))
			*to++ = *from;
	}
	*to = '\0';
	assert_string_equal(lines, expected);
	free(lines);
	feed_release(&feed);
}

#define PROCESS                                                                                         \
	"{\"ph\":\"M\",\"pid\":100,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"./bank -t " \
	"2\"}}\n"
#define SORT(tid, index)                         \
	"{\"ph\":\"M\",\"pid\":100,\"tid\":" tid \
	",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":" index "}}\n"
#define NAME(tid, name)                                                                                      \
	"{\"ph\":\"M\",\"pid\":100,\"tid\":" tid ",\"name\":\"thread_name\",\"args\":{\"name\":\"" name "\"}}"
#define NO_LEDGER \
	"\"work_ns\":0,\"on_cpu_ns\":0,\"runnable_ns\":0,\"blocked_ns\":0,\"detached_ns\":0," \
	"\"unknown_ns\":0,\"lower_bound\":false}}"

static void a_span(struct feed *feed)
{
	feed_thread(feed, .pid = 100, .tid = 101, .comm = feed_string("worker"));
	feed_span(feed, .id = UINT64_MAX, .parent = 3, .pid = 100, .tid = 101, .end_tid = 101,
		  .begin_ns = 1234567, .end_ns = 1240008, .work_ns = 5441, .label = feed_string("transfer"),
		  .tag = feed_string("k=\"v\""),
		  .ledger = { .on_cpu_ns = 5000, .blocked_ns = { [TXTRACE_BLOCK_LOCK] = 441 } });
}

static void a_span_of_one_thread_is_complete_with_ns_behind_the_point(void **state)
{
	(void)state;
	expect_events(a_span,
		      PROCESS SORT("101", "202")
			      NAME("101",
				   "worker") "\n"
					     "{\"ph\":\"X\",\"pid\":100,\"tid\":101,\"cat\":\"span\","
					     "\"name\":\"transfer\",\"ts\":1234.567,\"dur\":5.441,"
					     "\"args\":{\"id\":\"18446744073709551615\",\"parent\":\"3\","
					     "\"tag\":\"k=\\\"v\\\"\",\"begin_tid\":101,"
					     "\"work_ns\":5441,\"on_cpu_ns\":5000,\"runnable_ns\":0,"
					     "\"blocked_ns\":441,\"blocked\":{\"lock\":441},"
					     "\"detached_ns\":0,\"unknown_ns\":0,\"lower_bound\":false}}");
}

static void a_moved_span(struct feed *feed)
{
	feed_span(feed, .id = 1, .pid = 100, .tid = 101, .end_tid = 102, .begin_ns = 1000, .end_ns = 3000,
		  .label = feed_string("job"));
}

static void a_span_that_wanders_is_asynchronous(void **state)
{
	(void)state;
	expect_events(
		a_moved_span,
		PROCESS SORT("101",
			     "202") "{\"ph\":\"b\",\"pid\":100,\"tid\":1073741827,\"cat\":\"span\",\"name\":"
				    "\"job\",\"ts\":1.000,\"id2\":{\"local\":\"0x3\"},"
				    "\"args\":{\"id\":\"1\",\"begin_tid\":101,\"end_tid\":102," NO_LEDGER "\n"
				    "{\"ph\":\"e\",\"pid\":100,\"tid\":1073741827,\"cat\":\"span\",\"name\":"
				    "\"job\",\"ts\":3.000,"
				    "\"id2\":{\"local\":\"0x3\"}}");
}

static void a_run(struct feed *feed)
{
	feed_run(feed, .pid = 100, .tid = 101, .cpu = 1, .begin_ns = 2000, .end_ns = 2500, .runnable_ns = 250,
		 .left_as = TXTRACE_LEFT_DEAD);
}

static void a_thread_s_states_have_a_row_below_it(void **state)
{
	(void)state;
	expect_events(a_run, PROCESS SORT("101", "202") NAME("1073741827", "state of 101") "\n" SORT(
				     "1073741827",
				     "203") "{\"ph\":\"X\",\"pid\":100,\"tid\":1073741827,\"cat\":\"state\","
					    "\"name\":\"runnable\",\"ts\":1.750,\"dur\":0.250,"
					    "\"cname\":\"thread_state_runnable\",\"args\":{}}\n"
					    "{\"ph\":\"X\",\"pid\":100,\"tid\":1073741827,\"cat\":\"state\","
					    "\"name\":\"running\",\"ts\":2.000,\"dur\":0.500,"
					    "\"cname\":\"thread_state_running\",\"args\":{\"cpu\":1,\"left_"
					    "as\":\"dead\"}}");
}

static void marks(struct feed *feed)
{
	feed_counter(feed, .time_ns = 7, .value = INT64_MIN, .pid = 100, .tid = 101,
		     .name = feed_string("queue"));
	feed_instant(feed, .time_ns = 8, .span = 5, .pid = 100, .tid = 101, .name = feed_string("retry"));
}

static void counters_and_instants_have_events_of_their_own(void **state)
{
	(void)state;
	expect_events(marks,
		      PROCESS "{\"ph\":\"C\",\"pid\":100,\"tid\":1073741826,\"cat\":\"counter\",\"name\":"
			      "\"queue\",\"ts\":0.007,"
			      "\"args\":{\"value\":-9223372036854775808}}\n" SORT(
				      "101", "202") "{\"ph\":\"i\",\"pid\":100,\"tid\":101,\"cat\":"
						    "\"instant\",\"name\":\"retry\",\"ts\":0.008,\"s\":\"t\","
						    "\"args\":{\"span\":\"5\"}}");
}

static void linked(struct feed *feed)
{
	feed_link(feed, .time_ns = 50, .from = 5, .to = 6, .pid = 100, .tid = 101,
		  .name = feed_string("caused-by"));
	feed_span(feed, .id = 5, .pid = 100, .tid = 101, .end_tid = 101, .begin_ns = 20, .end_ns = 60,
		  .label = feed_string("x"));
	feed_span(feed, .id = 6, .pid = 100, .tid = 102, .end_tid = 102, .begin_ns = 10, .end_ns = 70,
		  .label = feed_string("y"));
}

/* A viewer draws arrows forward in time only. */
static void an_arrow_goes_from_the_span_that_began_first(void **state)
{
	(void)state;
	expect_events(
		linked,
		PROCESS SORT("101",
			     "202") "{\"ph\":\"i\",\"pid\":100,\"tid\":101,\"cat\":\"link\",\"name\":"
				    "\"caused-by\",\"ts\":0.050,\"s\":\"t\","
				    "\"args\":{\"from\":\"5\",\"to\":\"6\"}}\n"
				    "{\"ph\":\"X\",\"pid\":100,\"tid\":101,\"cat\":\"span\",\"name\":\"x\","
				    "\"ts\":0.020,\"dur\":0.040,\"args\":{\"id\":\"5\","
				    "\"begin_tid\":101," NO_LEDGER
				    "\n" SORT("102",
					      "204") "{\"ph\":\"X\",\"pid\":100,\"tid\":102,\"cat\":\"span\","
						     "\"name\":\"y\",\"ts\":0.010,\"dur\":0.060,\"args\":{"
						     "\"id\":\"6\","
						     "\"begin_tid\":102," NO_LEDGER "\n"
						     "{\"ph\":\"s\",\"pid\":100,\"tid\":102,\"cat\":\"link\","
						     "\"name\":\"link\",\"ts\":0.010,\"id\":1}\n"
						     "{\"ph\":\"f\",\"pid\":100,\"tid\":101,\"cat\":\"link\","
						     "\"name\":\"link\",\"ts\":0.020,\"id\":1,\"bp\":\"e\"}");
}

static uint64_t bits(double number)
{
	uint64_t value;

	memcpy(&value, &number, sizeof(value));
	return value;
}

static void attributes(struct feed *feed)
{
	feed_attribute(feed, .span = 5, .pid = 100, .type = TXTRACE_ATTRIBUTE_DOUBLE, .value = bits(0.25),
		       .name = feed_string("ratio"));
	feed_attribute(feed, .span = 5, .pid = 100, .type = TXTRACE_ATTRIBUTE_DOUBLE, .value = bits(INFINITY),
		       .name = feed_string("inf"));
	feed_attribute(feed, .span = 5, .pid = 100, .type = TXTRACE_ATTRIBUTE_INT, .value = (uint64_t)-1,
		       .name = feed_string("i"));
	feed_attribute(feed, .span = 5, .pid = 100, .type = TXTRACE_ATTRIBUTE_POINTER, .value = 0x1000,
		       .name = feed_string("at"));
	feed_attribute(feed, .span = 5, .pid = 100, .type = TXTRACE_ATTRIBUTE_STRING,
		       .name = { "\"\0\xff", 3 }, .string = { "a\x01\xfe", 3 }, .is_truncated = true);
	feed_span(feed, .id = 5, .pid = 100, .tid = 101, .end_tid = 101, .label = { "\n\x80", 2 });
}

static void attributes_and_hostile_strings_are_valid_json(void **state)
{
	(void)state;
	expect_events(attributes,
		      PROCESS SORT("101",
				   "202") "{\"ph\":\"X\",\"pid\":100,\"tid\":101,\"cat\":\"span\",\"name\":"
					  "\"\\n\xef\xbf\xbd\",\"ts\":0.000,\"dur\":0.000,"
					  "\"args\":{\"id\":\"5\",\"begin_tid\":101,\"work_ns\":0,\"on_cpu_"
					  "ns\":0,\"runnable_ns\":0,\"blocked_ns\":0,"
					  "\"detached_ns\":0,\"unknown_ns\":0,\"lower_bound\":false,"
					  "\"attributes\":{\"ratio\":0.25,\"inf\":\"Infinity\",\"i\":-1,"
					  "\"at\":\"0x1000\",\"\\\"\\u0000\xef\xbf\xbd\":"
					  "\"a\\u0001\xef\xbf\xbd\xe2\x80\xa6\"}}}");
}

/* Doubles hold ns in µs for 104 days only. */
static void times_count_from_the_hour_before_the_capture(void **state)
{
	/* up for 400 days */
	struct txtrace_log_info info = { .start_monotonic_ns = 400 * UINT64_C(86400000000000) + 5 };
	struct txtrace_record record = { TXTRACE_RECORD_INSTANT,
					 .instant = { .time_ns = info.start_monotonic_ns + 2,
						      .name = { "x", 1 } } };
	struct txtrace_record ancient = { TXTRACE_RECORD_INSTANT,
					  .instant = { .time_ns = 77, .name = { "x", 1 } } };
	struct export *export;
	char *bytes;
	size_t length;
	FILE *out = open_memstream(&bytes, &length);

	(void)state;
	assert_int_equal(export_open(&export, export_format_find("chrome"), out, &info), 0);
	assert_int_equal(export_add(export, &record), 0);
	assert_int_equal(export_add(export, &ancient), 0);
	assert_int_equal(export_close(export, 0, NULL), 0);
	fclose(out);
	assert_non_null(strstr(bytes, "\"base_ns\":34556400000000000,"));
	assert_non_null(strstr(bytes, "\"name\":\"x\",\"ts\":3600000000.007,"));
	assert_non_null(strstr(bytes, "\"name\":\"x\",\"ts\":0.000,"));
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_of_one_thread_is_complete_with_ns_behind_the_point),
		cmocka_unit_test(a_span_that_wanders_is_asynchronous),
		cmocka_unit_test(a_thread_s_states_have_a_row_below_it),
		cmocka_unit_test(counters_and_instants_have_events_of_their_own),
		cmocka_unit_test(an_arrow_goes_from_the_span_that_began_first),
		cmocka_unit_test(attributes_and_hostile_strings_are_valid_json),
		cmocka_unit_test(times_count_from_the_hour_before_the_capture),
	};

	return cmocka_run_group_tests_name("export_chrome", tests, NULL, NULL);
}
