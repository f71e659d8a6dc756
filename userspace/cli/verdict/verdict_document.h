/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a comparison, or the check of a log, comes to, in words: a summary, and sections of lines, what matters first. Reports (verdict_report.h) only
 * lay it out, each for its place. Texts are UTF-8 without control characters, whatever labels hold (text_append_escaped()); what else a format minds
 * is its own business.
 */
#ifndef VERDICT_DOCUMENT_H
#define VERDICT_DOCUMENT_H

#include "analyze/compare/gate.h"

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

#define SECTIONS_MAX 8

struct verdict_view {
	const char *program;        /* "txtrace diff" */
	const char *version;
	const struct run_set *set;
	const struct comparison *comparison; /* NULL: the check of a log */
	const struct gate *gate;             /* NULL: there are no rules */
	size_t incomplete_cnt;      /* logs that are damaged, cut off or were not closed */
	uint64_t limit;             /* labels of a section; 0: all */
	int status;                 /* enum verdict_status */
};

/* The exit status of diff and check. */
enum verdict_status {
	VERDICT_STATUS_HOLDS = 0,
	VERDICT_STATUS_REGRESSED = 1,
	VERDICT_STATUS_FAILED = 2,
	VERDICT_STATUS_CANT_TELL = 3,
};

int verdict_status_of(const struct comparison *comparison, const struct gate *gate); /* each may be NULL */

struct verdict_document {
	char *summary; /* a line */
	enum line_kind kind; /* of it */
	struct document_section sections[SECTIONS_MAX];
	size_t section_cnt;
};

int verdict_document_init(struct verdict_document *document, const struct verdict_view *view); /* 0 or -ENOMEM */
void verdict_document_release(struct verdict_document *document);

#endif
