/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"
#include "cli/print/markup.h"
#include "cli/verdict/verdict_report.h"

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
	markdown_append(&text, document->summary);
	text_append(&text, "\n");
	for (size_t i = 0; i < document->section_cnt; i++) {
		const struct document_section *section = &document->sections[i];

		text_append_format(&text, "\n**%s**\n\n", section->title);
		for (size_t k = 0; k < section->line_cnt; k++) {
			if (section->lines[k].is_detail)
				text_append(&text, "  - ");
			else
				text_append_format(&text, "- %s ", marks[section->lines[k].kind]);
			markdown_append(&text, section->lines[k].text);
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
