/* SPDX-License-Identifier: BSD-2-Clause */
/* A part of a document (verdict_document.h): a title, and lines that belong together. */
#ifndef DOCUMENT_SECTION_H
#define DOCUMENT_SECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum line_kind {
	LINE_BAD = 0,     /* worse, regressed, a rule that matches nothing */
	LINE_GOOD = 1,    /* better, holds */
	LINE_UNSURE = 2,  /* can't tell */
	LINE_NEUTRAL = 3, /* the machine's, labels that came and went, notes */
};

struct document_line {
	char *text;
	enum line_kind kind;
	bool is_detail; /* belongs to the line before */
};

struct document_section {
	const char *title;
	struct document_line *lines;
	size_t line_cnt;
	size_t left_out_cnt; /* more lines, beyond the limit */
};

/* Takes the text, which is empty then. 0 or -ENOMEM. */
int document_section_add(struct document_section *section, struct text *text, enum line_kind kind,
			 bool is_detail);

void document_section_release(struct document_section *section);

#endif
