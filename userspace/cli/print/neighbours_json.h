/* SPDX-License-Identifier: BSD-2-Clause */
/* Who had the CPU, for machines. */
#ifndef NEIGHBOURS_JSON_H
#define NEIGHBOURS_JSON_H

#include "analyze/wait/neighbours.h"
#include "base/json.h"

/*
 * An object: "others", "label" (or "pid", "tid", "name"), "spans" (or "waits"),
 * "runnable_ns", "unknown_ns", "neighbours": an array. by: enum neighbours_by.
 */
void neighbours_row_json(struct json *json, const struct neighbours_row *row, unsigned int by);

#endif
