/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two sides whose truth is known, compared as a whole: what is the same, what changed and whose that is, what
 * can't be told, labels that came and went, gates.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/comparison.h"
#include "analyze/compare/explanation.h"
#include "analyze/compare/gate.h"

#define US 1000.0

/* What one label takes for itself, in µs, and how much more on the new side. */
struct world_label {
	const char *name[2]; /* NULL: that side lacks it */
	double on_cpu, lock, runnable;
	double on_cpu_factor, lock_factor, runnable_factor;
	const char *calls[2]; /* its one child is of this label; NULL: it has none */
};

static double normal(struct seeded_random *random)
{
	return sqrt(-2 * log(1 - seeded_random_unit(random))) *
	       cos(2 * 3.14159265358979323846 * seeded_random_unit(random));
}

static struct txtrace_string string(const char *text)
{
	return (struct txtrace_string){ text, strlen(text) };
}

static void add_unit(struct run_set *set, const struct world_label *world, int side, uint32_t run,
		     double code, double machine)
{
	double on_cpu = world->on_cpu * US * code * (side ? world->on_cpu_factor : 1),
	       lock = world->lock * US * code * (side ? world->lock_factor : 1);
	double runnable = world->runnable * US * machine * (side ? world->runnable_factor : 1);
	struct label_unit *unit;
	uint32_t label, key;

	assert_int_equal(run_set_label(set, string(world->name[side]), &label), 0);
	unit = run_set_add_unit(set, label, side, run);
	assert_non_null(unit);
	unit->cnt = 1000;
	for (unsigned int value = 0; value < COMPARE_VALUE_COUNT; value++)
		unit->tail[value] = NAN;
	unit->mean[SPAN_VALUE_WALL] = unit->mean[SPAN_VALUE_WORK] = unit->mean[COMPARE_VALUE_SELF] = on_cpu +
												     lock +
												     runnable;
	unit->mean[SPAN_VALUE_ON_CPU] = unit->mean[COMPARE_VALUE_SELF_ON_CPU] = on_cpu;
	unit->mean[SPAN_VALUE_REASON] = unit->mean[SPAN_VALUE_BLOCKED] = lock;
	unit->mean[SPAN_VALUE_RUNNABLE] = runnable;
	unit->extras = calloc(2, sizeof(*unit->extras));
	if (!world->calls[side])
		return;
	assert_int_equal(run_set_add_key(set, EXTRA_CHILDREN, string(world->calls[side]), &key), 0);
	unit->extras[unit->extra_cnt++] = (struct label_extra){ key, 1 };
}

/*
 * So many runs a side, each with a mood of its own: `noise` of all that is the code's, four times as much of
 * the machine's.
 */
static void make(struct run_set *set, const struct world_label *labels, size_t label_cnt,
		 const size_t run_cnt[2], double noise, struct seeded_random *random)
{
	assert_int_equal(run_set_init(set), 0);
	run_set_divide(set, run_cnt);
	for (int side = 0; side < 2; side++) {
		for (uint32_t run = 0; run < run_cnt[side]; run++) {
			double mood = noise * normal(random);
			struct compare_run *added;

			assert_int_equal(run_set_add_run(set, (enum compare_side)side, "run", 1, &added), 0);
			added->census.has_summary = true;
			for (size_t i = 0; i < label_cnt; i++) {
				if (labels[i].name[side])
					add_unit(set, &labels[i], side, run,
						 exp(mood + noise / 2 * normal(random)),
						 exp(4 * noise * normal(random)));
			}
		}
	}
}

static void compare(struct comparison *comparison, const struct run_set *set)
{
	struct comparison_options options = COMPARISON_DEFAULTS;

	assert_int_equal(comparison_init(comparison, set, &options), 0);
}

static bool is_label(const struct run_set *set, uint32_t label, const char *name)
{
	struct txtrace_string its_name = set->by_label[label]->name;

	return its_name.length == strlen(name) && memcmp(its_name.bytes, name, its_name.length) == 0;
}

