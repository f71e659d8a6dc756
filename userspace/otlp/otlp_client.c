/* SPDX-License-Identifier: BSD-2-Clause */
#include "otlp/otlp_client.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <zlib.h>

#include "base/curl_library.h"
#include "base/text.h"
#include "base/protobuf_reader.h"

#define CONNECT_TIMEOUT_MS 10000
#define ANSWER_KEPT 65536 /* bytes; the rest is read and not kept */
#define ANSWER_MAX (4u << 20)
#define REASON_MAX 200
#define GZIP_LEVEL 1
#define GZIP_WINDOW (15 + 16) /* of 32 KiB, with the header of gzip */
#define GZIP_MEMORY 8

/* Field numbers: of ExportTraceServiceResponse, ExportTracePartialSuccess, and google.rpc.Status. */
enum {
	RESPONSE_PARTIAL_SUCCESS = 1,
	PARTIAL_REJECTED_SPANS = 1,
	PARTIAL_ERROR_MESSAGE = 2,
	STATUS_MESSAGE = 2,
};

struct otlp_client {
	const struct otlp_endpoint *endpoint;
	const atomic_bool *is_stopped;
	struct curl_library curl;
	CURL *handle;
	struct curl_slist *headers; /* of the request */
	z_stream zip;
	bool has_zip;
	struct text zipped;
	struct text answer;
	size_t answer_length; /* with what was not kept */
	char complaint[CURL_ERROR_SIZE];
};

/* ---- what the receiver says ---- */

/* Text of somebody else, of which the first line is shown. */
static void append_reason(struct error *reason, const char *before, const char *bytes, size_t length)
{
	size_t line = 0;

	while (line < length && line < REASON_MAX && bytes[line] != '\n' && bytes[line] != '\r' &&
	       bytes[line] != '\0')
		line++;
	error_set(reason, "%s%s%.*s", before, line > 0 ? ": " : "", (int)line, bytes);
}

/* A message with that number in a message of protobuf; of several the last. */
static bool find_field(const char *bytes, size_t length, unsigned int number, unsigned int type,
		       struct protobuf_field *found)
{
	struct protobuf_reader reader = { bytes, bytes + length };
	struct protobuf_field field;
	bool has_found = false;

	while (protobuf_next(&reader, &field)) {
		if (field.number != number || field.type != type)
			continue;
		*found = field;
		has_found = true;
	}
	return has_found && reader.at == reader.end;
}

static void read_partial_success(const struct text *answer, struct otlp_answer *said)
{
	struct protobuf_field partial, field;

	if (!find_field(text_string(answer), answer->length, RESPONSE_PARTIAL_SUCCESS, PROTOBUF_BYTES,
			&partial))
		return;
	if (find_field(partial.bytes, partial.length, PARTIAL_REJECTED_SPANS, PROTOBUF_VARINT, &field) &&
	    field.value <= INT64_MAX)
		said->rejected_cnt = field.value;
	if (find_field(partial.bytes, partial.length, PARTIAL_ERROR_MESSAGE, PROTOBUF_BYTES, &field) &&
	    field.length > 0)
		append_reason(&said->reason, "the receiver says", field.bytes, field.length);
}

/* Behind "name" and a colon in JSON; NULL: there is no such member. The answer has no others that matter. */
static const char *find_member(const char *json, const char *name)
{
	const char *at = strstr(json, name);

	if (!at)
		return NULL;
	at += strlen(name);
	while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
		at++;
	if (*at != ':')
		return NULL;
	do
		at++;
	while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n');
	return at;
}

static void read_partial_success_json(const char *answer, struct otlp_answer *said)
{
	const char *partial = find_member(answer, "\"partialSuccess\""), *rejected, *message;

	if (!partial)
		return;
	rejected = find_member(partial, "\"rejectedSpans\"");
	message = find_member(partial, "\"errorMessage\"");
	if (rejected && *rejected == '"')
		rejected++;
	if (rejected && *rejected >= '0' && *rejected <= '9')
		said->rejected_cnt = strtoull(rejected, NULL, 10);
	if (message && *message == '"' && message[1] != '"')
		append_reason(&said->reason, "the receiver says", message + 1, strcspn(message + 1, "\""));
}

