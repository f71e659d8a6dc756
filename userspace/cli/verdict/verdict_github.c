/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/text.h"
#include "cli/verdict/verdict_report.h"

/*
 * A workflow command is a line: what could end it, or begin another one, is encoded. In a property, so is
 * what could end that.
 */
static void append_encoded(struct text *text, const char *string, bool is_property)
{
	for (; *string; string++) {
		if (strchr("%\r\n", *string) || (is_property && strchr(":,", *string)))
			text_append_format(text, "%%%02X", (unsigned char)*string);
		else
			text_append_bytes(text, string, 1);
	}
}

/* The lines of a kind in a section are annotations; details go with the line that they belong to. */
static void append_lines(struct text *text, const struct document_section *section)
{
	static const char *const commands[] = {
		[LINE_BAD] = "error", [LINE_UNSURE] = "warning", [LINE_NEUTRAL] = "notice", [LINE_GOOD] = NULL
	};

	for (size_t i = 0; i < section->line_cnt; i++) {
		const struct document_line *line = &section->lines[i];

		if (line->is_detail || !commands[line->kind])
			continue;
		text_append_format(text, "::%s title=", commands[line->kind]);
		append_encoded(text, section->title, true);
		text_append(text, "::");
		append_encoded(text, line->text, false);
		for (size_t k = i + 1; k < section->line_cnt && section->lines[k].is_detail; k++) {
			text_append(text, "%0A");
			append_encoded(text, section->lines[k].text, false);
		}
		text_append(text, "\n");
	}
}

static int write_github(const struct verdict_view *view, const struct verdict_document *document,
			const struct screen *screen)
{
	static const char *const commands[] = { [LINE_BAD] = "error",
						[LINE_UNSURE] = "warning",
						[LINE_NEUTRAL] = "notice",
						[LINE_GOOD] = "notice" };
	struct text text = { 0 };
	int err;

	text_append_format(&text, "::%s title=%s::", commands[document->kind], view->program);
	append_encoded(&text, document->summary, false);
	text_append(&text, "\n");
	for (size_t i = 0; i < document->section_cnt; i++) {
		if (strcmp(document->sections[i].title, "notes") != 0)
			append_lines(&text, &document->sections[i]);
	}
	fputs(text_string(&text), screen->file);
	err = text.err;
	text_release(&text);
	return err;
}

const struct verdict_format verdict_format_github = { "github", "annotations of a GitHub workflow",
						      write_github };
