/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/gate_rule.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/metric.h"
#include "base/near_miss.h"

const char *const gate_operators[] = { "<", "<=", "==", ">=", ">", NULL };

/* What may stand behind a label, and alone. */
static const struct {
	const char *word;
	enum gate_subject subject;
	bool takes_name;
} label_words[] = {
	{ "calls", GATE_CALLS, true }, { "blocks", GATE_BLOCKS, true }, { "waits_on", GATE_WAITS_ON, true },
	{ "count", GATE_COUNT, false },
	{ "held_by", GATE_HELD_BY, true }, { "lower_bounds", GATE_LABEL_LOWER_BOUNDS, false },
}, log_words[] = {
	{ "anomalies", GATE_ANOMALIES, false }, { "lower_bounds", GATE_LOWER_BOUNDS, false }, { "lost",
	GATE_LOST, false },
	{ "dropped", GATE_DROPPED, false }, { "damaged", GATE_DAMAGED, false },
};

struct rule_parser {
	const char *source;
	const char *begin; /* of the rule */
	const char *at;
	const char *end;
	size_t line;
	struct gate_rule *rule;
	struct error *error;
};

__attribute__((format(printf, 3, 4))) static int complain(struct rule_parser *parser, const char *at,
							  const char *format, ...)
{
	char sentence[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(sentence, sizeof(sentence), format, arguments);
	va_end(arguments);
	error_set(parser->error, "%s, line %zu, column %zu: %s", parser->source, parser->line,
		  (size_t)(at - parser->begin) + 1, sentence);
	return -EINVAL;
}

static void skip_blanks(struct rule_parser *parser)
{
	while (parser->at < parser->end && isspace((unsigned char)*parser->at))
		parser->at++;
}

/* ---- names ---- */

static int read_quoted(struct rule_parser *parser, char *to)
{
	const char *begin = parser->at++;
	size_t length = 0;

	for (; parser->at < parser->end && *parser->at != '"'; parser->at++) {
		if (*parser->at == '\\' && parser->at + 1 < parser->end && strchr("\"\\", parser->at[1]))
			parser->at++;
		if (length == GATE_NAME_MAX - 1)
			return complain(parser, begin,
					"the name is too long, at most %d bytes can be compared",
					GATE_NAME_MAX - 1);
		to[length++] = *parser->at;
	}
	if (parser->at == parser->end)
		return complain(parser, begin, "the quote that begins here has no end");
	parser->at++;
	to[length] = '\0';
	return 0;
}

static bool is_of_name(char byte)
{
	return !isspace((unsigned char)byte) && !strchr(".<>=\"", byte);
}

/* Up to the next dot, blank or operator, or a quoted one. */
static int read_name(struct rule_parser *parser, const char *what, char *to, bool *is_quoted)
{
	const char *begin = parser->at;
	size_t length = 0;

	*is_quoted = parser->at < parser->end && *parser->at == '"';
	if (*is_quoted)
		return read_quoted(parser, to);
	while (parser->at < parser->end && is_of_name(*parser->at)) {
		if (length == GATE_NAME_MAX - 1)
			return complain(parser, begin,
					"the name is too long, at most %d bytes can be compared",
					GATE_NAME_MAX - 1);
		to[length++] = *parser->at++;
	}
	to[length] = '\0';
	return length > 0 ? 0 : complain(parser, begin, "%s is missing here", what);
}

static bool take(struct rule_parser *parser, char byte)
{
	if (parser->at == parser->end || *parser->at != byte)
		return false;
	parser->at++;
	return true;
}

/* ---- what is measured ---- */

static int find_value(const char *name)
{
	for (unsigned int value = 0; value < COMPARE_VALUE_COUNT; value++) {
		if (strcmp(metric_value_name(value), name) == 0)
			return (int)value;
	}
	return -1;
}

static int unknown_word(struct rule_parser *parser, const char *at, const char *word)
{
	struct near_miss near_miss;

	near_miss_init(&near_miss, word);
	for (unsigned int value = 0; value < COMPARE_VALUE_COUNT; value++)
		near_miss_offer(&near_miss, metric_value_name(value));
	for (size_t i = 0; i < sizeof(label_words) / sizeof(label_words[0]); i++)
		near_miss_offer(&near_miss, label_words[i].word);
	if (near_miss.best)
		return complain(parser, at, "unknown figure '%s', did you mean '%s'?", word, near_miss.best);
	return complain(parser, at,
			"unknown figure '%s'; put a label with a dot in quotes: \"a.b\".wall.mean < 20ms",
			word);
}

static int read_statistic(struct rule_parser *parser)
{
	struct gate_rule *rule = parser->rule;
	const char *at = parser->at;
	char word[32] = "", *end = word;
	size_t length = 0;

	while (parser->at < parser->end && length < sizeof(word) - 1 &&
	       (isalnum((unsigned char)*parser->at) || *parser->at == '.'))
		word[length++] = *parser->at++;
	if (strcmp(word, "mean") == 0)
		return 0;
	if (rule->subject == GATE_VALUE && word[0] == 'p' && isdigit((unsigned char)word[1]))
		rule->percentile = strtod(word + 1, &end) / 100;
	if (*end || end == word || rule->percentile <= 0 || rule->percentile >= 1)
		return complain(parser, at, "'%s' is no statistic: mean%s", word,
				rule->subject == GATE_VALUE ? ", or a percentile, such as p50 or p99.9" : "");
	return 0;
}

/* blocked, or blocked.REASON: what follows is a reason unless it is a statistic. */
static int read_reason(struct rule_parser *parser)
{
	struct rule_parser ahead = *parser;
	char reason[GATE_NAME_MAX], name[GATE_NAME_MAX + 16];
	bool is_quoted;
	int value;

	if (!take(&ahead, '.') || read_name(&ahead, "a reason", reason, &is_quoted))
		return 0;
	snprintf(name, sizeof(name), "blocked.%s", reason);
	value = find_value(name);
	if (value >= 0) {
		parser->rule->value = (unsigned int)value;
		parser->at = ahead.at;
	} else if (strcmp(reason, "mean") != 0 && !(reason[0] == 'p' && isdigit((unsigned char)reason[1]))) {
		return complain(parser, parser->at + 1, "'%s' is no reason to be blocked, and no statistic",
				reason);
	}
	return 0;
}

static int read_label_figure(struct rule_parser *parser)
{
	struct gate_rule *rule = parser->rule;
	const char *at = parser->at;
	char word[GATE_NAME_MAX];
	bool is_quoted;
	int err = read_name(parser, "the figure, such as wall or on_cpu,", word, &is_quoted), value;

	if (err)
		return err;
	value = is_quoted ? -1 : find_value(word);
	if (value >= 0) {
		rule->subject = GATE_VALUE;
		rule->value = (unsigned int)value;
		err = rule->value == SPAN_VALUE_BLOCKED ? read_reason(parser) : 0;
		return err || !take(parser, '.') ? err : read_statistic(parser);
	}
	for (size_t i = 0; i < sizeof(label_words) / sizeof(label_words[0]); i++) {
		if (is_quoted || strcmp(word, label_words[i].word) != 0)
			continue;
		rule->subject = label_words[i].subject;
		if (label_words[i].takes_name && !take(parser, '.'))
			return complain(parser, parser->at, "of what? %s.NAME", word);
		err = label_words[i].takes_name ? read_name(parser, "a name", rule->name, &is_quoted) : 0;
		return err || !take(parser, '.') ? err : read_statistic(parser);
	}
	return unknown_word(parser, at, word);
}

static int read_subject(struct rule_parser *parser)
{
	struct gate_rule *rule = parser->rule;
	const char *at = parser->at;
	bool is_quoted;
	int err = read_name(parser, "a label, or a figure of the whole log,", rule->label, &is_quoted);

	rule->is_literal = is_quoted;
	if (err)
		return err;
	for (size_t i = 0; i < sizeof(log_words) / sizeof(log_words[0]) && !is_quoted; i++) {
		bool ends = parser->at == parser->end || *parser->at != '.' ||
			    log_words[i].subject == GATE_ANOMALIES;

		if (!ends || strcmp(rule->label, log_words[i].word) != 0)
			continue;
		rule->subject = log_words[i].subject;
		at = parser->at + 1;
		if (take(parser, '.'))
			err = read_name(parser, "an anomaly", rule->name, &is_quoted);
		for (unsigned int anomaly = 0; rule->name[0] && !err && anomaly <= TXTRACE_ANOMALY_COUNT;
		     anomaly++) {
			if (anomaly == TXTRACE_ANOMALY_COUNT)
				err = complain(parser, at, "unknown anomaly '%s'", rule->name);
			else if (strcmp(txtrace_anomaly_name(anomaly), rule->name) == 0)
				break;
		}
		return err;
	}
	if (!take(parser, '.'))
		return complain(parser, parser->at, "which figure of '%s'? such as %s.wall.p99", rule->label,
				is_quoted ? "\"\xe2\x80\xa6\"" : rule->label);
	return read_label_figure(parser);
}

/* ---- the limit ---- */

static int read_operator(struct rule_parser *parser)
{
	skip_blanks(parser);
	for (int i = 4; i >= 0; i--) {
		size_t length = strlen(gate_operators[i]);
		bool is_longer = length == 1 && parser->at + 1 < parser->end && parser->at[1] == '=';

		if ((size_t)(parser->end - parser->at) < length ||
		    strncmp(parser->at, gate_operators[i], length) != 0 || is_longer)
			continue;
		parser->at += length;
		parser->rule->operator = (enum gate_operator)i;
		skip_blanks(parser);
		return 0;
	}
	return complain(parser, parser->at, "<, <=, ==, >= or > is missing here");
}

static bool is_time(const struct gate_rule *rule)
{
	return rule->subject == GATE_VALUE || rule->subject == GATE_WAITS_ON || rule->subject == GATE_HELD_BY;
}

static int apply_unit(struct rule_parser *parser, const char *at, const char *unit)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "\xc2\xb5s", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	struct gate_rule *rule = parser->rule;
	bool is_share = rule->subject == GATE_LOWER_BOUNDS || rule->subject == GATE_LABEL_LOWER_BOUNDS;
	bool is_signed = rule->limit_kind != GATE_ABSOLUTE;

	if (strcmp(unit, "%") == 0) {
		rule->limit /= 100;
		if (is_signed)
			rule->limit_kind = GATE_RELATIVE;
		rule->is_share = !is_signed;
		if (!is_signed && !is_share)
			return complain(parser, at, "a change in percent has a sign: < +5%%");
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && is_time(rule); i++) {
		if (strcmp(unit, units[i].unit) != 0)
			continue;
		rule->limit *= units[i].ns;
		return 0;
	}
	if (*unit)
		return complain(parser, at, "unknown unit '%s'%s", unit,
				is_time(rule) ? ": ns, us, ms, s, or, of a change, %" : "");
	return is_time(rule) && rule->limit != 0
		       ? complain(parser, at, "a time has a unit: ns, us, ms or s; a change may be in %%")
		       : 0;
}

