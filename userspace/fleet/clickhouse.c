/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/clickhouse.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/curl_library.h"

#define CONNECT_TIMEOUT_MS 10000
#define MESSAGE_MAX 300

struct clickhouse {
	struct curl_library curl;
	CURL *handle;
	struct curl_slist *headers;
	char *user; /* of the URL or the environment; "default" */
	char *database;
	struct text root;      /* "http://host:port/?" and settings, with & at the end */
	struct text place;     /* "host:port" */
	struct text url;       /* of the request */
	struct text no_answer; /* where an answer that is of no interest goes, and errors */
	struct text *answer;   /* of the request */
	const char *ca_file;   /* the caller's, until open_with() has been called */
	uint64_t timeout_ms;
	const volatile sig_atomic_t *is_stopped;
	void (*wait)(void *context, const char *place, uint64_t waited_ns);
	void *context;
	uint64_t begin_ns; /* of the request that runs */
	bool is_too_long;
	char complaint[CURL_ERROR_SIZE];
};

/* ---- what the server says ---- */

/* Numbers of ClickHouse's errors, as in its ErrorCodes.cpp. */
static const int busy_codes[] = {
	3,   /* UNEXPECTED_END_OF_FILE: the connection broke, and so say the next two */
	32,  /* ATTEMPT_TO_READ_AFTER_EOF */
	33,  /* CANNOT_READ_ALL_DATA */
	159, /* TIMEOUT_EXCEEDED */
	198, /* DNS_ERROR: of a shard */
	202, /* TOO_MANY_SIMULTANEOUS_QUERIES */
	203, /* NO_FREE_CONNECTION */
	209, /* SOCKET_TIMEOUT */
	210, /* NETWORK_ERROR */
	225, /* NO_ZOOKEEPER */
	236, /* ABORTED: it shuts down */
	241, /* MEMORY_LIMIT_EXCEEDED */
	242, /* TABLE_IS_READ_ONLY */
	243, /* NOT_ENOUGH_SPACE */
	252, /* TOO_MANY_PARTS */
	279, /* ALL_CONNECTION_TRIES_FAILED: of a shard */
	319, /* UNKNOWN_STATUS_OF_INSERT */
	394, /* QUERY_WAS_CANCELLED */
	425, /* SYSTEM_ERROR */
	439, /* CANNOT_SCHEDULE_TASK */
	999, /* KEEPER_EXCEPTION */
};
static const int refused_codes[] = {
	192, /* UNKNOWN_USER */
	193, /* WRONG_PASSWORD */
	194, /* REQUIRED_PASSWORD */
	195, /* IP_ADDRESS_NOT_ALLOWED */
	516, /* AUTHENTICATION_FAILED */
};
#define CODE_UNKNOWN_TABLE 60
#define CODE_UNKNOWN_DATABASE 81

static bool is_one_of(const int *codes, size_t cnt, int code)
{
	for (size_t i = 0; i < cnt; i++)
		if (codes[i] == code)
			return true;
	return false;
}

#define IS_ONE_OF(codes, code) is_one_of(codes, sizeof(codes) / sizeof((codes)[0]), code)

/* "Code: 60. DB::Exception: Table x doesn't exist. (UNKNOWN_TABLE) …": 60, and where the sentence begins. */
static int code_of(const char *said, const char **sentence)
{
	static const char begin[] = "Code: ", exception[] = "DB::Exception: ";
	const char *code = strstr(said, begin), *text;

	*sentence = said;
	if (!code)
		return 0;
	text = strstr(code, exception);
	if (text)
		*sentence = text + strlen(exception);
	return atoi(code + strlen(begin));
}

/* The disk's own error comes as another one: of POCO or of the C library. */
static bool has_no_room(const char *said)
{
	return strstr(said, "No space left") || strstr(said, "NOT_ENOUGH_SPACE") ||
	       strstr(said, "Cannot reserve");
}

