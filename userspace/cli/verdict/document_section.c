/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/verdict/document_section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int document_section_add(struct document_section *section, struct text *text, enum line_kind kind,
			 bool is_detail)
{
	struct document_line *grown = reallocarray(section->lines, section->line_cnt + 1, sizeof(*grown));
	char *copy = text->err ? NULL : strdup(text_string(text));

	if (grown)
		section->lines = grown;
	if (!grown || !copy) {
		free(copy);
		return -ENOMEM;
	}
	grown[section->line_cnt++] = (struct document_line){ copy, kind, is_detail };
	text_clear(text);
	return 0;
}

void document_section_release(struct document_section *section)
{
	for (size_t i = 0; i < section->line_cnt; i++)
		free(section->lines[i].text);
	free(section->lines);
	*section = (struct document_section){ 0 };
}