/* Of an answer that is no success: in the Status of gRPC, in text, or in HTML, which is no sentence. */
static void explain(const struct otlp_client *client, long status, struct otlp_answer *answer)
{
	const char *bytes = text_string(&client->answer), *type = NULL;
	size_t length = client->answer.length;
	struct protobuf_field message;
	char before[32];

	snprintf(before, sizeof(before), "HTTP status %ld", status);
	client->curl.easy_getinfo(client->handle, CURLINFO_CONTENT_TYPE, &type);
	if (type && strstr(type, "protobuf")) {
		bool is_status = find_field(bytes, length, STATUS_MESSAGE, PROTOBUF_BYTES, &message);

		bytes = is_status ? message.bytes : "";
		length = is_status ? message.length : 0;
	} else if (type && strstr(type, "html")) {
		length = 0;
	}
	append_reason(&answer->reason, before, bytes, length);
}

static enum otlp_outcome outcome_of(long status)
{
	switch (status) {
	case 429:
	case 502:
	case 503:
	case 504:
		return OTLP_AGAIN;
	case 413:
		return OTLP_TOO_LARGE;
	case 401:
	case 403:
	case 404:
	case 405:
	case 501:
		return OTLP_HOPELESS;
	default: /* also what leads elsewhere: headers with secrets do not go there */
		return status >= 200 && status < 300 ? OTLP_TAKEN : OTLP_REFUSED;
	}
}

static void take_status(const struct otlp_client *client, const struct otlp_request *request,
			struct otlp_answer *answer)
{
	curl_off_t wait_s = 0;
	long status = 0;

	client->curl.easy_getinfo(client->handle, CURLINFO_RESPONSE_CODE, &status);
	answer->outcome = outcome_of(status);
	if (answer->outcome == OTLP_TAKEN && otlp_request_is_json(request))
		read_partial_success_json(text_string(&client->answer), answer);
	else if (answer->outcome == OTLP_TAKEN)
		read_partial_success(&client->answer, answer);
	else
		explain(client, status, answer);
	if (answer->outcome == OTLP_AGAIN &&
	    client->curl.easy_getinfo(client->handle, CURLINFO_RETRY_AFTER, &wait_s) == CURLE_OK &&
	    wait_s > 0)
		answer->wait_ms = wait_s < 86400 ? (uint64_t)wait_s * 1000 : 86400000;
}

/* ---- a request ---- */

static size_t take_answer(char *bytes, size_t size, size_t cnt, void *context)
{
	struct otlp_client *client = context;
	size_t length = size * cnt, room = ANSWER_KEPT - client->answer.length;

	client->answer_length += length;
	text_append_bytes(&client->answer, bytes, length < room ? length : room);
	return client->answer_length <= ANSWER_MAX && !client->answer.err ? length : 0;
}

static int look_for_stop(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)a, (void)b, (void)c, (void)d;
	return atomic_load_explicit(((struct otlp_client *)context)->is_stopped, memory_order_relaxed);
}

/* No answer came: it may help to ask again, unless the receiver is not who it says that it is. */
static void take_failure(const struct otlp_client *client, CURLcode code, struct otlp_answer *answer)
{
	const char *why = *client->complaint ? client->complaint : client->curl.easy_strerror(code);

	answer->outcome = OTLP_AGAIN;
	if (code == CURLE_ABORTED_BY_CALLBACK) {
		answer->outcome = OTLP_STOPPED;
		error_set(&answer->reason, "stopped");
	} else if (code == CURLE_OPERATION_TIMEDOUT) {
		error_set(&answer->reason, "no answer within %g s",
			  (double)client->endpoint->timeout_ms / 1000);
	} else if (code == CURLE_WRITE_ERROR) {
		answer->outcome = OTLP_REFUSED;
		error_set(&answer->reason, "the answer is longer than 4 MiB");
	} else {
		error_set(&answer->reason, "%s", why);
	}
	switch (code) {
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_ENGINE_NOTFOUND:
		answer->outcome = OTLP_HOPELESS;
		break;
	default:
		break;
	}
}

