/* SPDX-License-Identifier: BSD-2-Clause */
/* Which spans go into the log, as the user says it: --sample, --label, --min-duration. */
#ifndef SPAN_CHOICES_H
#define SPAN_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

#define LABEL_GLOB_MAX 64

struct span_choices {
	uint64_t sample_rate; /* transactions: one of so many; 1: all */
	uint64_t min_duration_ns;
	/* shell patterns, the command line's; a label has to match one of them */
	const char *labels[LABEL_GLOB_MAX];
	size_t label_cnt;                   /* 0: any will do */
};

/* "1/100" (or 100): one of so many. -EINVAL. */
int span_choices_take_sample(struct span_choices *choices, const char *value);

bool span_choices_want_label(const struct span_choices *choices, const struct event_text *label);

#endif
