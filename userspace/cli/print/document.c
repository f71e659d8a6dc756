/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/document.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/print/markup.h"

/* In the text, a line of its own: here is the next table. Nothing that commands print has this byte. */
#define TABLE_MARK '\x01'
#define COLUMNS 120 /* what is wrapped is wrapped for this width */

struct document {
	enum document_kind kind;
	struct screen before; /* where it goes in the end */
	FILE *file;
	char *bytes; /* of the file */
	size_t size;
	struct text *tables; /* each in its markup */
	size_t table_cnt, table_size;
};

/* ---- tables ---- */

struct table_writer {
	struct text *text;
	const struct table_column *columns;
	size_t column_cnt;
	struct text cell; /* what of it has come so far, in its markup */
};

static void append_copy(struct text *text, enum document_kind kind, const char *bytes, size_t length)
{
	char *copy = strndup(bytes, length);

	/* of a line that was wrapped: a row is one line */
	for (char *at = copy; at && (at = strchr(at, '\n'));)
		*at = ' ';
	if (!copy)
		text->err = -ENOMEM;
	else if (kind == DOCUMENT_HTML)
		markup_append(text, copy);
	else
		markdown_append(text, copy);
	free(copy);
}

/* "1;31" -> class="s1 s31" */
static void append_html_piece(struct text *text, const char *style, const char *bytes, size_t length)
{
	if (length == 0)
		return;
	if (style) {
		text_append(text, "<span class=\"s");
		for (; *style; style++)
			text_append_format(text, *style == ';' ? " s" : "%c", *style);
		text_append(text, "\">");
	}
	append_copy(text, DOCUMENT_HTML, bytes, length);
	if (style)
		text_append(text, "</span>");
}

static const char *class_of(const struct table_writer *writer, size_t column)
{
	return writer->columns[column].align == TABLE_RIGHT ? " class=\"number\"" : "";
}

static void visit_html(void *context, enum table_event event, size_t column, const char *style,
		       const char *bytes, size_t length)
{
	struct table_writer *writer = context;

	switch (event) {
	case TABLE_PIECE:
		append_html_piece(&writer->cell, style, bytes, length);
		return;
	case TABLE_CELL_END:
		text_append_format(writer->text, "%s<td%s>%s</td>%s", column ? "" : "<tr>",
				   class_of(writer, column), text_string(&writer->cell),
				   column + 1 == writer->column_cnt ? "</tr>\n" : "");
		break;
	case TABLE_LINE_END:
		text_append_format(writer->text, "<tr><td class=\"line\" colspan=\"%zu\">%s</td></tr>\n",
				   writer->column_cnt, text_string(&writer->cell));
		break;
	}
	text_clear(&writer->cell);
}

static bool has_any(const struct table_writer *writer, bool of_groups)
{
	bool has_it = false;

	for (size_t i = 0; i < writer->column_cnt; i++) {
		const char *name = of_groups ? writer->columns[i].group : writer->columns[i].title;

		has_it |= name && *name;
	}
	return has_it;
}

static void append_html_groups(struct table_writer *writer)
{
	text_append(writer->text, "<tr>");
	for (size_t i = 0, end; i < writer->column_cnt; i = end) {
		const char *group = writer->columns[i].group;

		for (end = i + 1; group && end < writer->column_cnt && writer->columns[end].group == group;
		     end++)
			;
		text_append_format(writer->text, "<th%s colspan=\"%zu\">", group ? " class=\"group\"" : "",
				   end - i);
		markup_append(writer->text, group ? group : "");
		text_append(writer->text, "</th>");
	}
	text_append(writer->text, "</tr>\n");
}

static int write_html(struct table_writer *writer, const struct table *table)
{
	int err;

	text_append(writer->text, "<div class=\"wide\"><table>\n");
	if (has_any(writer, true))
		append_html_groups(writer);
	if (has_any(writer, false)) {
		text_append(writer->text, "<tr>");
		for (size_t i = 0; i < writer->column_cnt; i++) {
			const char *title = writer->columns[i].title;

			text_append_format(writer->text, "<th%s>", class_of(writer, i));
			markup_append(writer->text, title ? title : "");
			text_append(writer->text, "</th>");
		}
		text_append(writer->text, "</tr>\n");
	}
	err = table_walk(table, visit_html, writer);
	text_append(writer->text, "</table></div>\n");
	return err;
}

static void visit_markdown(void *context, enum table_event event, size_t column, const char *style,
			   const char *bytes, size_t length)
{
	struct table_writer *writer = context;

	(void)style;
	switch (event) {
	case TABLE_PIECE:
		append_copy(&writer->cell, DOCUMENT_MARKDOWN, bytes, length);
		return;
	case TABLE_CELL_END:
		text_append_format(writer->text, "| %s %s", text_string(&writer->cell),
				   column + 1 == writer->column_cnt ? "|\n" : "");
		break;
	case TABLE_LINE_END: /* a table has no lines but rows */
		text_append_format(writer->text, "| %s ", text_string(&writer->cell));
		for (size_t i = 1; i < writer->column_cnt; i++)
			text_append(writer->text, "| ");
		text_append(writer->text, "|\n");
		break;
	}
	text_clear(&writer->cell);
}

