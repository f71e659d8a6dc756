/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON (RFC 8259) of an input, token by token: memory is bounded by the longest
 * string that is kept, 1 MiB; what is longer is cut.
 *
 *	struct json_source json;
 *	json_source_init(&json, source);
 *	while ((result = json_next(&json)) == 1)
 *		use(json.token, &json.text);
 */
#ifndef JSON_SOURCE_H
#define JSON_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "import/import_source.h"

#define JSON_STRING_MAX (3u << 19) /* as base64, the longest string of a log */

enum json_token {
	JSON_END = 0, /* of the input */
	JSON_OBJECT = 1,
	JSON_OBJECT_END = 2,
	JSON_ARRAY = 3,
	JSON_ARRAY_END = 4,
	JSON_STRING = 5, /* text: unescaped */
	JSON_NUMBER = 6, /* text: as it is */
	JSON_TRUE = 7,
	JSON_FALSE = 8,
	JSON_NULL = 9,
};

struct json_source {
	struct import_source *source;
	enum json_token token;
	struct text text;
	uint64_t cut_cnt; /* strings that were cut */

	/* private */
	const uint8_t *at, *end, *begin;
};

void json_source_init(struct json_source *json, struct import_source *source);
void json_source_release(struct json_source *json);

/*
 * The next token; commas and colons are passed over. 0; -EBADMSG: this is no
 * JSON; -ENODATA: it ends inside a token; -ENOMEM.
 */
int json_next(struct json_source *json);

/* All that belongs to the token that was read. JSON_END inside it is -ENODATA. */
int json_pass(struct json_source *json);

uint64_t json_offset(const struct json_source *json);

#endif
