/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/flame_svg.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "base/utf8.h"
#include "cli/print/tree_print.h"

#define WIDTH 1200.0 /* of the picture, in its own units */
#define MARGIN 10.0
#define TOP 46.0
#define ROW_HEIGHT 18.0
#define CHARACTER_WIDTH 6.8
#define LEAST_WIDTH 0.1 /* narrower frames are left out: nobody could see them */

/* ---- text ---- */

/* UTF-8 without control characters as XML, which knows no way to write two more. */
static void append_markup(struct text *text, const char *bytes, size_t length)
{
	size_t size;
	uint32_t point;

	for (size_t i = 0; i < length; i += size) {
		size = utf8_decode(bytes + i, length - i, &point);
		if (point == '&')
			text_append(text, "&amp;");
		else if (point == '<')
			text_append(text, "&lt;");
		else if (point == '>')
			text_append(text, "&gt;");
		else if (point == '"')
			text_append(text, "&quot;");
		else if ((point & 0xfffe) == 0xfffe)
			text_append_format(text, "\\u{%x}", point);
		else
			text_append_bytes(text, bytes + i, size);
	}
}

/* How many bytes of it are so many columns wide at most. */
static size_t fitting_bytes(const struct text *text, size_t columns)
{
	size_t i = 0, used = 0;

	while (i < text->length) {
		uint32_t point;
		size_t size = utf8_decode(text->bytes + i, text->length - i, &point);

		used += utf8_columns(point);
		if (used > columns)
			break;
		i += size;
	}
	return i;
}

/* Warm colours; the same label always has the same. */
static void append_colour(struct text *text, struct txtrace_string name)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < name.length; i++)
		hash = (hash ^ (unsigned char)name.bytes[i]) * 16777619u;
	text_append_format(text, "rgb(%u,%u,%u)", 205 + hash % 50, 90 + (hash >> 8) % 120,
			   40 + (hash >> 16) % 50);
}

/* ---- the picture ---- */

static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
			   "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" viewBox=\"0 0 1200 "
			   "%.0f\" width=\"100%%\" font-family=\"monospace\" font-size=\"11\">\n"
			   "<style>.f rect{stroke:#fff;stroke-width:.5}.f{cursor:pointer}.f "
			   "text{pointer-events:none}.hit rect{fill:#7af}.dim{opacity:.4}"
			   "#search,#reset{cursor:pointer;fill:#06c}</style>\n"
			   "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n";

/*
 * Zoom: a click makes a frame as wide as the picture. Search: a regular expression, or if it is none, a part
 * of the label. Nothing is taken for markup.
 */
static const char script[] =
	"<script><![CDATA[\n"
	"(function(){\n"
	"var W=1180,M=10,C=6.8,all=[].slice.call(document.querySelectorAll('.f'));\n"
	"function num(g,n){return parseFloat(g.getAttribute('data-'+n));}\n"
	"function draw(x,w,d){all.forEach(function(g){\n"
	" var "
	"a=(num(g,'x')-x)/w*W,b=a+num(g,'w')/"
	"w*W,r=g.querySelector('rect'),t=g.querySelector('text'),n=g.getAttribute('data-n');\n"
	" a=Math.max(a,0);b=Math.min(b,W);g.style.display=b-a<.1?'none':'';if(b-a<.1)return;\n"
	" r.setAttribute('x',M+a);r.setAttribute('width',b-a);t.setAttribute('x',M+a+2);\n"
	" var k=Math.floor((b-a-4)/C);t.textContent=k<3?'':n.length>k?n.slice(0,k-1)+'\\u2026':n;\n"
	" g.classList.toggle('dim',num(g,'d')<d);});\n"
	" document.getElementById('reset').style.display=w<1?'':'none';}\n"
	"all.forEach(function(g){g.addEventListener('click',function(){draw(num(g,'x'),num(g,'w'),num(g,'d'))"
	";});});\n"
	"document.getElementById('reset').addEventListener('click',function(){draw(0,1,0);});\n"
	"var s=document.getElementById('search');s.style.display='';\n"
	"s.addEventListener('click',function(){\n"
	" var q=prompt('search for labels:','');if(q===null)return;\n"
	" var m;try{var e=new RegExp(q);m=function(n){return e.test(n);};}catch(x){m=function(n){return "
	"n.indexOf(q)>=0;};}\n"
	" all.forEach(function(g){g.classList.toggle('hit',q!==''&&m(g.getAttribute('data-n')));});});\n"
	"})();\n"
	"]]></script>\n";

/* What of the label fits into its frame; all of it is in the frame's title. */
static void append_inscription(struct text *text, const struct text *label, double width)
{
	size_t columns = width > 4 ? (size_t)((width - 4) / CHARACTER_WIDTH) : 0,
	       length = fitting_bytes(label, columns);

	if (columns < 3)
		return;
	if (length < label->length)
		length = fitting_bytes(label, columns - 1);
	append_markup(text, text_string(label), length);
	text_append(text, length < label->length ? "\xe2\x80\xa6" : "");
}