static enum verdict verdict_of(const struct comparison *comparison, const char *label, unsigned int value)
{
	struct metric metric = { .kind = METRIC_VALUE, .value = value };
	uint32_t number = string_pool_find(comparison->set->labels, label, strlen(label));
	const struct compared_figure *figure = comparison_find(comparison, number, &metric);

	assert_non_null(figure);
	return figure->verdict;
}

#define SAME 1, 1, 1

static void test_identical(void **state)
{
	static const struct world_label labels[] = { { { "a", "a" }, 100, 50, 20, SAME, { NULL } },
						     { { "b", "b" }, 300, 0, 20, SAME, { "a", "a" } } };
	struct comparison comparison;
	struct seeded_random random;
	struct run_set set;

	(void)state;
	seeded_random_init(&random, 1);
	make(&set, labels, 2, (size_t[2]){ 6, 6 }, 0, &random);
	compare(&comparison, &set);
	assert_int_equal(comparison.verdict_cnt[VERDICT_SAME], comparison.figure_cnt);
	assert_true(comparison.figure_cnt >= 12);
	assert_int_equal(comparison.code, VERDICT_SAME);
	assert_int_equal(comparison.machine, VERDICT_SAME);
	comparison_release(&comparison);
	run_set_release(&set);
}

static void test_slower_code(void **state)
{
	static const struct world_label labels[] = { { { "a", "a" }, 100, 50, 20, 1.2, 1, 1, { NULL } },
						     { { "b", "b" }, 300, 10, 20, SAME, { NULL } } };
	struct comparison comparison;
	struct explanation explanation;
	struct seeded_random random;
	struct run_set set;

	(void)state;
	seeded_random_init(&random, 2);
	make(&set, labels, 2, (size_t[2]){ 8, 8 }, 0.01, &random);
	compare(&comparison, &set);
	assert_int_equal(comparison.code, VERDICT_WORSE);
	assert_int_equal(verdict_of(&comparison, "a", SPAN_VALUE_ON_CPU), VERDICT_WORSE);
	assert_int_not_equal(verdict_of(&comparison, "a", SPAN_VALUE_REASON), VERDICT_WORSE);
	assert_int_not_equal(verdict_of(&comparison, "b", SPAN_VALUE_ON_CPU), VERDICT_WORSE);
	assert_int_not_equal(comparison.machine, VERDICT_WORSE);
	/* What matters most is first: the label that changed; and the interval holds the truth. */
	assert_true(is_label(&set, comparison.figures[0].label, "a"));
	explanation_find(&explanation, &comparison, &comparison.figures[0]);
	assert_int_equal(explanation.parts[0].value, SPAN_VALUE_ON_CPU);
	assert_true(explanation.is_own);
	for (size_t i = 0; i < comparison.figure_cnt; i++) {
		const struct compared_figure *figure = &comparison.figures[i];

		if (figure->metric.value == SPAN_VALUE_ON_CPU && figure->verdict == VERDICT_WORSE)
			assert_true(figure->effect.relative_interval.low < 0.2 &&
				    figure->effect.relative_interval.high > 0.2);
	}
	comparison_release(&comparison);
	run_set_release(&set);
}

/*
 * Twice as much of what is next to nothing of its wall time, which the machine makes long: of on-CPU time
 * that does not count.
 */
static void test_little_code_that_waits_long(void **state)
{
	static const struct world_label labels[] = { { { "a", "a" }, 10, 0, 20000, 2, 1, 1, { NULL } } };
	struct comparison comparison;
	struct seeded_random random;
	struct run_set set;

	(void)state;
	seeded_random_init(&random, 3);
	make(&set, labels, 1, (size_t[2]){ 8, 8 }, 0.01, &random);
	compare(&comparison, &set);
	assert_int_equal(verdict_of(&comparison, "a", SPAN_VALUE_ON_CPU), VERDICT_WORSE);
	assert_int_equal(verdict_of(&comparison, "a", COMPARE_VALUE_SELF_ON_CPU), VERDICT_WORSE);
	comparison_release(&comparison);
	run_set_release(&set);
}