static int write_markdown(struct table_writer *writer, const struct table *table)
{
	for (size_t i = 0; i < writer->column_cnt; i++) {
		const char *group = writer->columns[i].group, *title = writer->columns[i].title;

		text_append(writer->text, "| ");
		markdown_append(writer->text, group ? group : "");
		text_append(writer->text, group ? ": " : "");
		markdown_append(writer->text, title ? title : "");
		text_append(writer->text, " ");
	}
	text_append(writer->text, "|\n");
	for (size_t i = 0; i < writer->column_cnt; i++)
		text_append(writer->text, writer->columns[i].align == TABLE_RIGHT ? "|---:" : "|---");
	text_append(writer->text, "|\n");
	return table_walk(table, visit_markdown, writer);
}

static int add_table(struct document *document, const struct table *table)
{
	struct table_writer writer = { .text = NULL };
	struct text *grown;
	int err;

	if (!table)
		return -ENOMEM;
	grown = array_grow(document->tables, &document->table_size, document->table_cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	document->tables = grown;
	writer.text = &document->tables[document->table_cnt];
	*writer.text = (struct text){ 0 };
	writer.columns = table_columns(table, &writer.column_cnt);
	err = document->kind == DOCUMENT_HTML ? write_html(&writer, table) : write_markdown(&writer, table);
	err = err ? err : writer.cell.err ? writer.cell.err : writer.text->err;
	text_release(&writer.cell);
	document->table_cnt++;
	fprintf(document->file, "%c\n", TABLE_MARK);
	return err;
}

/* ---- the whole ---- */

int document_begin(struct cli *cli, enum document_kind kind)
{
	struct document *document = calloc(1, sizeof(*document));

	if (document)
		document->file = open_memstream(&document->bytes, &document->size);
	if (!document || !document->file) {
		free(document);
		return -ENOMEM;
	}
	document->kind = kind;
	document->before = cli->out;
	cli->out = (struct screen){
		.file = document->file, .document = document, .add_table = add_table, .columns = COLUMNS
	};
	return 0;
}

/* A line of a paragraph; the first one begins it. */
static void append_line(const struct document *document, struct text *text, bool *in_paragraph,
			const char *bytes, size_t length)
{
	bool is_html = document->kind == DOCUMENT_HTML;

	if (*in_paragraph)
		text_append(text, is_html ? "<br>\n" : "  \n");
	else
		text_append(text, is_html ? "<p>" : "");
	append_copy(text, document->kind, bytes, length);
	*in_paragraph = true;
}

static void end_paragraph(const struct document *document, struct text *text, bool *in_paragraph)
{
	if (*in_paragraph)
		text_append(text, document->kind == DOCUMENT_HTML ? "</p>\n" : "\n\n");
	*in_paragraph = false;
}

static void append_body(const struct document *document, struct text *text)
{
	const char *at = document->bytes, *end = at + document->size;
	bool in_paragraph = false;
	size_t table = 0;

	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		if (stop == at || *at == TABLE_MARK)
			end_paragraph(document, text, &in_paragraph);
		else
			append_line(document, text, &in_paragraph, at, (size_t)(stop - at));
		if (stop > at && *at == TABLE_MARK && table < document->table_cnt) {
			text_append(text, text_string(&document->tables[table++]));
			text_append(text, document->kind == DOCUMENT_HTML ? "" : "\n");
		}
		at = stop < end ? stop + 1 : end;
	}
	end_paragraph(document, text, &in_paragraph);
}

int document_end(struct cli *cli, const char *title)
{
	struct document *document = cli->out.document;
	struct text text = { 0 };
	int err = ferror(document->file);

	err = fclose(document->file) || err ? -ENOMEM : 0;
	cli->out = document->before;
	if (!err && document->kind == DOCUMENT_HTML)
		markup_begin_page(&text, title, NULL);
	else if (!err)
		text_append_format(&text, "### %s\n\n", title);
	if (!err)
		append_body(document, &text);
	if (!err && document->kind == DOCUMENT_HTML)
		markup_end_page(&text, TXTRACE_VERSION);
	err = err ? err : text.err;
	if (!err)
		fputs(text_string(&text), cli->out.file);
	text_release(&text);
	for (size_t i = 0; i < document->table_cnt; i++)
		text_release(&document->tables[i]);
	free(document->tables);
	free(document->bytes);
	free(document);
	return err;
}
