/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/unmodified/foreign_search.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void foreign_warn(struct foreign_plan *plan, const char *format, ...)
{
	char text[sizeof(plan->warnings[0].text)];
	struct error sentence;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	error_set(&sentence, "%s", text);
	for (size_t i = 0; i < plan->warning_cnt; i++)
		if (strcmp(plan->warnings[i].text, sentence.text) == 0)
			return;
	if (plan->warning_cnt < FOREIGN_WARNING_MAX)
		plan->warnings[plan->warning_cnt++] = sentence;
}

uint64_t foreign_label_address(struct foreign_plan *plan, const char *label)
{
	for (size_t i = 0; i < plan->label_cnt; i++)
		if (strcmp(plan->labels[i], label) == 0)
			return FOREIGN_LABEL_BASE + i;
	if (plan->label_cnt == FOREIGN_LABEL_MAX || !(plan->labels[plan->label_cnt] = strdup(label)))
		return 0;
	return FOREIGN_LABEL_BASE + plan->label_cnt++;
}

int foreign_add_spot(struct foreign_search *search, const struct probe_spot *spot)
{
	struct probe_spot *grown = array_grow_unnoted(search->spots, search->spot_cnt, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	search->spots = grown;
	search->spots[search->spot_cnt++] = *spot;
	return 0;
}
