/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a reader of a verdict has to know beside it: which runs, what was left
 * out or lost, what differs between the sides but the program.
 */
#ifndef VERDICT_NOTES_H
#define VERDICT_NOTES_H

#include "cli/verdict/document_section.h"
#include "cli/verdict/verdict_view.h"

/* 0 or -ENOMEM */
int verdict_notes_add(struct document_section *section, const struct verdict_view *view, struct text *text);

#endif
