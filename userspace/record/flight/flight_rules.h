/* SPDX-License-Identifier: BSD-2-Clause */
/* The flight recorder, as the user says it: --flight, --trigger, --trigger-after, --trigger-max. */
#ifndef FLIGHT_RULES_H
#define FLIGHT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/span/trigger_rule.h"
#include "base/error.h"

#define FLIGHT_RULE_MAX 16
#define FLIGHT_DEFAULT_BYTES (256u << 20) /* where only a time is said */

struct flight_rules {
	uint64_t max_bytes; /* of memory; 0: no flight recorder */
	uint64_t span_ns;   /* 0: as much as there is room for */
	const char *texts[FLIGHT_RULE_MAX];
	size_t text_cnt;
	struct trigger_rule *rules[FLIGHT_RULE_MAX]; /* of the texts that are no words of their own */
	size_t rule_cnt;
	bool at_exit;
	uint64_t after_ns;
	uint64_t max_cnt; /* files for which spans are the cause, in per_ns; 0: any number */
	uint64_t per_ns;
};

#define FLIGHT_RULES_DEFAULTS { .max_cnt = 10, .per_ns = 3600000000000u }

/* "64M", "30s", "64M,30s"; -EINVAL. */
int flight_rules_take_size(struct flight_rules *rules, const char *value);

/* "10/h", also s, m, d; "0": any number. -EINVAL. */
int flight_rules_take_max(struct flight_rules *rules, const char *value);

/*
 * Reads the texts; the word exit is one of its own. Without any, the end of the
 * recording is a trigger. -EINVAL or -ENOMEM, and a sentence.
 */
int flight_rules_parse(struct flight_rules *rules, struct error *error);
void flight_rules_release(struct flight_rules *rules);

/* The rule that holds for the span; NULL: none. */
const struct trigger_rule *flight_rules_find(const struct flight_rules *rules,
					     const struct txtrace_span *span);

#endif
