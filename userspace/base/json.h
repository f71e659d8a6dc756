/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A streaming JSON writer: to a FILE, or into memory that grows.
 *
 *	struct json json;
 *
 *	json_init_file(&json, stdout);
 *	json_object_begin(&json);
 *	json_member_u64(&json, "pid", 42);
 *	json_name(&json, "blocked");
 *	json_object_begin(&json);
 *	json_object_end(&json);
 *	json_object_end(&json);
 *	json_newline(&json);             -> {"pid":42,"blocked":{}}\n
 *	err = json_release(&json);
 *
 * Commas, quotes and escapes are the writer's business. Strings may hold any
 * bytes: what is no UTF-8 becomes U+FFFD, byte by byte; NUL and control
 * characters are escaped. So the output is always valid UTF-8 and, when calls
 * pair up, valid JSON.
 *
 * Errors stick: after the first one (-ENOMEM, -EIO or what write said, -EINVAL
 * when calls do not pair up or nest deeper than JSON_DEPTH_MAX) every call does
 * nothing; look at json.err or json_release() once, at the end.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 32

struct json {
	int err;       /* 0, or the first error, negative */
	bool is_pretty; /* set it after init: one member a line, indented by two blanks */

	/*
	 * Without a file: what was written so far, not NUL-terminated, until json_release(). With one: what
	 * is not in it yet.
	 */
	char *bytes;
	size_t length;

	/* private */
	FILE *file;
	size_t size;
	unsigned int depth;
	uint64_t is_array;     /* bit n: the n-th level is an array */
	uint64_t has_elements; /* bit n: the n-th level needs a comma before the next element */
	bool has_name;         /* a name is written and its value due */
};

/*
 * The file stays the caller's. It is written to whenever an object or array is
 * complete, or 16 KiB have come; it is not flushed.
 */
void json_init_file(struct json *json, FILE *file);
void json_init_memory(struct json *json);
/* frees the memory; returns json->err, -EINVAL if something is still open */
int json_release(struct json *json);

/* Forgets what is in memory (keeping the room) and what was open: for the next document. Errors stay. */
void json_reset(struct json *json);

void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);

/* Values: at the top, as an element of an array, or after json_name() in an object. */
void json_name(struct json *json, const char *name);
/* any bytes, as in json_string() */
void json_name_string(struct json *json, const char *bytes, size_t length);
void json_u64(struct json *json, uint64_t value);
void json_i64(struct json *json, int64_t value);
/* 1234567, 3 -> 1234.567: exact, at most 19 */
void json_u64_scaled(struct json *json, uint64_t value, unsigned int decimals);
/* "18446744073709551615": for ids, which exceed 2^53 */
void json_u64_string(struct json *json, uint64_t value);
/* shortest that reads back the same; null for NaN and infinities */
void json_double(struct json *json, double value);
void json_fixed(struct json *json, double value, unsigned int decimals); /* 12.50; for percentages */
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
void json_string(struct json *json, const char *bytes, size_t length);
void json_text(struct json *json, const char *text); /* NUL-terminated; NULL: null */

/* Name and value in one. */
void json_member_u64(struct json *json, const char *name, uint64_t value);
void json_member_i64(struct json *json, const char *name, int64_t value);
void json_member_u64_string(struct json *json, const char *name, uint64_t value);
void json_member_double(struct json *json, const char *name, double value);
void json_member_bool(struct json *json, const char *name, bool value);
void json_member_null(struct json *json, const char *name);
void json_member_string(struct json *json, const char *name, const char *bytes, size_t length);
void json_member_text(struct json *json, const char *name, const char *text);

/* Ends a line between two documents (JSON Lines). */
void json_newline(struct json *json);

/*
 * Begins a line before the next element or member: only white space, for those
 * who read or split large documents by line.
 */
void json_line_break(struct json *json);

#endif
