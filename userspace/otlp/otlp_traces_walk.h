/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of otlp_traces.h for JSON, and what it shares with the one for protobuf. */
#ifndef OTLP_TRACES_WALK_H
#define OTLP_TRACES_WALK_H

#include "otlp/otlp_traces.h"

struct otlp_walk {
	otlp_traces_visit visit;
	void *context;
	struct text *out; /* NULL: nothing is written */
	uint64_t process; /* of the resource that is read */
	const char *begin;
	size_t offset; /* where it is damaged */
};

int otlp_walk_json(struct otlp_walk *walk, const char *bytes, size_t length);

/* A number for these bytes. */
uint64_t otlp_walk_hash(const char *bytes, size_t length);

#endif
