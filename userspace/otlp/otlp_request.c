/* SPDX-License-Identifier: BSD-2-Clause */
#include "otlp/otlp_request.h"

#include <stdlib.h>
#include <string.h>

bool otlp_request_is_json(const struct otlp_request *request)
{
	return strncmp(request->type, OTLP_TYPE_JSON, strlen(OTLP_TYPE_JSON)) == 0;
}

static size_t header_cnt(const struct otlp_request *request)
{
	size_t cnt = 0;

	while (request->headers && request->headers[cnt])
		cnt++;
	return cnt;
}

struct otlp_request *otlp_request_copy(const struct otlp_request *request, size_t *size)
{
	size_t cnt = header_cnt(request);
	struct otlp_request *copy;
	const char **headers;
	char *at;

	*size = sizeof(*copy) + (cnt + 1) * sizeof(*headers) + strlen(request->type) + 1 +
		(request->path ? strlen(request->path) + 1 : 0) + request->length;
	for (size_t i = 0; i < cnt; i++)
		*size += strlen(request->headers[i]) + 1;
	copy = malloc(*size);
	if (!copy)
		return NULL;
	*copy = *request;
	headers = (const char **)(copy + 1);
	at = (char *)(headers + cnt + 1);
	for (size_t i = 0; i < cnt; i++) {
		headers[i] = at;
		at = stpcpy(at, request->headers[i]) + 1;
	}
	headers[cnt] = NULL;
	copy->headers = headers;
	copy->type = at;
	at = stpcpy(at, request->type) + 1;
	if (request->path) {
		copy->path = at;
		at = stpcpy(at, request->path) + 1;
	}
	copy->bytes = memcpy(at, request->bytes, request->length);
	return copy;
}
