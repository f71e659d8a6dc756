/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"
#include "base/utf8.h"
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

void markup_append(struct text *text, const char *string)
{
	size_t left = strlen(string), length;
	uint32_t code_point;

	for (; left > 0; left -= length, string += length) {
		length = utf8_decode(string, left, &code_point);
		switch (code_point) {
		case '<':
			text_append(text, "&lt;");
			break;
		case '>':
			text_append(text, "&gt;");
			break;
		case '&':
			text_append(text, "&amp;");
			break;
		case '"':
			text_append(text, "&quot;");
			break;
		case '\'':
			text_append(text, "&#39;");
			break;
		default:
			/* XML has no place for what is no character, nor for most control characters. */
			if (code_point == UTF8_INVALID || code_point == 0xfffe || code_point == 0xffff ||
			    (code_point < 0x20 && code_point != '\n' && code_point != '\t'))
				text_append(text, "\xef\xbf\xbd");
			else
				text_append_bytes(text, string, length);
			break;
		}
	}
}
