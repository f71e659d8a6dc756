/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "cli/verdict/verdict_report.h"

static const struct {
	const char *mark; /* tells the kinds apart where there are no colours */
	const char *style;
} kinds[] = {
	[LINE_BAD] = { "!", "31" },
	[LINE_GOOD] = { "+", "32" },
	[LINE_UNSURE] = { "?", "33" },
	[LINE_NEUTRAL] = { " ", NULL },
};

static void print_styled(const struct screen *screen, const char *style, const char *text)
{
	if (screen->has_colours && style)
		fprintf(screen->file, "\033[%sm%s\033[0m", style, text);
	else
		fputs(text, screen->file);
}

static int write_terminal(const struct verdict_view *view, const struct verdict_document *document,
			  const struct screen *screen)
{
	(void)view;
	print_styled(screen, kinds[document->kind].style, document->summary);
	fputs("\n", screen->file);
	for (size_t i = 0; i < document->section_cnt; i++) {
		const struct document_section *section = &document->sections[i];

		fputs("\n", screen->file);
		print_styled(screen, "1", section->title);
		fputs("\n", screen->file);
		for (size_t k = 0; k < section->line_cnt; k++) {
			const struct document_line *line = &section->lines[k];

			fprintf(screen->file, "%s ", line->is_detail ? "     " : kinds[line->kind].mark);
			print_styled(screen, line->is_detail ? NULL : kinds[line->kind].style, line->text);
			fputs("\n", screen->file);
		}
		if (section->left_out_cnt > 0)
			fprintf(screen->file, "  and %zu more: --limit 0 shows all\n", section->left_out_cnt);
	}
	return 0;
}

const struct verdict_format verdict_format_terminal = { "terminal", "text for people", write_terminal };
