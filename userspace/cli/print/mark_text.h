/* SPDX-License-Identifier: BSD-2-Clause */
/* What a program said about a span: attributes, instants, links; as text and as JSON. */
#ifndef MARK_TEXT_H
#define MARK_TEXT_H

#include "base/json.h"
#include "base/text.h"
#include "txtrace/log.h"

/* record: ATTRIBUTE, INSTANT or LINK. */
uint64_t mark_time_ns(const struct txtrace_record *record);
uint32_t mark_pid(const struct txtrace_record *record);
uint32_t mark_tid(const struct txtrace_record *record);

/* "bytes = 7", "instant retry", "link caused-by: from 1 to 5". Escaped. */
void mark_append(struct text *text, const struct txtrace_record *record);

/*
 * An object: "kind", "time_ns", "pid", "tid", "span" (or "from" and "to"),
 * "name", and "value" of an attribute, as text.
 */
void mark_json(struct json *json, const struct txtrace_record *record);

#endif
