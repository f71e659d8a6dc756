/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a comparison, or the check of a log, comes to, in words: a summary, and
 * sections of lines, what matters first. Reports (verdict_report.h) only lay it
 * out, each for its place. Texts are UTF-8 without control characters, whatever
 * labels hold (text_append_escaped()); what else a format minds is its own
 * business.
 */
#ifndef VERDICT_DOCUMENT_H
#define VERDICT_DOCUMENT_H

#include "cli/verdict/document_section.h"
#include "cli/verdict/verdict_view.h"

#define SECTIONS_MAX 8

int verdict_status_of(const struct comparison *comparison, const struct gate *gate); /* each may be NULL */

struct verdict_document {
	char *summary; /* a line */
	enum line_kind kind; /* of it */
	struct document_section sections[SECTIONS_MAX];
	size_t section_cnt;
};

/* 0 or -ENOMEM */
int verdict_document_init(struct verdict_document *document, const struct verdict_view *view);
void verdict_document_release(struct verdict_document *document);

#endif
