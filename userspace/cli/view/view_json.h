/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The document that a page holds, as JSON: what page/data.js reads, and nobody
 * else. Times count from "begin_ns". Lists of many items are objects of
 * columns: {"from":[…],"length":[…]}. A string is its number in "strings".
 */
#ifndef VIEW_JSON_H
#define VIEW_JSON_H

#include "analyze/log_census.h"
#include "base/json.h"
#include "cli/view/view_data.h"
#include "txtrace/log.h"

/* 0 or -ENOMEM. */
int view_json(struct json *json, const struct view_data *data, const struct txtrace_log_info *info,
	      const struct log_census *census);

#endif
