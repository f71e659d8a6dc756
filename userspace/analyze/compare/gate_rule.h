/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of a gate: what must hold of a log, or of what is new beside a
 * base.
 *
 *	commit.on_cpu.p50 < +5%            a change, relative to the base
 *	*.blocked.lock.mean < +0.5ms       a change, absolute
 *	tx.wall.p99 < 20ms                 the figure itself
 *	tx.calls.fsync <= 1                how many child spans, or waits, of a kind for each span
 *	anomalies == 0; lower_bounds < 1%  of the whole log
 *
 * A line or a `;` ends a rule, `#` begins a comment. A label is a shell
 * pattern; one with dots, blanks or quotes stands in "…", where * and ? mean
 * themselves, and \" and \\ what they do in C.
 */
#ifndef GATE_RULE_H
#define GATE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "txtrace/log.h"

#define GATE_NAME_MAX 256
#define GATE_RULES_MAX 1000

enum gate_subject {
	GATE_VALUE = 0,        /* a time of spans: value, percentile */
	GATE_CALLS = 1,        /* name */
	GATE_BLOCKS = 2,       /* name: a reason or a system call */
	GATE_WAITS_ON = 3,     /* name: a label, or a thread */
	GATE_COUNT = 4,        /* spans */
	GATE_LABEL_LOWER_BOUNDS = 5, /* of one label */
	GATE_HELD_BY = 6,      /* name: a label, or a thread */
	GATE_ANOMALIES = 7,    /* from here on, of the whole log. name: one of them, or empty */
	GATE_LOWER_BOUNDS = 8,
	GATE_LOST = 9,         /* events */
	GATE_DROPPED = 10,     /* records */
	GATE_DAMAGED = 11,     /* parts of the file */
	GATE_SUBJECT_COUNT = 12,
};

enum gate_operator {
	GATE_LESS = 0,
	GATE_AT_MOST = 1,
	GATE_EQUAL = 2,
	GATE_AT_LEAST = 3,
	GATE_MORE = 4,
};

extern const char *const gate_operators[]; /* "<", … */

enum gate_limit {
	GATE_ABSOLUTE = 0,  /* of the figure: ns, a count, a share */
	GATE_DIFFERENCE = 1, /* of new less base: the same */
	GATE_RELATIVE = 2,  /* of that, as a share of the base */
};

struct gate_rule {
	char *text;       /* as it was written, without blanks around it */
	size_t line;      /* where it stands: 1, 2, … */
	char label[GATE_NAME_MAX]; /* NUL-terminated */
	bool is_literal;  /* it was quoted: no pattern */
	enum gate_subject subject;
	unsigned int value;
	double percentile; /* between 0 and 1; 0: the mean */
	char name[GATE_NAME_MAX];
	enum gate_operator operator;
	enum gate_limit limit_kind;
	double limit;
	bool is_share;    /* lower bounds: the limit is one of their share, not of their number */
};

struct gate_rules {
	struct gate_rule *rules;
	size_t cnt;
};

/*
 * Adds the rules of a text. 0, -ENOMEM, or -EINVAL and *error, which points at
 * the place: "rule 2, column 8: …". source: what the text is called.
 */
int gate_rules_parse(struct gate_rules *rules, const char *text, const char *source, struct error *error);
void gate_rules_release(struct gate_rules *rules);

bool gate_is_of_log(enum gate_subject subject);
bool gate_is_change(const struct gate_rule *rule);

#endif
