/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of otlp_traces.h for JSON, and what it shares with the one for protobuf. */
#ifndef OTLP_TRACES_WALK_H
#define OTLP_TRACES_WALK_H

#include "otlp/otlp_traces.h"

struct otlp_walk {
	const struct otlp_traces_visitor *visitor;
	struct text *out; /* NULL: nothing is written */
	uint64_t process; /* of the resource that is read */
	const char *begin;
	size_t offset; /* where it is damaged */
};

int otlp_walk_span(struct otlp_walk *walk, const struct otlp_traces_span *span,
		   struct otlp_traces_added *added);

/* Whatever is in walk->out will not change. */
int otlp_walk_drain(struct otlp_walk *walk);

int otlp_walk_json(struct otlp_walk *walk, const char *bytes, size_t length);

/* A number for these bytes. */
uint64_t otlp_walk_hash(const char *bytes, size_t length);

#endif
