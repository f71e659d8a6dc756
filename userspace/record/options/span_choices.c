/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/span_choices.h"

#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "base/units.h"

int span_choices_take_sample(struct span_choices *choices, const char *value)
{
	uint64_t rate;

	/* "100" could be meant as all of them */
	if (strncmp(value, "1/", 2) != 0 || units_parse_u64(value + 2, &rate) || rate < 1 ||
	    rate > UINT32_MAX)
		return -EINVAL;
	choices->sample_rate = rate;
	return 0;
}

bool span_choices_want_label(const struct span_choices *choices, const struct event_text *label)
{
	for (size_t i = 0; i < choices->label_cnt; i++)
		if (glob_matches(choices->labels[i], label->bytes, label->length))
			return true;
	return !choices->label_cnt;
}
