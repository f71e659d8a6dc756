/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a log overlaps the time from 100 to 200, and what goes with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/files/log_cut.h"
#include "log/format/record_table.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define SPAN(id_, label_, begin, end)									\
	{ .kind = TXTRACE_RECORD_SPAN, .span = { .id = id_, .pid = 7, .tid = 8, .begin_ns = begin, \
	.end_ns = end, .label = { label_, 2 } } }
#define OPEN(id_, label_, begin, time)									\
	{ .kind = TXTRACE_RECORD_OPEN_SPAN, .open_span = { .id = id_, .pid = 7, .begin_ns = begin, \
	.time_ns = time, .label = { label_, 2 } } }
#define RUN(begin, end, wait)                 \
	{                                     \
		.kind = TXTRACE_RECORD_RUN,   \
		.run = {.pid = 7,             \
			.begin_ns = begin,    \
			.end_ns = end,        \
			.runnable_ns = wait } \
	}
#define OF_SPAN(kind_, member, time, id)                                                           \
	{                                                                                          \
		.kind = TXTRACE_RECORD_##kind_, .member = {.time_ns = time, .pid = 7, .span = id } \
	}
#define LINK(time, from_, to_)                                                                              \
	{                                                                                                   \
		.kind = TXTRACE_RECORD_LINK, .link = {.time_ns = time, .pid = 7, .from = from_, .to = to_ } \
	}
#define AT_OF(pid_, kind_, member, time)                                                  \
	{                                                                                 \
		.kind = TXTRACE_RECORD_##kind_, .member = {.time_ns = time, .pid = pid_ } \
	}
#define AT(kind_, member, time) AT_OF(7, kind_, member, time)
#define THE_SUMMARY { .kind = TXTRACE_RECORD_SUMMARY, .summary = { .time_ns = 9999 } }

struct story {
	struct txtrace_record record;
	bool is_kept;
};

static void assert_kept(const struct log_cut_options *options, const struct story *stories, size_t cnt)
{
	struct log_cut *cut = log_cut_new(options);

	for (size_t i = 0; log_cut_needs_look(cut) && i < cnt; i++)
		log_cut_look(cut, &stories[i].record);
	for (size_t i = 0; i < cnt; i++) {
		if (log_cut_keeps(cut, &stories[i].record) != stories[i].is_kept)
			fail_msg("record %zu of kind %s", i,
				 txtrace_record_kind_name(stories[i].record.kind));
	}
	log_cut_free(cut);
}

static void a_range(void **state)
{
	static const struct story stories[] = {
		/* spans that end, reach over, and begin at its edges */
		{ SPAN(1, "tx", 10, 99), false },
		{ SPAN(2, "tx", 10, 100), false },
		{ SPAN(3, "tx", 10, 101), true },
		{ SPAN(4, "tx", 10, 900), true },
		{ SPAN(5, "tx", 199, 900), true },
		{ SPAN(6, "tx", 200, 900), false },
		{ SPAN(7, "tx", 100, 100), true },
		{ SPAN(8, "tx", 120, 180), true },
		{ SPAN(9, "tx", 200, 200), false },
		/* a run and the wait before it */
		{ RUN(50, 99, 40), false },
		{ RUN(50, 150, 0), true },
		{ RUN(300, 400, 50), false },
		{ RUN(300, 400, 150), true },
		{ RUN(300, 400, UINT64_MAX), true },
		/* moments */
		{ AT(WAKE, wake, 99), false },
		{ AT(WAKE, wake, 100), true },
		{ AT(COUNTER, counter, 199), true },
		{ AT(COUNTER, counter, 200), false },
		/* what is said about spans: of those that reach over its edges also outside of it */
		{ OF_SPAN(ATTRIBUTE, attribute, 50, 3), true },
		{ OF_SPAN(ATTRIBUTE, attribute, 50, 1), false },
		{ OF_SPAN(INSTANT, instant, 800, 4), true },
		{ OF_SPAN(INSTANT, instant, 800, 6), false },
		{ OF_SPAN(INSTANT, instant, 150, 6), true },
		{ OF_SPAN(INSTANT, instant, 150, 0), true },
		{ LINK(50, 1, 4), true },
		{ LINK(50, 5, 1), true },
		{ LINK(50, 1, 2), false },
		/* threads are told of before its end; of losses counts the whole time */
		{ AT(THREAD, thread, 1), true },
		{ AT(THREAD, thread, 199), true },
		{ AT(THREAD, thread, 200), false },
		{ { .kind = TXTRACE_RECORD_LOSS, .loss = { .first_ns = 10, .last_ns = 300 } }, true },
		{ { .kind = TXTRACE_RECORD_LOSS, .loss = { .first_ns = 10, .last_ns = 99 } }, false },
		{ THE_SUMMARY, true },
	};
	const struct log_cut_options options = { .from_ns = 100, .to_ns = 200, .max_bytes = 1 << 16 };

	(void)state;
	assert_kept(&options, stories, LENGTH(stories));
}