static int explain(const struct clickhouse *server, long status, const char *said, struct error *error)
{
	const char *place = text_string(&server->place), *sentence;
	int code = code_of(said, &sentence), length = (int)strcspn(sentence, "\n");

	if (length > MESSAGE_MAX)
		length = MESSAGE_MAX;
	if (IS_ONE_OF(refused_codes, code) || status == 401 || status == 403) {
		error_set(error, "ClickHouse at %s refuses the user '%s': %.*s", place, server->user, length,
			  sentence);
		return -EACCES;
	}
	if (code == CODE_UNKNOWN_DATABASE || code == CODE_UNKNOWN_TABLE) {
		error_set(error,
			  "ClickHouse at %s has no tables of txtrace in the database '%s'; make them with "
			  "'txtrace fleet --clickhouse URL create'",
			  place, server->database);
		return -ENOENT;
	}
	if (strstr(said, "Too many partitions")) { /* the number is that of TOO_MANY_PARTS */
		error_set(error, "ClickHouse at %s: %.*s", place, length, sentence);
		return -E2BIG;
	}
	if (code == 243 || has_no_room(said)) {
		error_set(error, "ClickHouse at %s has no room: %.*s", place, length, sentence);
		return -EAGAIN;
	}
	error_set(error, "ClickHouse at %s, HTTP status %ld: %.*s", place, status, length, sentence);
	if (IS_ONE_OF(busy_codes, code) || (!code && (status >= 500 || status == 408 || status == 429)))
		return -EAGAIN;
	return -EPROTO;
}

/* ---- requests ---- */

static size_t take_answer(char *bytes, size_t size, size_t cnt, void *context)
{
	struct clickhouse *server = context;

	if (server->answer->length + size * cnt > CLICKHOUSE_ANSWER_MAX) {
		server->is_too_long = true;
		return 0;
	}
	text_append_bytes(server->answer, bytes, size * cnt);
	return server->answer->err ? 0 : size * cnt;
}

static int look(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	const struct clickhouse *server = context;

	(void)a, (void)b, (void)c, (void)d;
	if (server->wait)
		server->wait(server->context, text_string(&server->place), clock_now_ns() - server->begin_ns);
	return server->is_stopped && *server->is_stopped;
}

static int explain_transfer(const struct clickhouse *server, CURLcode code, struct error *error)
{
	const char *place = text_string(&server->place);

	if (code == CURLE_ABORTED_BY_CALLBACK) {
		error_set(error, "stopped");
		return -ECANCELED;
	}
	if (server->is_too_long) {
		error_set(error, "ClickHouse at %s answers with more than %llu MiB; ask for less", place,
			  CLICKHOUSE_ANSWER_MAX >> 20);
		return -EFBIG;
	}
	if (code == CURLE_WRITE_ERROR || code == CURLE_OUT_OF_MEMORY) {
		error_set(error, "not enough memory");
		return -ENOMEM;
	}
	if (code == CURLE_OPERATION_TIMEDOUT)
		error_set(error, "ClickHouse at %s did not answer within %g s", place,
			  (double)server->timeout_ms / 1000);
	else
		error_set(error, "can't reach ClickHouse at %s: %s", place,
			  *server->complaint ? server->complaint : server->curl.easy_strerror(code));
	return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
			       code == CURLE_UNSUPPORTED_PROTOCOL
		       ? -EPROTO
		       : -EAGAIN;
}

static int request(struct clickhouse *server, const void *body, size_t length, struct text *answer,
		   struct error *error)
{
	const struct curl_library *curl = &server->curl;
	CURLcode code;
	long status = 0;

