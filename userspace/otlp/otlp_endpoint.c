/* SPDX-License-Identifier: BSD-2-Clause */
#include "otlp/otlp_endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "otlp/otlp_request.h"

#define DEFAULT_BASE "http://localhost:4318"
#define DEFAULT_TIMEOUT_MS 10000
#define TIMEOUT_MAX_MS 3600000
#define HEADER_MAX 64

/* ---- the environment ---- */

struct variable {
	char name[48];
	const char *value; /* NULL: neither of the two is set */
};

static struct variable find_variable(const char *name)
{
	static const char *const prefixes[] = { "OTEL_EXPORTER_OTLP_TRACES_", "OTEL_EXPORTER_OTLP_" };
	struct variable variable;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		snprintf(variable.name, sizeof(variable.name), "%s%s", prefixes[i], name);
		variable.value = getenv(variable.name);
		if (variable.value && *variable.value)
			return variable;
	}
	variable.value = NULL;
	return variable;
}

static int read_protocol(struct otlp_endpoint *endpoint, struct error *error)
{
	const struct variable variable = find_variable("PROTOCOL");
	const char *protocol = variable.value;

	if (!protocol || strcmp(protocol, "http/protobuf") == 0)
		return 0;
	endpoint->is_json = strcmp(protocol, "http/json") == 0;
	if (endpoint->is_json)
		return 0;
	error_set(error,
		  "%s is '%s'; txtrace sends by http/protobuf, which is the default, or http/json: unset it, "
		  "and name the receiver's port for HTTP (4318 by default)",
		  variable.name, protocol);
	return -EINVAL;
}

static int read_compression(struct otlp_endpoint *endpoint, struct error *error)
{
	const struct variable variable = find_variable("COMPRESSION");
	const char *compression = variable.value;

	endpoint->is_gzip = !compression || strcmp(compression, "gzip") == 0;
	if (endpoint->is_gzip || strcmp(compression, "none") == 0)
		return 0;
	error_set(error, "%s is '%s'; it can be 'gzip', which is the default, or 'none'", variable.name,
		  compression);
	return -EINVAL;
}

static int read_timeout(struct otlp_endpoint *endpoint, struct error *error)
{
	const struct variable variable = find_variable("TIMEOUT");
	const char *timeout = variable.value;
	unsigned long long value = DEFAULT_TIMEOUT_MS;
	char *end;

	if (timeout) {
		errno = 0;
		value = strtoull(timeout, &end, 10);
		if (errno || *end || *timeout < '0' || *timeout > '9' || value == 0 ||
		    value > TIMEOUT_MAX_MS) {
			error_set(error, "%s is '%s'; it is a number of milliseconds, up to %d",
				  variable.name, timeout, TIMEOUT_MAX_MS);
			return -EINVAL;
		}
	}
	endpoint->timeout_ms = value;
	return 0;
}

/* ---- headers ---- */

static bool is_name(const char *name, size_t length)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < length; i++) {
		bool is_letter = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
				 (name[i] >= '0' && name[i] <= '9');

		if (!is_letter && (name[i] == '\0' || !strchr(others, name[i])))
			return false;
	}
	return length > 0;
}

static bool is_value(const char *value)
{
	for (; *value; value++)
		if (((unsigned char)*value < ' ' && *value != '\t') || *value == 0x7f)
			return false;
	return true;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static void trim(const char **begin, const char **end)
{
	while (*begin < *end && is_blank(**begin))
		++*begin;
	while (*begin < *end && is_blank((*end)[-1]))
		--*end;
}

/* 0, -ENOMEM, or -EINVAL: no header may be like that. */
static int add_header(struct otlp_endpoint *endpoint, const char *name, size_t name_length, const char *value)
{
	/* what is about the body, and the connection, is ours */
	static const char *const own[] = { "content-type",	"content-encoding", "content-length", "host",
					   "transfer-encoding", "connection",	    "expect" };
	size_t cnt = 0;
	char *line;

	if (!is_name(name, name_length) || !is_value(value))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strlen(own[i]) == name_length && strncasecmp(own[i], name, name_length) == 0)
			return -EINVAL;
	while (endpoint->headers && endpoint->headers[cnt])
		cnt++;
	if (!endpoint->headers)
		endpoint->headers = calloc(HEADER_MAX + 1, sizeof(*endpoint->headers));
	if (!endpoint->headers)
		return -ENOMEM;
	if (cnt >= HEADER_MAX)
		return -EINVAL;
	if (asprintf(&line, "%.*s: %s", (int)name_length, name, value) < 0)
		return -ENOMEM;
	endpoint->headers[cnt] = line;
	return 0;
}