static void test_busy_machine(void **state)
{
	static const struct world_label labels[] = { { { "a", "a" }, 100, 50, 20, 1, 1, 5, { NULL } } };
	struct comparison comparison;
	struct seeded_random random;
	struct run_set set;

	(void)state;
	seeded_random_init(&random, 3);
	make(&set, labels, 1, (size_t[2]){ 8, 8 }, 0.003, &random);
	compare(&comparison, &set);
	assert_int_equal(verdict_of(&comparison, "a", SPAN_VALUE_WALL), VERDICT_WORSE);
	assert_int_equal(verdict_of(&comparison, "a", SPAN_VALUE_RUNNABLE), VERDICT_WORSE);
	assert_int_equal(comparison.machine, VERDICT_WORSE);
	assert_int_equal(comparison.code, VERDICT_SAME);
	comparison_release(&comparison);
	run_set_release(&set);
}

static void test_too_few(void **state)
{
	static const struct world_label labels[] = { { { "a", "a" }, 100, 50, 20, 1.5, 1, 1, { NULL } } };
	struct comparison comparison;
	struct seeded_random random;
	struct run_set set;

	(void)state;
	seeded_random_init(&random, 4);
	make(&set, labels, 1, (size_t[2]){ 3, 3 }, 0.01, &random);
	compare(&comparison, &set);
	assert_int_equal(comparison.code, VERDICT_CANT_TELL);
	assert_int_equal(comparison.verdict_cnt[VERDICT_WORSE], 0);
	assert_int_equal(verdict_of(&comparison, "a", SPAN_VALUE_ON_CPU), VERDICT_CANT_TELL);
	assert_int_equal(comparison.units_least, 5);
	for (size_t i = 0; i < comparison.figure_cnt; i++) {
		if (comparison.figures[i].metric.value == SPAN_VALUE_ON_CPU)
			assert_int_equal(comparison.figures[i].units_needed, 5);
	}
	comparison_release(&comparison);
	run_set_release(&set);
}

/*
 * A label renamed, one that vanished, one that is new and like none; children of the renamed one are no
 * change of who calls it.
 */
static void test_labels_that_come_and_go(void **state)
{
	static const struct world_label labels[] = {
		{ { "parse", "lex" }, 100, 50, 20, SAME, { NULL } },
		{ { "old", NULL }, 10, 0, 0, SAME, { NULL } },
		{ { NULL, "new" }, 900, 0, 0, SAME, { NULL } },
		{ { "tx", "tx" }, 500, 0, 10, SAME, { "parse", "lex" } },
	};
	struct comparison comparison;
	struct seeded_random random;
	struct run_set set;
	size_t seen_cnt = 0;

	(void)state;
	seeded_random_init(&random, 5);
	make(&set, labels, 4, (size_t[2]){ 6, 6 }, 0.01, &random);
	compare(&comparison, &set);
	assert_int_equal(comparison.change_cnt, 4);
	for (size_t i = 0; i < comparison.change_cnt; i++) {
		const struct label_change *change = &comparison.changes[i];
		bool is_lex = is_label(&set, change->label, "lex"),
		     is_parse = is_label(&set, change->label, "parse");

		seen_cnt += change->span_cnt == 6000;
		if (is_lex || is_parse)
			assert_true(is_label(&set, change->renamed, is_lex ? "parse" : "lex"));
		else
			assert_int_equal(change->renamed, STRING_POOL_NONE);
		assert_int_equal(change->side,
				 is_lex || is_label(&set, change->label, "new") ? SIDE_NEW : SIDE_BASE);
	}
	assert_int_equal(seen_cnt, 4);
	assert_int_equal(comparison.verdict_cnt[VERDICT_WORSE], 0);
	comparison_release(&comparison);
	run_set_release(&set);
}

/* ---- how often ---- */

static const struct world_label same_labels[] = {
	{ { "a", "a" }, 100, 50, 20, SAME, { NULL } },
	{ { "b", "b" }, 300, 0, 20, SAME, { "a", "a" } },
	{ { "c", "c" }, 50, 400, 20, SAME, { NULL } },
};

static const struct world_label slower_labels[] = {
	{ { "a", "a" }, 100, 50, 20, 1.05, 1, 1, { NULL } },
	{ { "b", "b" }, 300, 0, 20, SAME, { "a", "a" } },
	{ { "c", "c" }, 50, 400, 20, SAME, { NULL } },
};

