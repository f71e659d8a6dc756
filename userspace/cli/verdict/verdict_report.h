/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reports on a verdict, one file each: a struct verdict_format, an entry in
 * the table of verdict_report.c. Each writes the same document
 * (verdict_document.h) for its place, or the figures themselves, and escapes
 * what that place minds: labels may be any text.
 */
#ifndef VERDICT_REPORT_H
#define VERDICT_REPORT_H

#include <stdio.h>

#include "base/text.h"
#include "cli/screen.h"
#include "cli/verdict/verdict_document.h"

struct verdict_format {
	const char *name; /* as after --format */
	const char *help;
	/*
	 * screen: where it goes, for what a terminal can show. Write errors stay in the file. 0 or -ENOMEM.
	 */
	int (*write)(const struct verdict_view *view, const struct verdict_document *document,
		     const struct screen *screen);
};

extern const struct verdict_format verdict_format_terminal, verdict_format_markdown, verdict_format_junit,
	verdict_format_github, verdict_format_json, verdict_format_html;

const struct verdict_format *verdict_format_at(size_t idx); /* NULL behind the last */
const struct verdict_format *verdict_format_find(const char *name);
const char *verdict_format_name_at(size_t idx); /* for struct option_spec */

/* The JSON schema of the JSON report. */
extern const char verdict_schema[];

#endif