static struct txtrace_string name_of_row(const struct span_tree *tree, const struct flame_row *row)
{
	return row->function.bytes ? row->function : span_tree_name(tree, row->node);
}

static void append_frame(struct text *text, const struct flame_rows *rows, const struct flame_row *row,
			 struct txtrace_string name)
{
	double begin = (double)row->begin_ns / (double)rows->total_ns,
	       share = (double)row->total_ns / (double)rows->total_ns;
	double left = MARGIN + begin * (WIDTH - 2 * MARGIN), width = share * (WIDTH - 2 * MARGIN),
	       top = TOP + row->depth * ROW_HEIGHT;
	char total[UNITS_SIZE], self[UNITS_SIZE], count[UNITS_SIZE];
	struct text label = { 0 };

	text_append_escaped(&label, name.bytes, name.length);
	text_append_format(text,
			   "<g class=\"f\" data-x=\"%.9g\" data-w=\"%.9g\" data-d=\"%" PRIu32 "\" data-n=\"",
			   begin, share, row->depth);
	append_markup(text, text_string(&label), label.length);
	text_append(text, "\"><title>");
	append_markup(text, text_string(&label), label.length);
	text_append_format(text, ": %s, %.2f %%, self %s; %s%s spans</title>",
			   units_format_duration(total, row->total_ns), 100 * share,
			   units_format_duration(self, row->self_ns), row->function.bytes ? "code of " : "",
			   units_format_count(count, row->node->exact.cnt));
	text_append_format(text, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\" fill=\"", left,
			   top, width, ROW_HEIGHT - 1);
	append_colour(text, name);
	text_append_format(text, "\"/><text x=\"%.2f\" y=\"%.0f\">", left + 2, top + 13);
	append_inscription(text, &label, width);
	text_append(text, "</text></g>\n");
	text->err = text->err ? text->err : label.err;
	text_release(&label);
}

static void append_title(struct text *text, const struct flame_rows *rows, const char *title,
			 const char *weight)
{
	char total[UNITS_SIZE];

	text_append(text, "<text x=\"10\" y=\"18\" font-size=\"13\">");
	append_markup(text, title, strlen(title));
	text_append_format(text, "</text>\n<text x=\"10\" y=\"36\">%s: %s</text>\n", weight,
			   units_format_duration(total, rows->total_ns));
	text_append(text, "<text id=\"search\" x=\"1190\" y=\"36\" text-anchor=\"end\" "
			  "style=\"display:none\">search</text>\n"
			  "<text id=\"reset\" x=\"1130\" y=\"36\" text-anchor=\"end\" "
			  "style=\"display:none\">reset zoom</text>\n");
}

int flame_svg(FILE *file, const struct flame_rows *rows, const struct span_tree *tree, const char *title,
	      const char *weight)
{
	struct text text = { 0 };
	int err;

	fprintf(file, head, TOP + (rows->depth ? rows->depth : 1) * ROW_HEIGHT + MARGIN);
	append_title(&text, rows, title, weight);
	if (rows->cnt == 0)
		text_append(&text, "<text x=\"10\" y=\"60\">nothing</text>\n");
	for (size_t i = 0; i < rows->cnt; i++) {
		double width = (double)rows->rows[i].total_ns / (double)rows->total_ns * (WIDTH - 2 * MARGIN);

		if (width >= LEAST_WIDTH)
			append_frame(&text, rows, &rows->rows[i], name_of_row(tree, &rows->rows[i]));
		fwrite(text_string(&text), 1, text.length, file);
		text_clear(&text);
	}
	fwrite(text_string(&text), 1, text.length, file);
	fprintf(file, "%s</svg>\n", script);
	err = text.err;
	text_release(&text);
	return err;
}

/* ---- folded ---- */

/* A semicolon would begin a new frame. */
static void append_folded(struct text *text, struct txtrace_string name)
{
	size_t at = 0;

	while (at < name.length) {
		const char *semicolon = memchr(name.bytes + at, ';', name.length - at);
		size_t length = semicolon ? (size_t)(semicolon - name.bytes) - at : name.length - at;

		text_append_escaped(text, name.bytes + at, length);
		text_append(text, semicolon ? "\\x3b" : "");
		at += length + 1;
	}
}

int flame_folded(FILE *file, const struct flame_rows *rows, const struct span_tree *tree)
{
	size_t lengths[FLAME_DEPTH_MAX + 1] = { 0 }; /* of the path down to each depth */
	struct text path = { 0 };
	int err;

	for (size_t i = 0; i < rows->cnt; i++) {
		const struct flame_row *row = &rows->rows[i];

		if (row->depth >= FLAME_DEPTH_MAX)
			continue;
		path.length = lengths[row->depth];
		if (row->depth > 0)
			text_append(&path, ";");
		append_folded(&path, name_of_row(tree, row));
		lengths[row->depth + 1] = path.length;
		if (row->self_ns > 0)
			fprintf(file, "%.*s %" PRIu64 "\n", (int)path.length, text_string(&path),
				row->self_ns);
	}
	err = path.err;
	text_release(&path);
	return err;
}
