/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of a line of JSON Lines that JSON has no word for. Errors stay in json->err. */
#ifndef JSONL_MEMBER_H
#define JSONL_MEMBER_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "txtrace/log.h"

void jsonl_member_hex(struct json *json, const char *name, const void *bytes, size_t length);

/*
 * JSON holds no bytes that are not UTF-8: such a string comes twice, readable
 * as `name` and exact as `hex_name`.
 */
void jsonl_member_bytes(struct json *json, const char *name, const char *hex_name,
			struct txtrace_string string);

void jsonl_member_pointer(struct json *json, const char *name, uint64_t value);

/* JSON has no number for what is not finite: it comes as a string. */
void jsonl_member_double(struct json *json, const char *name, double value);

/* Nothing, if there is no key; else its bytes, and its text, if people can read that. */
void jsonl_members_key(struct json *json, struct txtrace_string key);

void jsonl_members_ledger(struct json *json, const struct txtrace_ledger *ledger);

#endif