	server->answer = answer ? answer : &server->no_answer;
	server->is_too_long = false;
	server->complaint[0] = '\0';
	text_clear(server->answer);
	if (server->url.err) {
		error_set(error, "not enough memory");
		return -ENOMEM;
	}
	curl->easy_setopt(server->handle, CURLOPT_URL, text_string(&server->url));
	curl->easy_setopt(server->handle, CURLOPT_POSTFIELDS, body);
	curl->easy_setopt(server->handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
	server->begin_ns = clock_now_ns();
	code = curl->easy_perform(server->handle);
	if (server->wait)
		server->wait(server->context, text_string(&server->place), 0);
	if (code != CURLE_OK)
		return explain_transfer(server, code, error);
	curl->easy_getinfo(server->handle, CURLINFO_RESPONSE_CODE, &status);
	return status == 200 ? 0 : explain(server, status, text_string(server->answer), error);
}

static void append_escaped(struct clickhouse *server, const char *value)
{
	char *escaped = server->curl.easy_escape(server->handle, value, 0);

	text_append(&server->url, escaped ? escaped : "");
	if (!escaped)
		server->url.err = -ENOMEM;
	server->curl.free(escaped);
}

static void begin_url(struct clickhouse *server, bool has_database)
{
	text_clear(&server->url);
	text_append(&server->url, text_string(&server->root));
	if (!has_database)
		return;
	text_append(&server->url, "database=");
	append_escaped(server, server->database);
	text_append(&server->url, "&");
}

/* wait_end_of_query: an error that comes late is one in the status, too. */
int clickhouse_query(struct clickhouse *server, const char *query, struct text *answer, struct error *error)
{
	begin_url(server, true);
	text_append(&server->url, "wait_end_of_query=1");
	return request(server, query, strlen(query), answer, error);
}

int clickhouse_execute_outside(struct clickhouse *server, const char *statement, struct error *error)
{
	begin_url(server, false);
	return request(server, statement, strlen(statement), NULL, error);
}

int clickhouse_insert(struct clickhouse *server, const char *query, const void *bytes, size_t length,
		      struct error *error)
{
	begin_url(server, true);
	text_append(&server->url, "insert_distributed_sync=1&query=");
	append_escaped(server, query);
	return request(server, bytes, length, NULL, error);
}

/* ---- opening ---- */

/* A part of a URL; NULL: it has none. */
static char *part_of(const struct curl_library *curl, CURLU *url, CURLUPart part, unsigned int flags)
{
	char *found = NULL, *own;

	if (curl->url_get(url, part, &found, flags) != CURLUE_OK)
		return NULL;
	own = found && *found ? strdup(found) : NULL;
	curl->free(found);
	return own;
}

static bool add_header(struct clickhouse *server, const char *name, const char *value)
{
	struct curl_slist *longer;
	struct text line = { 0 };

	text_append_format(&line, "%s:%s%s", name, *value ? " " : "", value);
	longer = line.err ? NULL : server->curl.slist_append(server->headers, text_string(&line));
	if (longer)
		server->headers = longer;
	text_release(&line);
	return longer;
}

static int take_user(struct clickhouse *server, CURLU *url, struct error *error)
{
	const char *name = getenv("CLICKHOUSE_USER"), *secret = getenv("CLICKHOUSE_PASSWORD");
	char *user = part_of(&server->curl, url, CURLUPART_USER, CURLU_URLDECODE);
	char *password = part_of(&server->curl, url, CURLUPART_PASSWORD, CURLU_URLDECODE);
	bool is_fine;

	server->user = user ? user : strdup(name && *name ? name : "default");
	if (!user)
		password = password ? password : strdup(secret ? secret : "");
	if (strpbrk(server->user ? server->user : "", "\r\n") || strpbrk(password ? password : "", "\r\n")) {
		error_set(error, "the user or the password of ClickHouse has a line break in it");
		free(password);
		return -EINVAL;
	}
	is_fine = server->user && add_header(server, "X-ClickHouse-User", server->user) &&
		  (!password || !*password || add_header(server, "X-ClickHouse-Key", password));
	free(password);
	return is_fine ? 0 : -ENOMEM;
}

static int take_url(struct clickhouse *server, CURLU *url, struct error *error)
{
	const struct curl_library *curl = &server->curl;
	char *scheme = part_of(curl, url, CURLUPART_SCHEME, 0), *host = part_of(curl, url, CURLUPART_HOST, 0);
	char *port = part_of(curl, url, CURLUPART_PORT, 0), *query = part_of(curl, url, CURLUPART_QUERY, 0);
	char *path = part_of(curl, url, CURLUPART_PATH, CURLU_URLDECODE);
	const char *database = path && path[1] ? path + 1 : "txtrace";
	bool is_secure = scheme && strcmp(scheme, "https") == 0;
	int err = 0;

	if (!scheme || !host || !(is_secure || strcmp(scheme, "http") == 0) || strchr(database, '/')) {
		error_set(error, "a server of ClickHouse is http://HOST[:PORT][/DATABASE] or https://…");
		err = -EINVAL;
	} else if (server->ca_file && !is_secure) {
		error_set(error, "--ca-file is for https, and the URL of the server begins with http");
		err = -EINVAL;
	} else {
		text_append_format(&server->place, "%s:%s", host, port ? port : is_secure ? "8443" : "8123");
		text_append_format(&server->root, "%s://%s/?%s%s", scheme, text_string(&server->place),
				   query ? query : "", query ? "&" : "");
		server->database = strdup(database);
		err = take_user(server, url, error);
	}
	free(scheme);
	free(host);
	free(port);
	free(query);
	free(path);
	return err ? err : server->root.err || server->place.err || !server->database ? -ENOMEM : 0;
}

/* Of HTTP alone; nothing is followed to another server, which would get the password. */
static void set_up(struct clickhouse *server)
{
	const struct curl_library *curl = &server->curl;
	CURL *handle = server->handle;

	curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	curl->easy_setopt(handle, CURLOPT_POST, 1L);
	curl->easy_setopt(handle, CURLOPT_HTTPHEADER, server->headers);
	curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, server->complaint);
	curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
			  (long)(server->timeout_ms < CONNECT_TIMEOUT_MS ? server->timeout_ms
									 : CONNECT_TIMEOUT_MS));
	curl->easy_setopt(handle, CURLOPT_TIMEOUT_MS, (long)server->timeout_ms);
	curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_answer);
	curl->easy_setopt(handle, CURLOPT_WRITEDATA, server);
	curl->easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
	curl->easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, look);
	curl->easy_setopt(handle, CURLOPT_XFERINFODATA, server);
	if (server->ca_file)
		curl->easy_setopt(handle, CURLOPT_CAINFO, server->ca_file);
}

