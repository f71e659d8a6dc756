/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A span as a JSON object, with the members that `txtrace export --format
 * jsonl` gives it, and "thread_name".
 */
#ifndef SPAN_JSON_H
#define SPAN_JSON_H

#include "base/json.h"
#include "txtrace/log.h"

/* thread_name: empty if it is not known. */
void span_json(struct json *json, const struct txtrace_span *span, struct txtrace_string thread_name);

/* The same into the object that is open. */
void span_members_json(struct json *json, const struct txtrace_span *span, struct txtrace_string thread_name);

#endif
