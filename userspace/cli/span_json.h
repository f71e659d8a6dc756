/* SPDX-License-Identifier: BSD-2-Clause */
/* A span as a JSON object, with the members that `txtrace export --format jsonl` gives it. */
#ifndef SPAN_JSON_H
#define SPAN_JSON_H

#include "base/json.h"
#include "txtrace/log.h"

void span_json(struct json *json, const struct txtrace_span *span);

#endif