static int read_limit(struct rule_parser *parser)
{
	struct gate_rule *rule = parser->rule;
	const char *at = parser->at;
	char word[64] = "", digits[64], *end;
	size_t length = 0;

	while (parser->at < parser->end && !isspace((unsigned char)*parser->at) && length < sizeof(word) - 1)
		word[length++] = *parser->at++;
	/* Only what a number is made of: strtod() knows names and hexadecimal numbers, too. */
	length = strspn(word, "+-0123456789.");
	if (length == 0)
		return complain(parser, at, "a number is missing here, such as 20ms, +5%% or 1");
	memcpy(digits, word, length);
	digits[length] = '\0';
	rule->limit_kind = digits[0] == '+' || digits[0] == '-' ? GATE_DIFFERENCE : GATE_ABSOLUTE;
	rule->limit = strtod(digits, &end);
	if (*end || end == digits || !isfinite(rule->limit))
		return complain(parser, at, "'%s' is no number", digits);
	if (gate_is_of_log(rule->subject) && rule->limit_kind != GATE_ABSOLUTE)
		return complain(parser, at,
				"of the whole log there are no changes: give a limit without a sign");
	return apply_unit(parser, at + length, word + length);
}

/* ---- rules ---- */

bool gate_is_of_log(enum gate_subject subject)
{
	return subject >= GATE_ANOMALIES;
}