/* false: no memory. */
static bool compress_body(struct otlp_client *client, const char *bytes, size_t length)
{
	struct text *zipped = &client->zipped;
	z_stream *zip = &client->zip;
	char room[16384];
	int status;

	text_clear(zipped);
	deflateReset(zip);
	zip->next_in = (unsigned char *)bytes;
	zip->avail_in = 0;
	do {
		if (zip->avail_in == 0 && length > 0) { /* which counts in 32 bits */
			zip->avail_in = length < UINT32_MAX / 2 ? (unsigned int)length : UINT32_MAX / 2;
			length -= zip->avail_in;
		}
		zip->next_out = (unsigned char *)room;
		zip->avail_out = sizeof(room);
		status = deflate(zip, length > 0 || zip->avail_in > 0 ? Z_NO_FLUSH : Z_FINISH);
		text_append_bytes(zipped, room, sizeof(room) - zip->avail_out);
	} while (status == Z_OK || status == Z_BUF_ERROR);
	return status == Z_STREAM_END && !zipped->err;
}

/* ---- what is sent ---- */

static bool add_header(struct otlp_client *client, const char *line)
{
	struct curl_slist *longer = client->curl.slist_append(client->headers, line);

	if (longer)
		client->headers = longer;
	return longer;
}

/* What the endpoint says itself comes instead of what the request says. */
static bool is_replaced(const struct otlp_endpoint *endpoint, const char *line)
{
	size_t length = strcspn(line, ":") + 1;

	for (char **header = endpoint->headers; header && *header; header++)
		if (strncasecmp(*header, line, length) == 0)
			return true;
	return false;
}

/* No "Expect: 100-continue", which takes a round trip. */
static bool add_headers(struct otlp_client *client, const struct otlp_request *request)
{
	const struct otlp_endpoint *endpoint = client->endpoint;
	char type[128];
	bool is_fine;

	snprintf(type, sizeof(type), "Content-Type: %s", request->type);
	is_fine = add_header(client, "Expect:") && add_header(client, type) &&
		  (!request->is_packed || add_header(client, "Content-Encoding: gzip"));
	for (const char *const *header = request->headers; header && *header && is_fine; header++)
		is_fine = is_replaced(endpoint, *header) || add_header(client, *header);
	for (char **header = endpoint->headers; header && *header && is_fine; header++)
		is_fine = add_header(client, *header);
	return is_fine;
}

static bool set_url(struct otlp_client *client, const struct otlp_request *request)
{
	struct text url = { 0 };

	if (!request->path)
		return client->curl.easy_setopt(client->handle, CURLOPT_URL, client->endpoint->url) ==
		       CURLE_OK;
	text_append(&url, client->endpoint->base);
	text_append(&url, request->path);
	if (!url.err && client->curl.easy_setopt(client->handle, CURLOPT_URL, text_string(&url)) != CURLE_OK)
		url.err = -ENOMEM;
	text_release(&url);
	return !url.err;
}

