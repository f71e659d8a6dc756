/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules of a gate. Whatever the text: rules or one sentence; each rule's label and names end, its numbers are
 * numbers, and its own text, parsed alone, is the same rule again.
 */
#include <errno.h>
#include <math.h>

#include "analyze/compare/gate_rule.h"
#include "fuzz/fuzz.h"

static void law_of_one_rule(const struct gate_rule *rule)
{
	LAW(rule->text && rule->line >= 1);
	LAW(memchr(rule->label, '\0', sizeof(rule->label)) && memchr(rule->name, '\0', sizeof(rule->name)));
	LAW(rule->subject < GATE_SUBJECT_COUNT && rule->operator<= GATE_MORE &&
						  rule->limit_kind <= GATE_RELATIVE);
	LAW(isfinite(rule->limit) && rule->percentile >= 0 && rule->percentile < 1);
}

static void law_of_itself(const struct gate_rule *rule)
{
	struct gate_rules again = { 0 };
	struct error error = { "" };

	LAW(gate_rules_parse(&again, rule->text, "again", &error) == 0 && again.cnt == 1);
	LAW(strcmp(again.rules[0].text, rule->text) == 0 && strcmp(again.rules[0].label, rule->label) == 0 &&
	    strcmp(again.rules[0].name, rule->name) == 0);
	LAW(again.rules[0].subject == rule->subject && again.rules[0].limit == rule->limit &&
	    again.rules[0].percentile == rule->percentile);
	LAW(again.rules[0]
		    .
		    operator== rule->
		    operator&& again.rules[0]
		    .limit_kind == rule->limit_kind && again.rules[0]
		    .is_literal == rule->is_literal);
	gate_rules_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gate_rules rules = { 0 };
	struct error error = { "" };
	char *text = malloc(size + 1);
	int err;

	LAW(text);
	memcpy(text, data, size);
	text[size] = '\0';
	err = gate_rules_parse(&rules, text, "the rules", &error);
	LAW(err == 0 || err == -EINVAL);
	LAW((err == 0) == (error.text[0] == '\0'));
	LAW(rules.cnt <= GATE_RULES_MAX);
	for (size_t i = 0; i < rules.cnt && err == 0; i++) {
		law_of_one_rule(&rules.rules[i]);
		law_of_itself(&rules.rules[i]);
	}
	gate_rules_release(&rules);
	free(text);
	return 0;
}