/*
 * 1 % of 200 is 2, with a standard deviation of 1.4. And 5 % more, with 1 % of noise, 10 runs a side: found,
 * and named rightly.
 */
static void test_false_alarms_and_power(void **state)
{
	unsigned int alarm_cnt = 0, found_cnt = 0, wrong_cnt = 0;
	struct comparison comparison;
	struct seeded_random random;
	struct run_set set;

	(void)state;
	seeded_random_init(&random, 6);
	for (int i = 0; i < 200; i++) {
		make(&set, same_labels, 3, (size_t[2]){ 6, 6 }, 0.02, &random);
		compare(&comparison, &set);
		alarm_cnt += comparison.verdict_cnt[VERDICT_WORSE] > 0 ||
			     comparison.verdict_cnt[VERDICT_BETTER] > 0;
		comparison_release(&comparison);
		run_set_release(&set);
	}
	for (int i = 0; i < 60; i++) {
		make(&set, slower_labels, 3, (size_t[2]){ 10, 10 }, 0.01, &random);
		compare(&comparison, &set);
		found_cnt += verdict_of(&comparison, "a", SPAN_VALUE_ON_CPU) == VERDICT_WORSE;
		wrong_cnt += verdict_of(&comparison, "b", SPAN_VALUE_ON_CPU) == VERDICT_WORSE ||
			     verdict_of(&comparison, "c", SPAN_VALUE_ON_CPU) == VERDICT_WORSE;
		comparison_release(&comparison);
		run_set_release(&set);
	}
	print_message("# of 200 comparisons of what is the same, %u found a change; of 60 with 5 %% more "
		      "on-CPU in one label, %u found it, "
		      "and %u another one\n",
		      alarm_cnt, found_cnt, wrong_cnt);
	assert_in_range(alarm_cnt, 0, 6);
	assert_true(found_cnt >= 57);
	assert_in_range(wrong_cnt, 0, 3);
}

/* ---- gates ---- */

static enum gate_result gate_of(const struct run_set *set, const char *text, bool has_base,
				struct gate_case *first)
{
	struct comparison_options options = COMPARISON_DEFAULTS;
	struct gate_rules rules = { 0 };
	struct error error = { "" };
	enum gate_result result;
	struct gate gate;

	if (gate_rules_parse(&rules, text, "rules", &error))
		fail_msg("%s", error.text);
	assert_int_equal(gate_init(&gate, &rules, set, &options, has_base), 0);
	result = gate.result;
	if (first && gate.case_cnt > 0)
		*first = gate.cases[0];
	gate_release(&gate);
	gate_rules_release(&rules);
	return result;
}