/* false: no memory. */
static bool set_request(struct otlp_client *client, const struct otlp_request *request)
{
	const char *bytes = request->bytes;
	size_t length = request->length;

	if (request->is_packed) {
		if (!compress_body(client, bytes, length))
			return false;
		bytes = client->zipped.bytes;
		length = client->zipped.length;
	}
	client->curl.easy_setopt(client->handle, CURLOPT_POSTFIELDS, bytes);
	client->curl.easy_setopt(client->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
	client->curl.slist_free_all(client->headers);
	client->headers = NULL;
	return add_headers(client, request) && set_url(client, request) &&
	       client->curl.easy_setopt(client->handle, CURLOPT_HTTPHEADER, client->headers) == CURLE_OK;
}

void otlp_client_send(struct otlp_client *client, const struct otlp_request *request,
		      struct otlp_answer *answer)
{
	CURLcode code;

	*answer = (struct otlp_answer){ .outcome = OTLP_REFUSED };
	if (!set_request(client, request)) {
		error_set(&answer->reason, "not enough memory");
		return;
	}
	text_clear(&client->answer);
	client->answer_length = 0;
	client->complaint[0] = '\0';
	code = client->curl.easy_perform(client->handle);
	if (code == CURLE_OK)
		take_status(client, request, answer);
	else
		take_failure(client, code, answer);
}

/* ---- opening ---- */

static void set_file(const struct otlp_client *client, CURLoption option, const char *path)
{
	if (path)
		client->curl.easy_setopt(client->handle, option, path);
}

/* Of HTTP alone; nothing is followed to another server, which would get the headers. */
static void set_up(struct otlp_client *client)
{
	const struct otlp_endpoint *endpoint = client->endpoint;
	const struct curl_library *curl = &client->curl;
	CURL *handle = client->handle;
	long timeout_ms = (long)endpoint->timeout_ms;

	curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	curl->easy_setopt(handle, CURLOPT_POST, 1L);
	curl->easy_setopt(handle, CURLOPT_USERAGENT, "OTel-OTLP-Exporter-txtrace/" TXTRACE_VERSION);
	curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, client->complaint);
	curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
			  timeout_ms < CONNECT_TIMEOUT_MS ? timeout_ms : CONNECT_TIMEOUT_MS);
	curl->easy_setopt(handle, CURLOPT_TIMEOUT_MS, timeout_ms);
	curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_answer);
	curl->easy_setopt(handle, CURLOPT_WRITEDATA, client);
	curl->easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
	curl->easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, look_for_stop);
	curl->easy_setopt(handle, CURLOPT_XFERINFODATA, client);
	set_file(client, CURLOPT_CAINFO, endpoint->certificate);
	set_file(client, CURLOPT_SSLKEY, endpoint->client_key);
	set_file(client, CURLOPT_SSLCERT, endpoint->client_certificate);
}

static int open_with(struct otlp_client *client, struct error *error)
{
	if (!curl_library_load(&client->curl)) {
		const char *why = dlerror();

		error_set(error, "can't load libcurl, Debian's package libcurl4: %s",
			  why ? why : "it can't be set up");
		return -ENOSYS;
	}
	client->has_zip = deflateInit2(&client->zip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
				       Z_DEFAULT_STRATEGY) == Z_OK;
	client->handle = client->has_zip ? client->curl.easy_init() : NULL;
	if (!client->handle) {
		error_set(error, "not enough memory");
		return -ENOMEM;
	}
	set_up(client);
	return 0;
}

int otlp_client_open(struct otlp_client **made, const struct otlp_endpoint *endpoint,
		     const atomic_bool *is_stopped, struct error *error)
{
	struct otlp_client *client = calloc(1, sizeof(*client));
	int err;

	*made = NULL;
	if (!client) {
		error_set(error, "not enough memory");
		return -ENOMEM;
	}
	client->endpoint = endpoint;
	client->is_stopped = is_stopped;
	err = open_with(client, error);
	if (err) {
		otlp_client_close(client);
		return err;
	}
	*made = client;
	return 0;
}

void otlp_client_close(struct otlp_client *client)
{
	if (!client)
		return;
	if (client->handle)
		client->curl.easy_cleanup(client->handle);
	if (client->headers)
		client->curl.slist_free_all(client->headers);
	if (client->has_zip)
		deflateEnd(&client->zip);
	text_release(&client->zipped);
	text_release(&client->answer);
	free(client);
}
