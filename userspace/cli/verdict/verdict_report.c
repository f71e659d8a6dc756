/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/verdict/verdict_report.h"

#include <string.h>

static const struct verdict_format *const formats[] = {
	&verdict_format_terminal,
	&verdict_format_markdown,
	&verdict_format_junit,
	&verdict_format_github,
	&verdict_format_json,
	&verdict_format_html,
	NULL,
};

const struct verdict_format *verdict_format_at(size_t idx)
{
	return formats[idx];
}

const char *verdict_format_name_at(size_t idx)
{
	return formats[idx] ? formats[idx]->name : NULL;
}

const struct verdict_format *verdict_format_find(const char *name)
{
	for (size_t i = 0; formats[i]; i++) {
		if (strcmp(formats[i]->name, name) == 0)
			return formats[i];
	}
	return NULL;
}
