/* SPDX-License-Identifier: BSD-2-Clause */
/* What a reader of a verdict has to know beside it: which runs, what was left out or lost, what differs between the sides but the program. */
#ifndef VERDICT_NOTES_H
#define VERDICT_NOTES_H

#include "base/text.h"
#include "cli/verdict/verdict_document.h"

int verdict_notes_add(struct document_section *section, const struct verdict_view *view, struct text *text); /* 0 or -ENOMEM */

/* Takes the text, which is empty then. 0 or -ENOMEM. */
int document_add_line(struct document_section *section, struct text *text, enum line_kind kind, bool is_detail);

#endif
