/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where spans are sent, and how: what was given, and for the rest what the
 * environment says by OpenTelemetry's rules, OTEL_EXPORTER_OTLP_TRACES_… before
 * OTEL_EXPORTER_OTLP_…. A variable that is empty is not set.
 */
#ifndef OTLP_ENDPOINT_H
#define OTLP_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define OTLP_ENDPOINT_ENV "env" /* instead of a URL: what the environment says */

struct otlp_endpoint {
	char *url;   /* to which traces are sent */
	char *base;  /* to which a path is added for what is not traces; NULL: it is not known */
	char *place; /* "host:port": for messages */
	bool is_json;
	bool is_gzip;
	uint64_t timeout_ms; /* of one request */
	/* "Name: value", NULL-terminated. They may be secrets: for no message. */
	char **headers;
	/* files in PEM; NULL: what libcurl takes by itself */
	const char *certificate;
	const char *client_key;
	const char *client_certificate;
};

/*
 * given: "http[s]://HOST[:PORT][/PATH]", to which /v1/traces is added unless it
 * ends so, or OTLP_ENDPOINT_ENV. headers_file: NULL, or lines "Name: value".
 * -EINVAL and others, with a sentence. To be released in any case.
 */
int otlp_endpoint_read(struct otlp_endpoint *endpoint, const char *given, const char *headers_file,
		       struct error *error);
void otlp_endpoint_release(struct otlp_endpoint *endpoint);

#endif