static int open_with(struct clickhouse *server, const char *address, struct error *error)
{
	const struct curl_library *curl = &server->curl;
	CURLU *url;
	int err;

	if (!curl_library_load(&server->curl)) {
		const char *why = dlerror();

		error_set(error, "can't load libcurl, Debian's package libcurl4: %s",
			  why ? why : "it can't be set up");
		return -ENOSYS;
	}
	url = curl->url();
	if (!url)
		return -ENOMEM;
	if (curl->url_set(url, CURLUPART_URL, address, 0) != CURLUE_OK) {
		error_set(error,
			  "this is no URL: '%s'; a server of ClickHouse is http://HOST[:PORT][/DATABASE]",
			  address);
		err = -EINVAL;
	} else {
		err = take_url(server, url, error);
	}
	curl->url_cleanup(url);
	if (err)
		return err;
	/* no "Expect: 100-continue", which takes a round trip */
	server->handle = add_header(server, "Expect", "") ? curl->easy_init() : NULL;
	if (!server->handle)
		return -ENOMEM;
	set_up(server);
	return 0;
}

int clickhouse_open(struct clickhouse **made, const struct clickhouse_options *options, struct error *error)
{
	struct clickhouse *server = calloc(1, sizeof(*server));
	int err;

	*made = NULL;
	error_set(error, "not enough memory");
	if (!server)
		return -ENOMEM;
	server->ca_file = options->ca_file;
	server->timeout_ms = options->timeout_ms;
	server->is_stopped = options->is_stopped;
	server->wait = options->wait;
	server->context = options->context;
	err = open_with(server, options->url, error);
	if (err) {
		clickhouse_close(server);
		return err;
	}
	error_set(error, "%s", "");
	*made = server;
	return 0;
}

void clickhouse_close(struct clickhouse *server)
{
	if (!server)
		return;
	if (server->handle)
		server->curl.easy_cleanup(server->handle);
	if (server->headers)
		server->curl.slist_free_all(server->headers);
	free(server->user);
	free(server->database);
	text_release(&server->root);
	text_release(&server->place);
	text_release(&server->url);
	text_release(&server->no_answer);
	free(server);
}

const char *clickhouse_database(const struct clickhouse *server)
{
	return server->database;
}

const char *clickhouse_place(const struct clickhouse *server)
{
	return text_string(&server->place);
}

/* ---- SQL ---- */

static void append_enclosed(struct text *text, char quote, const char *bytes, size_t length)
{
	text_append_bytes(text, &quote, 1);
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '\0') {
			text_append(text, "\\0");
			continue;
		}
		if (bytes[i] == quote || bytes[i] == '\\')
			text_append(text, "\\");
		text_append_bytes(text, bytes + i, 1);
	}
	text_append_bytes(text, &quote, 1);
}

void clickhouse_append_literal(struct text *text, const char *bytes, size_t length)
{
	append_enclosed(text, '\'', bytes, length);
}

void clickhouse_append_name(struct text *text, const char *name)
{
	append_enclosed(text, '`', name, strlen(name));
}