bool gate_is_change(const struct gate_rule *rule)
{
	return rule->limit_kind != GATE_ABSOLUTE;
}

static int parse_rule(struct rule_parser *parser)
{
	int err = read_subject(parser);

	err = err ? err : read_operator(parser);
	err = err ? err : read_limit(parser);
	skip_blanks(parser);
	if (!err && parser->rule->operator == GATE_EQUAL && gate_is_change(parser->rule))
		return complain(parser, parser->begin,
				"a change can't be held to ==: give a limit with < or >");
	return err || parser->at == parser->end
		       ? err
		       : complain(parser, parser->at,
				  "the rule has ended before this; ; or a new line begins another one");
}

static int add_rule(struct gate_rules *rules, struct rule_parser *parser)
{
	struct gate_rule *grown;

	if (rules->cnt == GATE_RULES_MAX)
		return complain(parser, parser->begin, "there are more than %d rules", GATE_RULES_MAX);
	grown = reallocarray(rules->rules, rules->cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	rules->rules = grown;
	parser->rule = &grown[rules->cnt];
	*parser->rule = (struct gate_rule){ .line = parser->line,
					    .text = strndup(parser->at, (size_t)(parser->end - parser->at)) };
	if (!parser->rule->text)
		return -ENOMEM;
	rules->cnt++;
	return parse_rule(parser);
}

/*
 * Where the rule ends that begins here: at a `;`, a comment or the end of the line, none of which is quoted.
 */
static const char *end_of_rule(const char *at)
{
	bool is_quoted = false;

	for (; *at && *at != '\n' && (is_quoted || (*at != ';' && *at != '#')); at++) {
		if (is_quoted && *at == '\\' && at[1] && at[1] != '\n')
			at++;
		else if (*at == '"')
			is_quoted = !is_quoted;
	}
	return at;
}

int gate_rules_parse(struct gate_rules *rules, const char *text, const char *source, struct error *error)
{
	const char *line_begin = text;
	size_t line = 1;
	int err = 0;

	while (*text && !err) {
		struct rule_parser parser = { .source = source,
					      .begin = line_begin,
					      .at = text,
					      .end = end_of_rule(text),
					      .line = line,
					      .error = error };

		text = parser.end;
		skip_blanks(&parser);
		while (parser.end > parser.at && isspace((unsigned char)parser.end[-1]))
			parser.end--;
		if (parser.at < parser.end)
			err = add_rule(rules, &parser);
		if (*text == '#')
			text += strcspn(text, "\n");
		if (*text == '\n') {
			line++;
			line_begin = text + 1;
		}
		text += *text != '\0';
	}
	return err;
}

void gate_rules_release(struct gate_rules *rules)
{
	for (size_t i = 0; i < rules->cnt; i++)
		free(rules->rules[i].text);
	free(rules->rules);
	*rules = (struct gate_rules){ 0 };
}
