/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What our pages (of HTML) and texts in Markdown are made of: reports of
 * commands, and the verdicts of diff and check. All text is escaped: labels may
 * be anything.
 */
#ifndef MARKUP_H
#define MARKUP_H

#include "base/text.h"

/* For XML and HTML: <, >, &, quotes, and what XML can't hold. */
void markup_append(struct text *text, const char *string);

/* What Markdown, HTML in it, or a forge would take for its own: links, mentions, references to issues. */
void markdown_append(struct text *text, const char *string);

/*
 * A page up to its heading. It loads nothing. title: our words. script: the hash, with quotes, of the one
 * that it may run; NULL: none.
 */
void markup_begin_page(struct text *text, const char *title, const char *script);
void markup_end_page(struct text *text, const char *version);

#endif
