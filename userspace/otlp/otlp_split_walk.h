/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of otlp_split.h for JSON, and what it shares with the one for protobuf. */
#ifndef OTLP_SPLIT_WALK_H
#define OTLP_SPLIT_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Spans with these numbers: of the whole message, in its order. */
struct otlp_wanted {
	uint64_t begin, end;
	uint64_t number; /* of the next one */
};

/* Appends the message with the wanted spans. 0 or -EBADMSG. */
int otlp_split_json(struct text *out, const char *bytes, size_t length, struct otlp_wanted *wanted);

#endif
