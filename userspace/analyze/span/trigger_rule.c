/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/span/trigger_rule.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span_value.h"
#include "base/glob.h"
#include "base/near_miss.h"
#include "base/units.h"

#define NODE_MAX 64
#define DEPTH_MAX 32

enum node_kind {
	NODE_OR,
	NODE_AND,
	NODE_NOT,
	NODE_TEXT,
	NODE_REASON,
	NODE_VALUE,
	NODE_FLAG,
};

enum compare {
	COMPARE_EQUAL,
	COMPARE_UNEQUAL,
	COMPARE_MORE,
	COMPARE_MORE_EQUAL,
	COMPARE_LESS,
	COMPARE_LESS_EQUAL,
};

enum text_field {
	TEXT_LABEL,
	TEXT_TAG,
	TEXT_KEY,
};

struct node {
	enum node_kind kind;
	enum compare compare;
	unsigned int what;   /* a text_field, a reason, a span_value or a flag */
	uint64_t ns;         /* VALUE */
	const char *pattern; /* TEXT: in the words of the rule */
	unsigned int left;   /* OR, AND, NOT */
	unsigned int right;  /* OR, AND */
};

struct trigger_rule {
	struct node nodes[NODE_MAX];
	unsigned int node_cnt;
	unsigned int root;
	char *text;
	char *words; /* a copy, in which patterns end with a NUL */
};

/* ---- names ---- */

static const char *const text_names[] = {
	[TEXT_LABEL] = "label", [TEXT_TAG] = "tag", [TEXT_KEY] = "key", NULL
};

static const struct {
	const char *name;
	uint32_t flag;
} flags[] = {
	{ "unfinished", TXTRACE_SPAN_UNFINISHED },
	{ "lower_bound", TXTRACE_SPAN_LOWER_BOUND },
	{ "loss", TXTRACE_SPAN_LOSS },
	{ "keyed", TXTRACE_SPAN_KEYED },
	{ "moved", TXTRACE_SPAN_MOVED },
	{ "root", TXTRACE_SPAN_ROOT },
	{ "nested", TXTRACE_SPAN_NESTED },
};

#define FLAG_CNT (sizeof(flags) / sizeof(flags[0]))

static const struct {
	const char *sign;
	enum compare compare;
} compares[] = {
	/* longer ones first */
	{ "!=", COMPARE_UNEQUAL }, { ">=", COMPARE_MORE_EQUAL }, { "<=", COMPARE_LESS_EQUAL },
	{ "=", COMPARE_EQUAL },	   { ">", COMPARE_MORE },	 { "<", COMPARE_LESS },
};

/* ---- reading ---- */

struct reader {
	struct trigger_rule *rule;
	const char *at; /* in rule->text */
	unsigned int depth;
	struct error *error;
};

static unsigned int place_of(const struct reader *reader, const char *at)
{
	return (unsigned int)(at - reader->rule->text) + 1;
}