/* A checkpoint is kept with its span, and when the span never ended as far as the log goes. */
static void spans_that_were_open(void **state)
{
	static const struct story stories[] = {
		{ OPEN(1, "tx", 10, 90), false },
		{ SPAN(1, "tx", 10, 95), false },
		{ OPEN(2, "tx", 10, 90), true },
		{ SPAN(2, "tx", 10, 950), true },
		{ OPEN(3, "tx", 10, 90), true },
		{ OPEN(4, "tx", 10, 150), true },
		{ OPEN(5, "tx", 190, 800), true },
		{ OPEN(6, "tx", 200, 800), false },
		{ OF_SPAN(ATTRIBUTE, attribute, 50, 3), true },
		{ OF_SPAN(ATTRIBUTE, attribute, 50, 1), false },
	};
	const struct log_cut_options options = { .from_ns = 100, .to_ns = 200, .max_bytes = 1 << 16 };

	(void)state;
	assert_kept(&options, stories, LENGTH(stories));
}

static void a_label(void **state)
{
	static const struct story stories[] = {
		{ OF_SPAN(ATTRIBUTE, attribute, 20, 1), true },
		{ OF_SPAN(ATTRIBUTE, attribute, 20, 2), false },
		{ OF_SPAN(INSTANT, instant, 20, 0), false },
		{ LINK(20, 2, 1), true },
		{ LINK(20, 2, 2), false },
		{ SPAN(1, "tx", 10, 30), true },
		{ SPAN(2, "io", 10, 30), false },
		{ OPEN(3, "tx", 10, 30), true },
		{ OPEN(4, "io", 10, 30), false },
		{ RUN(10, 20, 0), true },
		{ AT_OF(7, WAKE, wake, 20), true },
		{ AT_OF(7, COUNTER, counter, 20), true },
	};
	const struct log_cut_options options = { .to_ns = LOG_CUT_NO_END,
						 .label = "t*",
						 .max_bytes = 1 << 16 };

	(void)state;
	assert_kept(&options, stories, LENGTH(stories));
}

static void a_process(void **state)
{
	static const struct story stories[] = {
		{ SPAN(1, "tx", 10, 30), true },
		{ OPEN(3, "tx", 10, 30), true },
		{ RUN(10, 20, 0), true },
		{ AT_OF(7, WAKE, wake, 20), true },
		{ AT_OF(6, WAKE, wake, 20), false },
		{ AT_OF(6, THREAD, thread, 20), false },
		{ { .kind = TXTRACE_RECORD_WAKE, .wake = { .time_ns = 20, .pid = 6, .waker_pid = 7 } },
		  true },
		{ { .kind = TXTRACE_RECORD_SPAN, .span = { .id = 1, .pid = 6 } }, false },
		{ { .kind = TXTRACE_RECORD_ATTRIBUTE, .attribute = { .span = 1, .pid = 6 } }, false },
		{ { .kind = TXTRACE_RECORD_LOSS, .loss = { .first_ns = 10, .last_ns = 99 } }, true },
		{ { .kind = TXTRACE_RECORD_SUMMARY }, true },
	};
	const struct log_cut_options options = {
		.to_ns = LOG_CUT_NO_END, .has_pid = true, .pid = 7, .max_bytes = 1 << 16
	};

	(void)state;
	assert_kept(&options, stories, LENGTH(stories));
}

