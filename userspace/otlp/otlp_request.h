/* SPDX-License-Identifier: BSD-2-Clause */
/* What is sent to a receiver of OTLP over HTTP. */
#ifndef OTLP_REQUEST_H
#define OTLP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OTLP_TRACES_PATH "/v1/traces"
#define OTLP_TYPE_PROTOBUF "application/x-protobuf"
#define OTLP_TYPE_JSON "application/json"

struct otlp_request {
	const char *bytes; /* TracesData, or whatever the path is for */
	size_t length;
	uint32_t span_cnt; /* 0: these are no traces, or not known to be */
	const char *type;  /* of the bytes: OTLP_TYPE_… or another one */
	bool is_packed;	   /* they are to be sent in gzip's format */
	const char *path;  /* behind otlp_endpoint's base, as "/v1/metrics"; NULL: that of traces */
	/* "Name: value", NULL-terminated, which come with those of the endpoint; NULL: none */
	const char *const *headers;
};

bool otlp_request_is_json(const struct otlp_request *request);

/*
 * With all that it points to, in one piece of memory, to be freed; *size: how
 * large it is. NULL: no memory.
 */
struct otlp_request *otlp_request_copy(const struct otlp_request *request, size_t *size);

#endif
