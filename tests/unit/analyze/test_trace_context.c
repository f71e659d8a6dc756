/* SPDX-License-Identifier: BSD-2-Clause */
/* Headers of W3C's Trace Context: its examples, and what must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/trace_context.h"

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN "b7ad6b7169203331"

/* In memory of just its length, so that reading beyond it is noticed. */
static struct txtrace_string copy(const char *text, size_t length)
{
	char *bytes = malloc(length ? length : 1);

	assert_non_null(bytes);
	memcpy(bytes, text, length);
	return (struct txtrace_string){ bytes, length };
}

static bool parses(struct trace_parent *parent, const char *text)
{
	struct txtrace_string string = copy(text, strlen(text));
	bool result = trace_parent_parse(parent, string);

	free((void *)string.bytes);
	return result;
}

static bool is_state(const char *text)
{
	struct txtrace_string string = copy(text, strlen(text));
	bool result = trace_state_is_valid(string);

	free((void *)string.bytes);
	return result;
}

static void parents_are_read(void **state)
{
	static const uint8_t trace[] = { 0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd,
					 0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c };
	static const uint8_t span[] = { 0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31 };
	struct trace_parent parent;

	(void)state;
	assert_true(parses(&parent, "00-" TRACE "-" SPAN "-01"));
	assert_memory_equal(parent.trace_id, trace, sizeof(trace));
	assert_memory_equal(parent.span_id, span, sizeof(span));
	assert_int_equal(parent.flags, TRACE_FLAG_SAMPLED);
	assert_true(
		parses(&parent, "00-" TRACE "-" SPAN "-ff")); /* flags that we do not know are not sent on */
	assert_int_equal(parent.flags, TRACE_FLAGS_KNOWN);
	assert_true(parses(&parent, "cc-" TRACE "-" SPAN "-00"));
	assert_true(parses(&parent, "cc-" TRACE "-" SPAN "-00-what-is-new"));
	assert_int_equal(parent.flags, 0);
}

static void other_parents_are_refused(void **state)
{
	static const char *const refused[] = {
		"",
		"00",
		"00-" TRACE "-" SPAN,
		"00-" TRACE "-" SPAN "-0",
		"00-" TRACE "-" SPAN "-01-",
		"00-" TRACE "-" SPAN "-011",
		"cc-" TRACE "-" SPAN "-01x",
		"ff-" TRACE "-" SPAN "-01",
		"0F-" TRACE "-" SPAN "-01",
		"00-00000000000000000000000000000000-" SPAN "-01",
		"00-" TRACE "-0000000000000000-01",
		"00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01",
		"00-" TRACE "-B7AD6B7169203331-01",
		"00-" TRACE "-" SPAN "-0g",
		"00_" TRACE "-" SPAN "-01",
		"00-" TRACE "_" SPAN "-01",
		"00-" TRACE "-" SPAN "_01",
		" 00-" TRACE "-" SPAN "-01",
	};
	struct trace_parent parent;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		if (parses(&parent, refused[i]))
			fail_msg("'%s' is not refused", refused[i]);
	}
}

static void states_are_checked(void **state)
{
	char members[33 * 4 + 1] = "", value[300] = "k=";

	(void)state;
	assert_true(is_state("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"));
	assert_true(is_state(" a=1 ,\t,b@c=!~ x"));
	assert_true(is_state("0_-*/@=:"));
	for (size_t i = 0; i < 32; i++)
		strcat(members, "a=b,");
	assert_true(is_state(members));
	strcat(members, "a=b,");
	assert_false(is_state(members));
	memset(value + 2, 'v', 256);
	assert_true(is_state(value));
	value[258] = 'v';
	assert_false(is_state(value));
	assert_false(is_state(""));
	assert_false(is_state(" , "));
	assert_false(is_state("a"));
	assert_false(is_state("a="));
	assert_false(is_state("=a"));
	assert_false(is_state("a=b=c"));
	assert_false(is_state("A=b"));
	assert_false(is_state("_a=b"));
	assert_false(is_state("a b=c"));
	assert_false(is_state("a=\xc3\xa4"));
	assert_false(is_state("a=b\x01"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parents_are_read),
		cmocka_unit_test(other_parents_are_refused),
		cmocka_unit_test(states_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
