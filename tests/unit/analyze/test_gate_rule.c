/* SPDX-License-Identifier: BSD-2-Clause */
/* Rules of a gate as text: what they mean, and what is said of those that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/compare/gate_rule.h"
#include "analyze/compare/metric.h"

static struct gate_rule parsed(struct gate_rules *rules, const char *text)
{
	struct error error = { "" };
	int err = gate_rules_parse(rules, text, "rules", &error);

	if (err)
		fail_msg("'%s': %s", text, error.text);
	assert_int_equal(rules->cnt, 1);
	return rules->rules[0];
}

static const struct {
	const char *text, *label;
	enum gate_subject subject;
	unsigned int value;
	double percentile;
	const char *name;
	enum gate_operator operator;
	enum gate_limit kind;
	double limit;
} meanings[] = {
	{ "commit.on_cpu.p50 < +5%", "commit", GATE_VALUE, SPAN_VALUE_ON_CPU, 0.5, "", GATE_LESS,
	  GATE_RELATIVE, 0.05 },
	{ "*.blocked.lock.mean < +0.5ms", "*", GATE_VALUE, SPAN_VALUE_REASON + TXTRACE_BLOCK_LOCK, 0, "",
	  GATE_LESS, GATE_DIFFERENCE, 5e5 },
	{ "tx.wall.p99 < 20ms", "tx", GATE_VALUE, SPAN_VALUE_WALL, 0.99, "", GATE_LESS, GATE_ABSOLUTE, 2e7 },
	{ "tx.wall.p99.9<=1s", "tx", GATE_VALUE, SPAN_VALUE_WALL, 0.999, "", GATE_AT_MOST, GATE_ABSOLUTE,
	  1e9 },
	{ "tx.blocked.p50 < 3us", "tx", GATE_VALUE, SPAN_VALUE_BLOCKED, 0.5, "", GATE_LESS, GATE_ABSOLUTE,
	  3e3 },
	{ "tx.blocked < 3us", "tx", GATE_VALUE, SPAN_VALUE_BLOCKED, 0, "", GATE_LESS, GATE_ABSOLUTE, 3e3 },
	{ "tx.self_on_cpu > -10%", "tx", GATE_VALUE, COMPARE_VALUE_SELF_ON_CPU, 0, "", GATE_MORE,
	  GATE_RELATIVE, -0.1 },
	{ "tx.calls.fsync <= 1", "tx", GATE_CALLS, 0, 0, "fsync", GATE_AT_MOST, GATE_ABSOLUTE, 1 },
	{ "tx.calls.\"db.get\".mean < +0.1", "tx", GATE_CALLS, 0, 0, "db.get", GATE_LESS, GATE_DIFFERENCE,
	  0.1 },
	{ "tx.blocks.disk < 2", "tx", GATE_BLOCKS, 0, 0, "disk", GATE_LESS, GATE_ABSOLUTE, 2 },
	{ "tx.waits_on.flush < 1ms", "tx", GATE_WAITS_ON, 0, 0, "flush", GATE_LESS, GATE_ABSOLUTE, 1e6 },
	{ "tx.held_by.flush < +1us", "tx", GATE_HELD_BY, 0, 0, "flush", GATE_LESS, GATE_DIFFERENCE, 1e3 },
	{ "tx.count >= 100", "tx", GATE_COUNT, 0, 0, "", GATE_AT_LEAST, GATE_ABSOLUTE, 100 },
	{ "anomalies == 0", "anomalies", GATE_ANOMALIES, 0, 0, "", GATE_EQUAL, GATE_ABSOLUTE, 0 },
	{ "anomalies.begin_twice == 0", "anomalies", GATE_ANOMALIES, 0, 0, "begin_twice", GATE_EQUAL,
	  GATE_ABSOLUTE, 0 },
	{ "lower_bounds < 1%", "lower_bounds", GATE_LOWER_BOUNDS, 0, 0, "", GATE_LESS, GATE_ABSOLUTE, 0.01 },
	{ "tx.lower_bounds < 1%", "tx", GATE_LABEL_LOWER_BOUNDS, 0, 0, "", GATE_LESS, GATE_ABSOLUTE, 0.01 },
	{ "lost == 0", "lost", GATE_LOST, 0, 0, "", GATE_EQUAL, GATE_ABSOLUTE, 0 },
	{ "\"a.b \\\"c\\\" *\".wall < 1ns", "a.b \"c\" *", GATE_VALUE, SPAN_VALUE_WALL, 0, "", GATE_LESS,
	  GATE_ABSOLUTE, 1 },
	{ "t[xy]?.wall == 0", "t[xy]?", GATE_VALUE, SPAN_VALUE_WALL, 0, "", GATE_EQUAL, GATE_ABSOLUTE, 0 },
	{ "  tx.wall < 5\xc2\xb5s  # quickly", "tx", GATE_VALUE, SPAN_VALUE_WALL, 0, "", GATE_LESS,
	  GATE_ABSOLUTE, 5e3 },
};

static void test_what_rules_mean(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		struct gate_rules rules = { 0 };
		struct gate_rule rule = parsed(&rules, meanings[i].text);

		assert_string_equal(rule.label, meanings[i].label);
		assert_int_equal(rule.subject, meanings[i].subject);
		assert_int_equal(rule.value, meanings[i].value);
		assert_string_equal(rule.name, meanings[i].name);
		assert_int_equal(rule.operator, meanings[i].operator);
		assert_int_equal(rule.limit_kind, meanings[i].kind);
		assert_true(fabs(rule.percentile - meanings[i].percentile) < 1e-9);
		assert_true(fabs(rule.limit - meanings[i].limit) <= fabs(meanings[i].limit) * 1e-9);
		assert_int_equal(rule.is_literal, meanings[i].text[0] == '"');
		gate_rules_release(&rules);
	}
}

static void test_many(void **state)
{
	struct gate_rules rules = { 0 };
	struct error error = { "" };

	(void)state;
	assert_int_equal(
		gate_rules_parse(
			&rules, "# limits\n\n a.wall < 1ms ; b.wall<2ms;;\n\"x;#y\".wall < 3ms # ; no.rule\n",
			"rules", &error),
		0);
	assert_int_equal(gate_rules_parse(&rules, "lost == 0", "more", &error), 0);
	assert_int_equal(rules.cnt, 4);
	assert_string_equal(rules.rules[0].text, "a.wall < 1ms");
	assert_int_equal(rules.rules[1].line, 3);
	assert_string_equal(rules.rules[2].label, "x;#y");
	assert_int_equal(rules.rules[2].line, 4);
	gate_rules_release(&rules);
}

static void test_complaints(void **state)
{
	static const struct {
		const char *text, *sentence;
	} rows[] = {
		{ "tx", "rules, line 1, column 3: which figure of 'tx'? such as tx.wall.p99" },
		{ "tx.wal < 1ms", "rules, line 1, column 4: unknown figure 'wal', did you mean 'wall'?" },
		{ "a.b.wall < 1ms", "rules, line 1, column 3: unknown figure 'b'; put a label with a dot "
				    "in quotes: \"a.b\".wall.mean < 20ms" },
		{ "tx.wall < 20",
		  "rules, line 1, column 13: a time has a unit: ns, us, ms or s; a change may be in %" },
		{ "tx.wall < 5%", "rules, line 1, column 12: a change in percent has a sign: < +5%" },
		{ "tx.wall < 20h",
		  "rules, line 1, column 13: unknown unit 'h': ns, us, ms, s, or, of a change, %" },
		{ "tx.wall 20ms", "rules, line 1, column 9: <, <=, ==, >= or > is missing here" },
		{ "tx.wall = 20ms", "rules, line 1, column 9: <, <=, ==, >= or > is missing here" },
		{ "tx.wall <", "rules, line 1, column 10: a number is missing here, such as 20ms, +5% or 1" },
		{ "tx.wall < nan",
		  "rules, line 1, column 11: a number is missing here, such as 20ms, +5% or 1" },
		{ "tx.wall < 0x10ms",
		  "rules, line 1, column 12: unknown unit 'x10ms': ns, us, ms, s, or, of a change, %" },
		{ "tx.wall < 1.2.3ms", "rules, line 1, column 11: '1.2.3' is no number" },
		{ "tx.wall.p0 < 1ms", "rules, line 1, column 9: 'p0' is no statistic: mean, or a percentile, "
				      "such as p50 or p99.9" },
		{ "tx.wall.p100 < 1ms", "rules, line 1, column 9: 'p100' is no statistic: mean, or a "
					"percentile, such as p50 or p99.9" },
		{ "tx.wall.max < 1ms", "rules, line 1, column 9: 'max' is no statistic: mean, or a "
				       "percentile, such as p50 or p99.9" },
		{ "tx.calls.fsync.p99 < 1", "rules, line 1, column 16: 'p99' is no statistic: mean" },
		{ "tx.calls <= 1", "rules, line 1, column 9: of what? calls.NAME" },
		{ "tx.blocked.luck < 1ms",
		  "rules, line 1, column 12: 'luck' is no reason to be blocked, and no statistic" },
		{ "anomalies.none == 0", "rules, line 1, column 11: unknown anomaly 'none'" },
		{ "anomalies < +1", "rules, line 1, column 13: of the whole log there are no changes: give a "
				    "limit without a sign" },
		{ "tx.wall == +5%",
		  "rules, line 1, column 1: a change can't be held to ==: give a limit with < or >" },
		{ "tx.wall < 1ms tx.wall < 2ms", "rules, line 1, column 15: the rule has ended before this; "
						 "; or a new line begins another one" },
		{ "lost == 0\n  \"tx.wall < 1ms",
		  "rules, line 2, column 3: the quote that begins here has no end" },
		{ ".wall < 1ms",
		  "rules, line 1, column 1: a label, or a figure of the whole log, is missing here" },
		{ "tx. < 1ms",
		  "rules, line 1, column 4: the figure, such as wall or on_cpu, is missing here" },
		{ "tx.wall < 1ms; tx.wal\x1b < 1ms",
		  "rules, line 1, column 19: unknown figure 'wal\\x1b', did you mean 'wall'?" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gate_rules rules = { 0 };
		struct error error = { "" };

		assert_int_equal(gate_rules_parse(&rules, rows[i].text, "rules", &error), -EINVAL);
		assert_string_equal(error.text, rows[i].sentence);
		gate_rules_release(&rules);
	}
}

static void test_limits(void **state)
{
	char text[600] = "";
	struct gate_rules rules = { 0 };
	struct error error = { "" };

	(void)state;
	memset(text, 'x', 300);
	strcat(text, ".wall < 1ms");
	assert_int_equal(gate_rules_parse(&rules, text, "rules", &error), -EINVAL);
	assert_string_equal(
		error.text,
		"rules, line 1, column 1: the name is too long, at most 255 bytes can be compared");
	gate_rules_release(&rules);
	for (int i = 0; i < GATE_RULES_MAX; i++)
		assert_int_equal(gate_rules_parse(&rules, "lost == 0", "rules", &error), 0);
	assert_int_equal(gate_rules_parse(&rules, "lost == 0", "rules", &error), -EINVAL);
	gate_rules_release(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_rules_mean),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_complaints),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
