/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/loss_advice.h"

#include <stdio.h>

#include "base/units.h"

const char *loss_advice_give(struct loss_advice *advice, uint64_t lost_cnt, uint64_t missed_cnt)
{
	static const char why[] = "the kernel did not run our programs, which it was running already, and no option helps";
	char missed[UNITS_SIZE];

	if (!missed_cnt)
		snprintf(advice->text, sizeof(advice->text), "a larger --ring-size helps");
	else if (missed_cnt >= lost_cnt)
		snprintf(advice->text, sizeof(advice->text), "%s", why);
	else
		snprintf(advice->text, sizeof(advice->text), "a larger --ring-size helps, but for %s of them: for these %s",
			 units_format_count(missed, missed_cnt), why);
	return advice->text;
}