static int digit_of(char byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	byte |= 0x20;
	return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

/* "%41%2c" -> "A,"; what is no such code stays. */
static void append_decoded(struct text *text, const char *begin, const char *end)
{
	while (begin < end) {
		int high = end - begin > 2 && *begin == '%' ? digit_of(begin[1]) : -1;
		int low = high < 0 ? -1 : digit_of(begin[2]);
		char byte = low < 0 ? *begin : (char)(high << 4 | low);

		text_append_bytes(text, &byte, 1);
		begin += low < 0 ? 1 : 3;
	}
}

/* "name=value,name=value", values encoded as in a URL */
static int read_header_list(struct otlp_endpoint *endpoint, const char *list)
{
	struct text value = { 0 };
	int err = 0;

	while (*list && !err) {
		const char *end = list + strcspn(list, ","),
			   *equals = memchr(list, '=', (size_t)(end - list));
		const char *name = list, *name_end = equals ? equals : end, *from = equals ? equals + 1 : end,
			   *to = end;

		list = *end ? end + 1 : end;
		trim(&name, &name_end);
		trim(&from, &to);
		if (name == name_end && !equals)
			continue;
		text_clear(&value);
		append_decoded(&value, from, to);
		err = value.err ? value.err
		      : !equals ? -EINVAL
		      : strlen(text_string(&value)) != value.length
			      ? -EINVAL
			      : add_header(endpoint, name, (size_t)(name_end - name), text_string(&value));
	}
	text_release(&value);
	return err;
}

static int read_header_variable(struct otlp_endpoint *endpoint, struct error *error)
{
	const struct variable variable = find_variable("HEADERS");
	int err = variable.value ? read_header_list(endpoint, variable.value) : 0;

	if (err == -EINVAL) /* which of them, may be a secret */
		error_set(error, "%s is no list NAME=VALUE,… of headers", variable.name);
	return err;
}

static int read_header_line(struct otlp_endpoint *endpoint, char *line)
{
	char *colon = strchr(line, ':');
	const char *name = line, *name_end = colon, *value = colon ? colon + 1 : line,
		   *end = line + strcspn(line, "\r\n");

	line[end - line] = '\0';
	trim(&value, &end);
	line[end - line] = '\0';
	if (*line == '\0' || *line == '#')
		return 0;
	if (!colon)
		return -EINVAL;
	trim(&name, &name_end);
	return add_header(endpoint, name, (size_t)(name_end - name), value);
}

static int read_header_file(struct otlp_endpoint *endpoint, const char *path, struct error *error)
{
	FILE *file = fopen(path, "re");
	size_t number = 0, size = 0;
	char *line = NULL;
	int err = 0;

	if (!file) {
		err = -errno;
		error_set(error, "can't read '%s': %s", path, strerror(errno));
		return err;
	}
	while (!err && getline(&line, &size, file) >= 0) {
		number++;
		err = read_header_line(endpoint, line);
	}
	if (err == -EINVAL)
		error_set(error, "line %zu of '%s' is no header NAME: VALUE", number, path);
	else if (!err && ferror(file)) {
		err = -EIO;
		error_set(error, "can't read '%s'", path);
	}
	free(line);
	fclose(file);
	return err;
}

/* ---- the URL ---- */

/* Where the host begins; NULL: this is no URL for HTTP. */
static const char *host_of(const char *url)
{
	const char *host;

	if (strncasecmp(url, "http://", 7) == 0)
		host = url + 7;
	else if (strncasecmp(url, "https://", 8) == 0)
		host = url + 8;
	else
		return NULL;
	for (const char *at = url; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f)
			return NULL;
	return *host && !strchr("/?#", *host) ? host : NULL;
}

/* What is behind the path of traces may be a key, which is for traces alone. false: no memory. */
static bool find_base(struct otlp_endpoint *endpoint)
{
	size_t length = strlen(endpoint->url);

	if (length <= strlen(OTLP_TRACES_PATH) ||
	    strcmp(endpoint->url + length - strlen(OTLP_TRACES_PATH), OTLP_TRACES_PATH) != 0)
		return true;
	endpoint->base = strndup(endpoint->url, length - strlen(OTLP_TRACES_PATH));
	return endpoint->base;
}

/* is_base: the path of traces is added to it. */
static int take_url(struct otlp_endpoint *endpoint, const char *url, bool is_base)
{
	const char *host = host_of(url), *path, *query, *user;
	struct text whole = { 0 };
	size_t length;
	bool has_port;

	if (!host)
		return -EINVAL;
	path = host + strcspn(host, "/?#");
	query = path + strcspn(path, "?#");
	length = (size_t)(query - path);
	while (is_base && length > 0 && path[length - 1] == '/')
		length--;
	text_append_bytes(&whole, url, (size_t)(path - url) + length);
	user = memrchr(host, '@', (size_t)(path - host));
	host = user ? user + 1 : host; /* with a password, perhaps: in no message */
	has_port = *host == '[' ? memmem(host, (size_t)(path - host), "]:", 2) != NULL
				: memchr(host, ':', (size_t)(path - host)) != NULL;
	if (asprintf(&endpoint->place, "%.*s%s", (int)(path - host), host,
		     has_port	     ? ""
		     : url[4] == ':' ? ":80"
				     : ":443") < 0)
		endpoint->place = NULL;
	if (is_base &&
	    !(length >= strlen(OTLP_TRACES_PATH) && strncmp(path + length - strlen(OTLP_TRACES_PATH),
							    OTLP_TRACES_PATH, strlen(OTLP_TRACES_PATH)) == 0))
		text_append(&whole, OTLP_TRACES_PATH);
	else if (length == 0)
		text_append(&whole, "/");
	text_append_bytes(&whole, query, strcspn(query, "#"));
	endpoint->url = whole.err ? NULL : whole.bytes;
	if (whole.err)
		text_release(&whole);
	return endpoint->url && endpoint->place && find_base(endpoint) ? 0 : -ENOMEM;
}

static int read_url(struct otlp_endpoint *endpoint, const char *given, struct error *error)
{
	const char *of_traces = getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
		   *base = getenv("OTEL_EXPORTER_OTLP_ENDPOINT");
	bool is_whole = false;
	int err;

	if (strcmp(given, OTLP_ENDPOINT_ENV) == 0) {
		is_whole = of_traces && *of_traces;
		given = is_whole ? of_traces : base && *base ? base : DEFAULT_BASE;
	}
	err = take_url(endpoint, given, !is_whole);
	if (err == -EINVAL) /* not what it is: there may be a password in it */
		error_set(error, "a receiver of OTLP is http://HOST:4318 or https://…, or '" OTLP_ENDPOINT_ENV
				 "' for what OTEL_EXPORTER_OTLP_ENDPOINT says");
	return err;
}

int otlp_endpoint_read(struct otlp_endpoint *endpoint, const char *given, const char *headers_file,
		       struct error *error)
{
	int err;

	*endpoint = (struct otlp_endpoint){ 0 };
	error_set(error, "not enough memory");
	err = read_url(endpoint, given, error);
	if (!err)
		err = read_protocol(endpoint, error);
	if (!err)
		err = read_compression(endpoint, error);
	if (!err)
		err = read_timeout(endpoint, error);
	if (!err)
		err = read_header_variable(endpoint, error);
	if (!err && headers_file)
		err = read_header_file(endpoint, headers_file, error);
	endpoint->certificate = find_variable("CERTIFICATE").value;
	endpoint->client_key = find_variable("CLIENT_KEY").value;
	endpoint->client_certificate = find_variable("CLIENT_CERTIFICATE").value;
	return err;
}

void otlp_endpoint_release(struct otlp_endpoint *endpoint)
{
	for (char **header = endpoint->headers; header && *header; header++)
		free(*header);
	free(endpoint->headers);
	free(endpoint->url);
	free(endpoint->base);
	free(endpoint->place);
	*endpoint = (struct otlp_endpoint){ 0 };
}
