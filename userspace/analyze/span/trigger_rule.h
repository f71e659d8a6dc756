/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A condition on a span, as a user writes it:
 *
 *	label=commit and wall>50ms
 *	(label=pay* or label=refund) and not key="test-*" and blocked>=10ms
 *	reason=disk and blocked>5ms
 *	unfinished or lock>1s
 *
 * rule = all { "or" all }; all = term { "and" term }; term = "not" term | "("
 * rule ")" | test. A test is
 *
 *	label, tag, key  = or !=, and a shell pattern, in quotes ("", '') if it has blanks, parentheses or
 *	                 quotes; compared as bytes
 *	reason           = or !=, and a reason: that for which the span was blocked for longest is it; of a
 *	                 span that never was, none is
 *	wall, work, on_cpu, runnable, blocked, detached, unknown, interrupt, stolen, and each reason
 *	by its name      > >= < <= = !=, and a duration as in options: 250us, 50ms, 1.5s; a bare number is
 *	                 seconds
 *	unfinished, lower_bound, loss, keyed, moved, root, nested   alone: the span has this flag
 *
 * Pure: no I/O. A rule takes some 5 KiB and its text; testing allocates
 * nothing.
 */
#ifndef TRIGGER_RULE_H
#define TRIGGER_RULE_H

#include <stdbool.h>

#include "base/error.h"
#include "txtrace/log.h"

struct trigger_rule;

/* -EINVAL and a sentence that says where the mistake is, and what; -ENOMEM. */
int trigger_rule_parse(struct trigger_rule **rule, const char *text, struct error *error);
void trigger_rule_free(struct trigger_rule *rule); /* NULL is allowed */

bool trigger_rule_holds(const struct trigger_rule *rule, const struct txtrace_span *span);

const char *trigger_rule_text(const struct trigger_rule *rule); /* as it was written */

#endif
