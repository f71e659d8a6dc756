/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A record as members of a JSON object, as the table of records says; and what
 * JSON has no word for. Errors stay in json->err.
 */
#ifndef RECORD_JSON_H
#define RECORD_JSON_H

#include "base/json.h"
#include "txtrace/log.h"

/*
 * All that the record has: ids as strings of digits, bytes that are no UTF-8
 * also in hex. docs/export.md describes the members.
 */
void record_json_members(struct json *json, const struct txtrace_record *record);

void json_member_hex(struct json *json, const char *name, const void *bytes, size_t length);

#endif