/* Without any limit nothing has to be remembered, and times that no clock shows are in the range as well. */
static void everything(void **state)
{
	static const struct story stories[] = {
		{ SPAN(1, "tx", 0, UINT64_MAX), true },
		{ SPAN(2, "tx", UINT64_MAX, UINT64_MAX), true },
		{ SPAN(3, "tx", UINT64_MAX, 0), true },
		{ AT_OF(0, WAKE, wake, 0), true },
		{ AT_OF(0, THREAD, thread, UINT64_MAX), true },
		{ THE_SUMMARY, true },
	};
	const struct log_cut_options options = { .to_ns = LOG_CUT_NO_END };
	struct log_cut *cut = log_cut_new(&options);

	(void)state;
	assert_false(log_cut_needs_look(cut));
	log_cut_free(cut);
	assert_kept(&options, stories, LENGTH(stories));
}

/*
 * More spans with the label than there is memory for: what is said about any span is kept, rather than
 * nothing.
 */
static void more_spans_than_memory(void **state)
{
	const struct log_cut_options options = { .to_ns = LOG_CUT_NO_END,
						 .label = "tx",
						 .max_bytes = 1 << 16 };
	const struct txtrace_record of_last = OF_SPAN(ATTRIBUTE, attribute, 20, 9999),
				    of_other = OF_SPAN(ATTRIBUTE, attribute, 20, 77777);
	struct log_cut *cut = log_cut_new(&options);

	(void)state;
	for (uint64_t i = 1; i < 10000; i++) {
		const struct txtrace_record span = SPAN(i, "tx", 10, 30);

		log_cut_look(cut, &span);
	}
	assert_true(log_cut_is_blurred(cut));
	assert_true(log_cut_keeps(cut, &of_last));
	assert_true(log_cut_keeps(cut, &of_other));
	log_cut_free(cut);
}

static void parts_of_records(void **state)
{
	struct txtrace_record span = SPAN(1, "tx", 10, 30), run = RUN(100, 200, 30),
			      loss = { .kind = TXTRACE_RECORD_LOSS,
				       .loss = { .first_ns = 10, .last_ns = 20 } };
	struct txtrace_record damage = { .kind = TXTRACE_RECORD_DAMAGE }, unknown = { .kind = UINT32_MAX };
	struct record_string strings[RECORD_STRINGS_MAX];
	uint32_t pid, tid;

	(void)state;
	run.run.blocked_ns = 50;
	assert_int_equal(record_finished_ns(&span), 30);
	assert_int_equal(record_began_ns(&span), 10);
	assert_int_equal(record_finished_ns(&run), 200);
	assert_int_equal(record_began_ns(&run), 20);
	assert_int_equal(record_began_ns(&loss), 10);
	assert_int_equal(record_finished_ns(&loss), 20);
	assert_true(record_thread(&span, &pid, &tid));
	assert_int_equal(pid, 7);
	assert_int_equal(tid, 8);
	assert_false(record_thread(&loss, &pid, &tid));
	assert_false(record_thread(&unknown, &pid, &tid));
	assert_int_equal(record_strings(&span, strings), 3);
	assert_ptr_equal(strings[0].string, &span.span.label);
	assert_true(strings[1].is_tag);
	assert_ptr_equal(strings[1].string, &span.span.tag);
	assert_ptr_equal(strings[2].string, &span.span.key);
	assert_false(strings[0].is_tag || strings[2].is_tag);
	assert_int_equal(record_strings(&loss, strings), 0);
	assert_int_equal(record_strings(&damage, strings), -1);
	assert_int_equal(record_strings(&unknown, strings), -1);
	assert_int_equal(record_finished_ns(&unknown), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range),	    cmocka_unit_test(spans_that_were_open),
		cmocka_unit_test(a_label),	    cmocka_unit_test(a_process),
		cmocka_unit_test(everything),	    cmocka_unit_test(more_spans_than_memory),
		cmocka_unit_test(parts_of_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
