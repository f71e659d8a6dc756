/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/print/markup.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

static const char style[] =
	"body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 "
	"1em;color:#222;background:#fff}"
	"h1{font-size:1.3em}h2{font-size:1.1em;margin-top:1.6em}ul{list-style:none;padding-left:0}"
	".summary{padding:.8em 1em;border-left:8px solid #bbb;background:#f6f6f6}"
	"li{padding:.25em .6em;margin:.2em 0;border-left:4px solid #bbb}"
	"li.detail{margin-left:1.6em;border-left-width:1px;color:#444}.bad{border-color:#c62828}.good{border-"
	"color:#2e7d32}.unsure{border-color:#f9a825}"
	".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.92em}svg{color:#546e7a}tr.worse "
	"svg{color:#c62828}tr.better svg{color:#2e7d32}"
	"td,th{padding:.2em .8em .2em 0;text-align:left;white-space:nowrap}tr.worse "
	"td:last-child{color:#c62828;font-weight:600}"
	"tr.better td:last-child{color:#2e7d32;font-weight:600}.plain{color:#777}"
	"@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}.summary{background:#262626}li."
	"detail{color:#aaa}}"
	"td.number,th.number{text-align:right}td.line{white-space:normal;color:#777}th.group{text-align:"
	"center;"
	"font-weight:400;border-bottom:1px solid #bbb}.s1{font-weight:600}.s2,.s90{opacity:.55}"
	".s31{color:#b3261e}.s32{color:#2e7d32}.s33{color:#a15c00}.s34{color:#0b5cad}.s35{color:#7b2d8e}"
	".s36{color:#006b6b}.s37{color:#8a8f98}.s91{color:#d3504a}.s92{color:#58a55c}.s93{color:#c98a1b}"
	".s94{color:#4c8fd6}.s95{color:#a95fbb}.s96{color:#2a9d9d}"
	"@media(prefers-color-scheme:dark){.s31{color:#ff8a80}.s32{color:#81c784}.s33{color:#ffb74d}"
	".s34{color:#7db7f5}.s35{color:#ce93d8}.s36{color:#5fd0d0}}"
	".sides{display:flex;flex-wrap:wrap;gap:1em}.sides figure{flex:1 1 30em;min-width:0;margin:0}"
	"iframe{width:100%;height:90vh;border:1px solid #bbb}";

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

void markdown_append(struct text *text, const char *string)
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

void markup_begin_page(struct text *text, const char *title, const char *script)
{
	text_append_format(
		text,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
		"name=\"viewport\" content=\"width=device-width\"><meta "
		"http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
		"'unsafe-inline'%s%s\"><title>%s</title>\n<style>%s</style></head><body>\n<h1>%s</h1>\n",
		script ? "; script-src " : "", script ? script : "", title, style, title);
}

void markup_end_page(struct text *text, const char *version)
{
	text_append_format(text, "<p class=\"plain\">txtrace %s</p>\n</body></html>\n", version);
}
