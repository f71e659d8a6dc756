/* SPDX-License-Identifier: BSD-2-Clause */
/* TXTRACE_TRACEPARENT: the header that is sent on, by what came in. The reader of logs is the judge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "analyze/trace_context.h"
#include "base/seeded_random.h"
#include "txtrace.h"

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN "b7ad6b7169203331"

static bool parses(struct trace_parent *parent, const char *text)
{
	return trace_parent_parse(parent, (struct txtrace_string){ text, strlen(text) });
}

/* As a program has it: in an array that is just as long. */
static void send_on(uint64_t span, const char *came_in, struct trace_parent *sent, char *header)
{
	snprintf(header, TXTRACE_TRACEPARENT_SIZE, "%s", came_in);
	txtrace_send_trace_(span, header);
	assert_int_equal(strlen(header), TXTRACE_TRACEPARENT_SIZE - 1);
	assert_memory_equal(header, "00-", 3);
	assert_true(parses(sent, header));
}

static void the_trace_goes_on_below_the_span(void **state)
{
	char header[TXTRACE_TRACEPARENT_SIZE], again[TXTRACE_TRACEPARENT_SIZE];
	struct trace_parent in, out, other;

	(void)state;
	assert_true(parses(&in, "00-" TRACE "-" SPAN "-01"));
	send_on(4711, "00-" TRACE "-" SPAN "-01", &out, header);
	assert_memory_equal(out.trace_id, in.trace_id, sizeof(in.trace_id));
	assert_memory_not_equal(out.span_id, in.span_id, sizeof(in.span_id));
	assert_int_equal(out.flags, TRACE_FLAG_SAMPLED);

	/* of the same span it is the same, of another one it differs */
	send_on(4711, "00-" TRACE "-" SPAN "-01", &out, again);
	assert_string_equal(header, again);
	send_on(4712, "00-" TRACE "-" SPAN "-01", &other, again);
	assert_memory_equal(other.trace_id, in.trace_id, sizeof(in.trace_id));
	assert_memory_not_equal(other.span_id, out.span_id, sizeof(out.span_id));
}

static void flags_are_kept(void **state)
{
	static const struct {
		const char *came_in;
		uint8_t flags;
	} cases[] = { { "00", 0 }, { "01", 1 }, { "02", 2 }, { "03", 3 }, { "ff", 3 }, { "fc", 0 } };
	char header[TXTRACE_TRACEPARENT_SIZE], came_in[64];
	struct trace_parent out;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(came_in, sizeof(came_in), "00-" TRACE "-" SPAN "-%s", cases[i].came_in);
		send_on(1, came_in, &out, header);
		assert_int_equal(out.flags, cases[i].flags);
	}
}

static void without_a_valid_one_a_trace_begins(void **state)
{
	static const char *const cases[] = {
		"",
		"00-" TRACE "-0000000000000000-01",
		"00-00000000000000000000000000000000-" SPAN "-01",
		"ff-" TRACE "-" SPAN "-01",
		"00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01",
		"00-" TRACE "-" SPAN,
		"00_" TRACE "-" SPAN "-01",
		"zz-" TRACE "-" SPAN "-01",
	};
	char header[TXTRACE_TRACEPARENT_SIZE];
	struct trace_parent in, out, before = { 0 };

	(void)state;
	assert_true(parses(&in, "00-" TRACE "-" SPAN "-01"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		send_on(1, cases[i], &out, header);
		assert_memory_not_equal(out.trace_id, in.trace_id, sizeof(in.trace_id));
		assert_memory_not_equal(out.trace_id, before.trace_id, sizeof(before.trace_id));
		assert_int_equal(out.flags, TRACE_FLAG_SAMPLED);
		before = out;
	}
}

/* What is valid, and what it says, is the same here and in the reader of logs: a byte or two changed. */
static void both_agree_on_what_is_valid(void **state)
{
	static const char bytes[] = "0123456789abcdefABCDEFg-_ \x01\xff";
	struct seeded_random random;
	unsigned int valid_cnt = 0;

	(void)state;
	seeded_random_init(&random, 7);
	for (unsigned int i = 0; i < 200000; i++) {
		char text[TXTRACE_TRACEPARENT_SIZE + 1] = "00-" TRACE "-" SPAN "-01";
		struct txtrace_trace_ trace = { 0, 0, 0 };
		struct trace_parent parent;
		char digits[40];
		bool is_valid;

		for (uint32_t n = seeded_random_below(&random, 3); n > 0; n--)
			text[seeded_random_below(&random, 56)] =
				bytes[seeded_random_below(&random, sizeof(bytes))];
		is_valid = parses(&parent, text);
		assert_int_equal(txtrace_read_traceparent_(text, &trace) != 0, is_valid);
		if (!is_valid)
			continue;
		valid_cnt++;
		trace_id_format(digits, parent.trace_id);
		assert_memory_equal(digits, text + 3, TRACE_ID_DIGITS);
		txtrace_put_hex_(digits, trace.high);
		txtrace_put_hex_(digits + 16, trace.low);
		assert_memory_equal(digits, text + 3, TRACE_ID_DIGITS);
		assert_int_equal(trace.flags, parent.flags);
	}
	assert_true(valid_cnt > 10000);
}

/* Nobody traces: what came in goes on as it is. */
static void of_no_span_it_stays_as_it_is(void **state)
{
	char header[TXTRACE_TRACEPARENT_SIZE] = "whatever came in";

	(void)state;
	TXTRACE_TRACEPARENT(0, header);
	assert_string_equal(header, "whatever came in");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_trace_goes_on_below_the_span),
		cmocka_unit_test(flags_are_kept),
		cmocka_unit_test(without_a_valid_one_a_trace_begins),
		cmocka_unit_test(both_agree_on_what_is_valid),
		cmocka_unit_test(of_no_span_it_stays_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
