/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/jsonl_member.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

static bool is_utf8(const char *bytes, size_t length)
{
	uint32_t code_point;

	for (size_t i = 0; i < length;) {
		i += utf8_decode(bytes + i, length - i, &code_point);
		if (code_point == UTF8_INVALID)
			return false;
	}
	return true;
}

void jsonl_member_hex(struct json *json, const char *name, const void *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *from = bytes;
	char *hex = malloc(2 * length + 1);

	if (!hex) {
		json->err = json->err ? json->err : -ENOMEM;
		return;
	}
	for (size_t i = 0; i < length; i++) {
		hex[2 * i] = digits[from[i] >> 4];
		hex[2 * i + 1] = digits[from[i] & 15];
	}
	json_member_string(json, name, hex, 2 * length);
	free(hex);
}

void jsonl_member_bytes(struct json *json, const char *name, const char *hex_name,
			struct txtrace_string string)
{
	json_member_string(json, name, string.bytes, string.length);
	if (!is_utf8(string.bytes, string.length))
		jsonl_member_hex(json, hex_name, string.bytes, string.length);
}

void jsonl_member_pointer(struct json *json, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json_member_text(json, name, text);
}

/* Text for people: no control characters in it. */
static bool is_printable(struct txtrace_string string)
{
	for (size_t i = 0; i < string.length; i++) {
		if ((unsigned char)string.bytes[i] < 0x20 || string.bytes[i] == 0x7f)
			return false;
	}
	return is_utf8(string.bytes, string.length);
}

void jsonl_members_key(struct json *json, struct txtrace_string key)
{
	if (key.length == 0)
		return;
	jsonl_member_hex(json, "key", key.bytes, key.length);
	if (is_printable(key))
		json_member_string(json, "key_text", key.bytes, key.length);
}

void jsonl_members_ledger(struct json *json, const struct txtrace_ledger *ledger)
{
	json_member_u64(json, "on_cpu_ns", ledger->on_cpu_ns);
	json_member_u64(json, "runnable_ns", ledger->runnable_ns);
	json_member_u64(json, "blocked_ns", txtrace_ledger_blocked_ns(ledger));
	json_name(json, "blocked");
	json_object_begin(json);
	for (unsigned int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++)
		json_member_u64(json, txtrace_block_reason_name(reason), ledger->blocked_ns[reason]);
	json_object_end(json);
	json_member_u64(json, "detached_ns", ledger->detached_ns);
	json_member_u64(json, "unknown_ns", ledger->unknown_ns);
	if (ledger->interrupt_ns)
		json_member_u64(json, "interrupt_ns", ledger->interrupt_ns);
}

void jsonl_member_double(struct json *json, const char *name, double value)
{
	if (isfinite(value))
		json_member_double(json, name, value);
	else
		json_member_text(json, name, isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity");
}
