/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A record as a line: its kind, then name=value for every field. Strings are
 * quoted and escaped, so it is always one line.
 */
#ifndef DUMP_LINE_H
#define DUMP_LINE_H

#include "base/text.h"
#include "txtrace/log.h"

void dump_line_append(struct text *text, const struct txtrace_record *record); /* without the newline */

#endif
