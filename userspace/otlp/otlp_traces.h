/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of OpenTelemetry (TracesData, as files and receivers have them), in
 * protobuf or in JSON, to which attributes are added. All else stays as it is,
 * byte by byte, also what this version of the format does not have.
 *
 * The bytes may be anything. In JSON, member names with escape sequences in
 * them are not recognized.
 */
#ifndef OTLP_TRACES_H
#define OTLP_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define OTLP_TRACES_ADDED_MAX 40

struct otlp_traces_span {
	uint8_t trace_id[16];
	uint8_t span_id[8];
	uint8_t parent_id[8]; /* all 0: none */
	uint64_t process;     /* the same for spans with the same resource */
	uint64_t begin_ns;
	uint64_t end_ns;
	size_t offset; /* of it in what is read */
	bool has_own;  /* an attribute whose name begins with "txtrace." */
};

struct otlp_traces_attribute {
	const char *name; /* ASCII, nothing to escape */
	const char *text; /* likewise; NULL: the number, or is_flag: true */
	uint64_t number;  /* stops at INT64_MAX */
	bool is_flag;
};

struct otlp_traces_added {
	struct otlp_traces_attribute attributes[OTLP_TRACES_ADDED_MAX];
	size_t cnt;
};

/* A result that is not 0 ends the walk and is its result; it is negative. */
struct otlp_traces_visitor {
	/* Of each span: what is to be added to it; it is empty at first. Ids that are not valid are all 0. */
	int (*span)(void *context, const struct otlp_traces_span *span, struct otlp_traces_added *added);
	/* Now and then: what is in out will not change, and may be taken out of it. May be NULL. */
	int (*drain)(void *context, struct text *out);
	void *context;
};

/* By its first byte that is no blank; with blanks before it, it may be protobuf. */
bool otlp_traces_is_json(const char *bytes, size_t length);

/*
 * All of them; out: where what was read, and added, goes behind what is there;
 * NULL: nowhere. JSON may be several documents, one after the other. 0, -ENOMEM,
 * or -EBADMSG: it is damaged, from *offset on.
 */
int otlp_traces_walk(const char *bytes, size_t length, const struct otlp_traces_visitor *visitor,
		     struct text *out, size_t *offset);

#endif
