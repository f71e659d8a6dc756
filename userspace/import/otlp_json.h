/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OTLP's traces in JSON, packed as protobuf: there is one reader for both. Ids
 * are in hex, numbers may be strings, members that are not known are passed
 * over, and members may come in any order.
 */
#ifndef OTLP_JSON_H
#define OTLP_JSON_H

#include <stdint.h>

#include "base/text.h"
#include "import/json_source.h"

struct otlp_json {
	struct json_source *json;
	/* each element of resourceSpans, packed; a negative errno ends the reading */
	int (*take)(void *context, const char *bytes, size_t length);
	void *context;
	uint64_t wrong_cnt; /* values of another type than the member's, left out */
	uint64_t other_cnt; /* documents that have no resourceSpans */
	struct text packed; /* private; to be released */
};

/* All documents of the input. 0; errors of json_next(); -ELOOP: nested too deep; or what take() returned. */
int otlp_json_read(struct otlp_json *otlp);

#endif
