/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/messages/loss_advice.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

struct loss_causes loss_causes_since(const struct loss_causes *now, const struct loss_causes *before)
{
	return (struct loss_causes){
		.lost_cnt = now->lost_cnt - before->lost_cnt,
		.missed_cnt = now->missed_cnt - before->missed_cnt,
		.full_cnt = now->full_cnt - before->full_cnt,
	};
}

/* Of several causes each says how many events it lost. */
static void add(struct loss_advice *advice, bool is_only, uint64_t cnt, const char *why)
{
	size_t used = strlen(advice->text), room = sizeof(advice->text) - used;
	char number[UNITS_SIZE];

	if (is_only)
		snprintf(advice->text + used, room, "%s", why);
	else
		snprintf(advice->text + used, room, "%sfor %s of them %s", used ? ", " : "",
			 units_format_count(number, cnt), why);
}

const char *loss_advice_give(struct loss_advice *advice, const struct loss_causes *causes)
{
	uint64_t others_cnt = causes->missed_cnt + causes->full_cnt;
	uint64_t ring_cnt = causes->lost_cnt > others_cnt ? causes->lost_cnt - others_cnt : 0;

	advice->text[0] = '\0';
	if (ring_cnt || !others_cnt)
		add(advice, !others_cnt, ring_cnt, "a larger --ring-size helps");
	if (causes->missed_cnt)
		add(advice, !ring_cnt && !causes->full_cnt, causes->missed_cnt,
		    "the kernel did not run our programs, which it was running already, and no option helps");
	if (causes->full_cnt)
		add(advice, !ring_cnt && !causes->missed_cnt, causes->full_cnt,
		    "a table in the kernel was full: too many numbered spans were open, or calls were nested "
		    "too deeply; no option helps");
	return advice->text;
}
