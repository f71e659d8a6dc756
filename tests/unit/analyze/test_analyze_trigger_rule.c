/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules of triggers: which spans they hold for, and where a mistake in one is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span/trigger_rule.h"

#define MS 1000000u
#define STRING(text) { text, sizeof(text) - 1 }

/* 60 ms, of which 35 blocked: 30 by a lock, 5 by a disk. */
static const struct txtrace_span commit = {
	.id = 7,
	.pid = 10,
	.tid = 11,
	.begin_ns = 1000,
	.end_ns = 1000 + 60 * MS,
	.work_ns = 60 * MS,
	.ledger = { .on_cpu_ns = 15 * MS,
		    .runnable_ns = 10 * MS,
		    .blocked_ns = { [TXTRACE_BLOCK_LOCK] = 30 * MS, [TXTRACE_BLOCK_DISK] = 5 * MS } },
	.label = STRING("commit"),
	.tag = STRING("shard=3,kind=w"),
	.key = STRING("order 42"),
	.flags = TXTRACE_SPAN_KEYED,
};

static const struct {
	const char *rule;
	bool holds;
} rules[] = {
	{ "label=commit", true },
	{ "label=com", false },
	{ "label=com*", true },
	{ "label!=commit", false },
	{ "label='commit'", true },
	{ "key=\"order 42\"", true },
	{ "key=order*", true },
	{ "tag=*shard=3*", true },
	{ "tag=*shard=4*", false },
	{ "wall>50ms", true },
	{ "wall>60ms", false },
	{ "wall>=60ms", true },
	{ "wall=60ms", true },
	{ "wall!=60ms", false },
	{ "wall<60ms", false },
	{ "wall<=60ms", true },
	{ "wall<1", true }, /* a second */
	{ "work>59.9ms", true },
	{ "on_cpu>=15ms and on_cpu<=15ms", true },
	{ "runnable>9ms", true },
	{ "blocked>34ms", true },
	{ "blocked>35ms", false },
	{ "lock>29ms and disk>4ms", true },
	{ "network>0ns", false },
	{ "detached>0ns or unknown>0ns or interrupt>0ns", false },
	{ "reason=lock", true },
	{ "reason=disk", false },
	{ "reason!=disk", true },
	{ "keyed", true },
	{ "unfinished or lower_bound or loss or moved", false },
	{ "not unfinished", true },
	{ "label=commit and wall>50ms", true },
	{ "label=commit and wall>70ms", false },
	/* and binds closer than or */
	{ "label=x and wall>70ms or keyed", true },
	{ "label=x and (wall>70ms or keyed)", false },
	{ "keyed or label=x and wall>70ms", true },
	{ "not label=x and not wall>70ms", true },
	{ "not (label=commit and wall>50ms)", false },
	{ "  ( ( label = commit ) )and(wall > 50ms)  ", true },
	{ "label=and", false }, /* a word, here */
};

static void rules_hold_or_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct error error = { "" };
		struct trigger_rule *rule;

		if (trigger_rule_parse(&rule, rules[i].rule, &error))
			fail_msg("%s: %s", rules[i].rule, error.text);
		if (trigger_rule_holds(rule, &commit) != rules[i].holds)
			fail_msg("%s: holds is %d", rules[i].rule, !rules[i].holds);
		assert_string_equal(trigger_rule_text(rule), rules[i].rule);
		trigger_rule_free(rule);
	}
}

static const struct {
	const char *rule;
	const char *error;
} mistakes[] = {
	{ "", "at character 1, a test is missing" },
	{ "label=commit and", "at character 17, a test is missing" },
	{ "label=commit and wal>50ms",
	  "at character 18, 'wal' is nothing that a span has; did you mean 'wall'?" },
	{ "label=commit wall>50ms", "at character 14, expected 'and', 'or' or the end, found 'wall>50ms'" },
	{ "wall", "at character 5, one of > >= < <= = != and a duration belong here" },
	{ "wall>", "at character 6, a word is missing" },
	{ "wall>5 parsecs", "at character 8, expected 'and', 'or' or the end, found 'parsecs'" },
	{ "wall>5x", "at character 6, '5x' is no duration" },
	{ "label>x", "at character 6, there is '>', but a text can only be = or !=" },
	{ "label", "at character 6, = or != and a word belong here" },
	{ "label=\"x", "at character 7, a quote begins that does not end" },
	{ "(wall>1 or keyed", "at character 1, a parenthesis begins that does not end" },
	{ "wall>1)", "at character 7, expected 'and', 'or' or the end, found ')'" },
	{ "reason=locks", "at character 8, 'locks' is no reason" },
	{ "&& wall>1", "at character 1, expected a condition such as wall>50ms, found '&'" },
	{ "((((((((((((((((((((((((((((((((((((wall>1))))))))))))))))))))))))))))))))))))",
	  "at character 33, it goes too deep" },
	{ "not not not not not not not not not not not not not not not not not not not not not not not not "
	  "not not not not not not not not not keyed",
	  "it goes too deep" },
};

static void mistakes_are_pointed_at(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct error error = { "" };
		struct trigger_rule *rule;

		assert_int_equal(trigger_rule_parse(&rule, mistakes[i].rule, &error), -EINVAL);
		if (!strstr(error.text, mistakes[i].error))
			fail_msg("%s: %s", mistakes[i].rule, error.text);
	}
}

/* 32 tests with 31 words between them are 63; two more are too many. */
static void long_rules_end_somewhere(void **state)
{
	char text[32 * 16] = "keyed";
	struct error error = { "" };
	struct trigger_rule *rule;

	(void)state;
	for (int i = 1; i < 32; i++)
		strcat(text, " and keyed");
	assert_int_equal(trigger_rule_parse(&rule, text, &error), 0);
	assert_true(trigger_rule_holds(rule, &commit));
	trigger_rule_free(rule);
	strcat(text, " and keyed");
	assert_int_equal(trigger_rule_parse(&rule, text, &error), -EINVAL);
	assert_non_null(strstr(error.text, "too long"));
}

/* Any bytes: no crash, and what is taken can be asked. */
static void anything_may_be_typed(void **state)
{
	static const char letters[] = "label=wall>5ms andor not()\"'!<* \x80\xff";
	uint32_t seed = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char text[24];
		struct error error = { "" };
		struct trigger_rule *rule;
		size_t length;

		seed = seed * 1664525 + 1013904223;
		length = (seed >> 16) % (sizeof(text) - 1);
		for (size_t j = 0; j < length; j++) {
			seed = seed * 1664525 + 1013904223;
			text[j] = letters[(seed >> 16) % (sizeof(letters) - 1)];
		}
		text[length] = '\0';
		if (trigger_rule_parse(&rule, text, &error)) {
			assert_non_null(strstr(error.text, "at character "));
			continue;
		}
		trigger_rule_holds(rule, &commit);
		trigger_rule_free(rule);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_hold_or_not),
		cmocka_unit_test(mistakes_are_pointed_at),
		cmocka_unit_test(long_rules_end_somewhere),
		cmocka_unit_test(anything_may_be_typed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