static void test_gates(void **state)
{
	static const struct world_label labels[] = { { { "a", "a" }, 100, 50, 20, 1.2, 1, 1, { "b", "b" } },
						     { { "b", "b" }, 300, 10, 20, SAME, { NULL } } };
	static const struct {
		const char *rules;
		enum gate_result result;
	} rows[] = {
		{ "a.on_cpu < +5%", GATE_REGRESSED },
		{ "a.on_cpu < +40%", GATE_HOLDS },
		{ "a.on_cpu < +20%", GATE_CANT_TELL }, /* that is what it is */
		{ "a.on_cpu < +10us", GATE_REGRESSED },
		{ "a.on_cpu < +50us", GATE_HOLDS },
		{ "b.on_cpu < +5%", GATE_HOLDS },
		{ "*.on_cpu < +5%", GATE_REGRESSED },
		{ "b.on_cpu > -5%", GATE_HOLDS },
		{ "b.on_cpu > +5%", GATE_REGRESSED },
		{ "a.wall < 1ms", GATE_HOLDS },
		{ "a.wall < 100us", GATE_REGRESSED },
		{ "a.blocked.disk < 1us", GATE_HOLDS },
		{ "a.blocked.disk < +5%", GATE_HOLDS }, /* nothing, and nothing more */
		{ "a.calls.b <= 1; a.calls.b >= +0", GATE_HOLDS },
		{ "a.calls.nobody <= 1", GATE_ERROR },
		{ "nobody.wall < 1s", GATE_ERROR },
		{ "a.wall < 1s; nobody.wall < 1s", GATE_ERROR },
		{ "\"*\".wall < 1s", GATE_ERROR }, /* in quotes it is a label */
		{ "a.wall.p99 < 1s", GATE_CANT_TELL }, /* it was not sampled */
		{ "anomalies == 0; lost == 0; lower_bounds == 0; dropped == 0; damaged == 0", GATE_HOLDS },
		{ "lower_bounds < 1%", GATE_CANT_TELL }, /* the census of these runs has no spans */
	};
	struct seeded_random random;
	struct gate_case one;
	struct run_set set;

	(void)state;
	seeded_random_init(&random, 7);
	make(&set, labels, 2, (size_t[2]){ 8, 8 }, 0.01, &random);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum gate_result result = gate_of(&set, rows[i].rules, true, NULL);

		if (result != rows[i].result)
			fail_msg("'%s': %s, not %s", rows[i].rules, gate_result_names[result],
				 gate_result_names[rows[i].result]);
	}
	assert_int_equal(gate_of(&set, "a.on_cpu < +20%", true, &one), GATE_CANT_TELL);
	assert_true(one.units_needed > 8);
	assert_int_equal(gate_of(&set, "a.on_cpu < +20%", false, NULL), GATE_ERROR);
	set.runs[SIDE_NEW][3].census.has_summary = false;
	assert_int_equal(gate_of(&set, "anomalies == 0", true, NULL), GATE_CANT_TELL);
	set.runs[SIDE_NEW][2].census.summary.anomaly_cnt[TXTRACE_ANOMALY_BEGIN_TWICE] = 1;
	assert_int_equal(gate_of(&set, "anomalies == 0", true, NULL), GATE_REGRESSED);
	run_set_release(&set);
}

/*
 * The median of 10,000 spans can't be told if 6,000 more never ended; the mean of 8 runs of which some are
 * above a limit decides by its interval.
 */
static void test_figures_of_the_new_side(void **state)
{
	static const struct world_label labels[] = { { { "a", "a" }, 100, 0, 0, SAME, { NULL } } };
	struct seeded_random random;
	struct run_set set;

	(void)state;
	seeded_random_init(&random, 8);
	make(&set, labels, 1, (size_t[2]){ 8, 8 }, 0.02, &random);
	assert_int_equal(gate_of(&set, "a.on_cpu < 100us", true, NULL), GATE_CANT_TELL);
	assert_int_equal(gate_of(&set, "a.on_cpu < 102.5us", true, NULL), GATE_HOLDS);
	assert_int_equal(gate_of(&set, "a.on_cpu < 97us", true, NULL), GATE_REGRESSED);
	assert_int_equal(run_set_want(&set, SPAN_VALUE_ON_CPU, 0.5), 0);
	for (size_t i = 0; i < 8; i++) {
		struct label_unit *unit = &set.by_label[0]->units[SIDE_NEW][i];

		unit->percentiles = calloc(COMPARE_VALUE_COUNT, sizeof(*unit->percentiles));
		unit->percentiles[SPAN_VALUE_ON_CPU] = 90000;
	}
	assert_int_equal(gate_of(&set, "a.on_cpu.p50 < 100us", true, NULL), GATE_HOLDS);
	set.by_label[0]->units[SIDE_NEW][5].lower_bound_cnt = 1001;
	assert_int_equal(gate_of(&set, "a.on_cpu.p50 < 100us", true, NULL), GATE_CANT_TELL);
	assert_int_equal(gate_of(&set, "a.on_cpu.p50 < 80us", true, NULL), GATE_REGRESSED);
	run_set_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identical),
		cmocka_unit_test(test_slower_code),
		cmocka_unit_test(test_little_code_that_waits_long),
		cmocka_unit_test(test_busy_machine),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_labels_that_come_and_go),
		cmocka_unit_test(test_false_alarms_and_power),
		cmocka_unit_test(test_gates),
		cmocka_unit_test(test_figures_of_the_new_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