#define WRONG(reader, at, format, ...) \
	(error_set((reader)->error, "at character %u, " format, place_of(reader, at), ##__VA_ARGS__), -EINVAL)

static void skip_blanks(struct reader *reader)
{
	reader->at += strspn(reader->at, " \t\n");
}

static size_t word_length(const char *at)
{
	return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

static bool is_word(const char *at, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(at, word, length) == 0;
}

/* Goes over the word if it stands here. */
static bool take_word(struct reader *reader, const char *word)
{
	size_t length;

	skip_blanks(reader);
	length = word_length(reader->at);
	if (!is_word(reader->at, length, word))
		return false;
	reader->at += length;
	return true;
}

static int new_node(struct reader *reader, const struct node *node, unsigned int *number)
{
	struct trigger_rule *rule = reader->rule;

	if (rule->node_cnt == NODE_MAX)
		return WRONG(reader, reader->at,
			     "it becomes too long: no more than %d tests and words between them", NODE_MAX);
	*number = rule->node_cnt++;
	rule->nodes[*number] = *node;
	return 0;
}

static int wrong_name(struct reader *reader, const char *at, size_t length)
{
	struct near_miss near_miss;
	char typed[32];

	snprintf(typed, sizeof(typed), "%.*s", (int)length, at);
	near_miss_init(&near_miss, typed);
	for (size_t i = 0; text_names[i]; i++)
		near_miss_offer(&near_miss, text_names[i]);
	for (size_t i = 0; span_value_names[i]; i++)
		near_miss_offer(&near_miss, span_value_names[i]);
	for (size_t i = 0; i < FLAG_CNT; i++)
		near_miss_offer(&near_miss, flags[i].name);
	near_miss_offer(&near_miss, "reason");
	if (near_miss.best)
		return WRONG(reader, at, "'%s' is nothing that a span has; did you mean '%s'?", typed,
			     near_miss.best);
	return WRONG(reader, at,
		     "'%s' is nothing that a span has: label, tag, key, reason, wall, on_cpu, runnable, "
		     "blocked, … or unfinished, …",
		     typed);
}

static int read_compare(struct reader *reader, bool has_order, enum compare *compare)
{
	skip_blanks(reader);
	for (size_t i = 0; i < sizeof(compares) / sizeof(compares[0]); i++) {
		if (strncmp(reader->at, compares[i].sign, strlen(compares[i].sign)) != 0)
			continue;
		if (!has_order && compares[i].compare > COMPARE_UNEQUAL)
			return WRONG(reader, reader->at,
				     "there is '%s', but a text can only be = or !=", compares[i].sign);
		*compare = compares[i].compare;
		reader->at += strlen(compares[i].sign);
		return 0;
	}
	return WRONG(reader, reader->at, "%s belong here",
		     has_order ? "one of > >= < <= = != and a duration" : "= or != and a word");
}

/* A word or a quoted text, as a string in rule->words. */
static int read_text(struct reader *reader, const char **text)
{
	char quote, *start;
	size_t length;

	skip_blanks(reader);
	quote = *reader->at == '"' || *reader->at == '\'' ? *reader->at : 0;
	reader->at += quote != 0;
	if (quote && !strchr(reader->at, quote))
		return WRONG(reader, reader->at - 1, "a quote begins that does not end");
	length = quote ? (size_t)(strchr(reader->at, quote) - reader->at) : strcspn(reader->at, " \t\n()\"'");
	if (!quote && !length)
		return WRONG(reader, reader->at, "a word is missing");
	start = reader->rule->words + (reader->at - reader->rule->text);
	start[length] = '\0';
	*text = start;
	reader->at += length + (quote != 0);
	return 0;
}

static int read_text_test(struct reader *reader, unsigned int field, unsigned int *number)
{
	struct node node = { .kind = NODE_TEXT, .what = field };
	int err = read_compare(reader, false, &node.compare);

	if (!err)
		err = read_text(reader, &node.pattern);
	return err ? err : new_node(reader, &node, number);
}

static int read_reason_test(struct reader *reader, unsigned int *number)
{
	struct node node = { .kind = NODE_REASON };
	const char *reason, *at;
	int err = read_compare(reader, false, &node.compare);

	skip_blanks(reader);
	at = reader->at;
	if (!err)
		err = read_text(reader, &reason);
	if (err)
		return err;
	while (node.what < TXTRACE_BLOCK_REASON_COUNT &&
	       strcmp(txtrace_block_reason_name(node.what), reason) != 0)
		node.what++;
	if (node.what == TXTRACE_BLOCK_REASON_COUNT)
		return WRONG(reader, at,
			     "'%s' is no reason: lock, disk, network, sleep, page_fault, pipe, wait, "
			     "stopped, other, throttled or poll",
			     reason);
	return new_node(reader, &node, number);
}

static int read_value_test(struct reader *reader, unsigned int value, unsigned int *number)
{
	struct node node = { .kind = NODE_VALUE, .what = value };
	const char *duration, *at;
	int err = read_compare(reader, true, &node.compare);

	skip_blanks(reader);
	at = reader->at;
	if (!err)
		err = read_text(reader, &duration);
	if (err)
		return err;
	if (units_parse_duration(duration, &node.ns))
		return WRONG(reader, at, "'%s' is no duration: 250us, 50ms, 1.5s", duration);
	return new_node(reader, &node, number);
}

static int read_test(struct reader *reader, unsigned int *number)
{
	const char *at = reader->at;
	size_t length = word_length(at);

	reader->at += length;
	for (unsigned int i = 0; text_names[i]; i++)
		if (is_word(at, length, text_names[i]))
			return read_text_test(reader, i, number);
	if (is_word(at, length, "reason"))
		return read_reason_test(reader, number);
	for (size_t i = 0; i < FLAG_CNT; i++)
		if (is_word(at, length, flags[i].name))
			return new_node(reader, &(struct node){ .kind = NODE_FLAG, .what = flags[i].flag },
					number);
	for (unsigned int i = 0; span_value_names[i]; i++)
		if (is_word(at, length, span_value_names[i]))
			return read_value_test(reader, i, number);
	if (!length && !*at)
		return WRONG(reader, at, "a test is missing, as in wall>50ms");
	if (!length)
		return WRONG(reader, at, "expected a condition such as wall>50ms, found '%c'", *at);
	return wrong_name(reader, at, length);
}

static int read_rule(struct reader *reader, unsigned int *number);

static int read_term(struct reader *reader, unsigned int *number)
{
	struct node negation = { .kind = NODE_NOT };
	const char *open;
	int err;

	skip_blanks(reader);
	if (reader->depth >= DEPTH_MAX)
		return WRONG(reader, reader->at, "it goes too deep");
	open = reader->at;
	if (take_word(reader, "not")) {
		reader->depth++;
		err = read_term(reader, &negation.left);
		reader->depth--;
		return err ? err : new_node(reader, &negation, number);
	}
	if (*reader->at != '(')
		return read_test(reader, number);
	reader->at++;
	reader->depth++;
	err = read_rule(reader, number);
	reader->depth--;
	if (err)
		return err;
	skip_blanks(reader);
	if (*reader->at != ')')
		return WRONG(reader, open, "a parenthesis begins that does not end");
	reader->at++;
	return 0;
}

static int read_list(struct reader *reader, const char *word, enum node_kind kind,
		     int (*read_item)(struct reader *reader, unsigned int *number), unsigned int *number)
{
	int err = read_item(reader, number);

	while (!err && take_word(reader, word)) {
		struct node node = { .kind = kind, .left = *number };

		err = read_item(reader, &node.right);
		if (!err)
			err = new_node(reader, &node, number);
	}
	return err;
}

static int read_all(struct reader *reader, unsigned int *number)
{
	return read_list(reader, "and", NODE_AND, read_term, number);
}

static int read_rule(struct reader *reader, unsigned int *number)
{
	return read_list(reader, "or", NODE_OR, read_all, number);
}

int trigger_rule_parse(struct trigger_rule **result, const char *text, struct error *error)
{
	struct trigger_rule *rule = calloc(1, sizeof(*rule));
	struct reader reader = { .rule = rule, .error = error };
	int err;

	if (rule)
		rule->text = strdup(text);
	if (rule)
		rule->words = strdup(text);
	if (!rule || !rule->text || !rule->words) {
		trigger_rule_free(rule);
		error_set(error, "there is not enough memory for it");
		return -ENOMEM;
	}
	reader.at = rule->text;
	err = read_rule(&reader, &rule->root);
	skip_blanks(&reader);
	if (!err && *reader.at)
		err = WRONG(&reader, reader.at, "expected 'and', 'or' or the end, found '%.16s'",
			    reader.at);
	if (err)
		trigger_rule_free(rule);
	else
		*result = rule;
	return err;
}

void trigger_rule_free(struct trigger_rule *rule)
{
	if (!rule)
		return;
	free(rule->text);
	free(rule->words);
	free(rule);
}

const char *trigger_rule_text(const struct trigger_rule *rule)
{
	return rule->text;
}

/* ---- testing ---- */

static bool compares_so(uint64_t value, enum compare compare, uint64_t with)
{
	switch (compare) {
	case COMPARE_EQUAL:
		return value == with;
	case COMPARE_UNEQUAL:
		return value != with;
	case COMPARE_MORE:
		return value > with;
	case COMPARE_MORE_EQUAL:
		return value >= with;
	case COMPARE_LESS:
		return value < with;
	case COMPARE_LESS_EQUAL:
		return value <= with;
	}
	return false;
}

static bool text_matches(const struct node *node, const struct txtrace_span *span)
{
	const struct txtrace_string *texts[] = {
		[TEXT_LABEL] = &span->label, [TEXT_TAG] = &span->tag, [TEXT_KEY] = &span->key
	};

	return glob_matches(node->pattern, texts[node->what]->bytes, texts[node->what]->length) ==
	       (node->compare == COMPARE_EQUAL);
}

/* Of equal ones the first. */
static unsigned int main_reason(const struct txtrace_span *span)
{
	const uint64_t *blocked_ns = span->ledger.blocked_ns;
	unsigned int most = 0;

	for (unsigned int i = 1; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		if (blocked_ns[i] > blocked_ns[most])
			most = i;
	return blocked_ns[most] ? most : TXTRACE_BLOCK_REASON_COUNT;
}

static bool holds(const struct trigger_rule *rule, unsigned int number, const struct txtrace_span *span)
{
	const struct node *node = &rule->nodes[number];

	switch (node->kind) {
	case NODE_OR:
		return holds(rule, node->left, span) || holds(rule, node->right, span);
	case NODE_AND:
		return holds(rule, node->left, span) && holds(rule, node->right, span);
	case NODE_NOT:
		return !holds(rule, node->left, span);
	case NODE_TEXT:
		return text_matches(node, span);
	case NODE_REASON:
		return (main_reason(span) == node->what) == (node->compare == COMPARE_EQUAL);
	case NODE_VALUE:
		return compares_so(span_value_ns(span, node->what), node->compare, node->ns);
	case NODE_FLAG:
		return span->flags & node->what;
	}
	return false;
}

bool trigger_rule_holds(const struct trigger_rule *rule, const struct txtrace_span *span)
{
	return holds(rule, rule->root, span);
}
