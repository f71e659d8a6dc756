/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures, changes and rules as sentences: escaped UTF-8 (text_append_escaped()). */
#ifndef VERDICT_WORDS_H
#define VERDICT_WORDS_H

#include "analyze/compare/gate.h"
#include "base/text.h"

/* "commit", "(unknown label)". */
void words_append_label(struct text *text, const struct run_set *set, uint32_t label);

/* "wall p99", "on-CPU", "calls of fsync", "blocked on lock". */
void words_append_metric(struct text *text, const struct run_set *set, const struct metric *metric);

/* "12.1 -> 15.0 ms (+24 %, 95 % CI +18 .. +31)" */
void words_append_effect(struct text *text, const struct metric *metric, const struct effect *effect,
			 double confidence);

/* ", all of it blocked on futex 0x7f12 held by flush"; nothing where there is nothing to say. */
void words_append_explanation(struct text *text, const struct comparison *comparison,
			      const struct compared_figure *figure);

/* "about 6 more runs a side would tell", of so many units. */
void words_append_more(struct text *text, const struct run_set *set, uint32_t units_needed);

/* What became of a rule on one label (or the log). */
void words_append_case(struct text *text, const struct run_set *set, const struct gate_rule *rule,
		       const struct gate_case *one, double confidence);

#endif
