/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "cli/verdict/verdict_report.h"

/* What Markdown, HTML in it, or a forge would take for its own: links, mentions, references to issues. */
static void append_escaped(struct text *text, const char *string)
{
	for (; *string; string++) {
		char byte[2] = { *string, '\0' };

		if (*string == '<')
			text_append(text, "&lt;");
		else if (*string == '>')
			text_append(text, "&gt;");
		else if (*string == '&')
			text_append(text, "&amp;");
		else if (*string == '@')
			text_append(text, "&#64;");
		else if (*string == '#')
			text_append(text, "&#35;");
		else if (*string == ':' && string[1] == '/')
			text_append(text, "&#58;");
		else if (strchr("\\`*_{}[]|!~$", *string) ||
			 (*string == '.' && isalpha((unsigned char)string[1])))
			text_append_format(text, "\\%s", byte);
		else
			text_append(text, byte);
	}
}

static int write_markdown(const struct verdict_view *view, const struct verdict_document *document,
			  const struct screen *screen)
{
	static const char *const marks[] = {
		[LINE_BAD] = "\xe2\x9d\x8c",
		[LINE_GOOD] = "\xe2\x9c\x85",
		[LINE_UNSURE] = "\xe2\x9d\x94",
		[LINE_NEUTRAL] = "\xe2\x80\xa2",
	};
	struct text text = { 0 };
	int err;

	text_append_format(&text, "### %s %s\n\n", marks[document->kind], view->program);
	append_escaped(&text, document->summary);
	text_append(&text, "\n");
	for (size_t i = 0; i < document->section_cnt; i++) {
		const struct document_section *section = &document->sections[i];

		text_append_format(&text, "\n**%s**\n\n", section->title);
		for (size_t k = 0; k < section->line_cnt; k++) {
			if (section->lines[k].is_detail)
				text_append(&text, "  - ");
			else
				text_append_format(&text, "- %s ", marks[section->lines[k].kind]);
			append_escaped(&text, section->lines[k].text);
			text_append(&text, "\n");
		}
		if (section->left_out_cnt > 0)
			text_append_format(&text, "- and %zu more\n", section->left_out_cnt);
	}
	fputs(text_string(&text), screen->file);
	err = text.err;
	text_release(&text);
	return err;
}

const struct verdict_format verdict_format_markdown = { "markdown", "for a comment on a pull request",
							write_markdown };
