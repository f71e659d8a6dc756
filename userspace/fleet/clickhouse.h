/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ClickHouse server, over HTTP.
 *
 *	struct clickhouse_options options = { .url = "http://db1:8123/txtrace", .timeout_ms = 60000 };
 *	struct clickhouse *server;
 *
 *	err = clickhouse_open(&server, &options, &error);
 *	err = clickhouse_query(server, "SELECT … FORMAT RowBinary", &answer, &error);
 *	clickhouse_close(server);
 *
 * Errors of all functions: a negative errno, and a sentence. -EAGAIN: it may
 * work later, as the server can't be reached, is busy, or is full; then it is
 * not known whether an insert was made. -E2BIG: rows of too many days came in
 * one insert. -ECANCELED: *is_stopped was set. Another one: trying again is of
 * no use.
 */
#ifndef CLICKHOUSE_H
#define CLICKHOUSE_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

#define CLICKHOUSE_ANSWER_MAX (256ull << 20) /* bytes */

struct clickhouse_options {
	/*
	 * http[s]://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?SETTING=VALUE&…]. Without a user: the variables
	 * CLICKHOUSE_USER and CLICKHOUSE_PASSWORD of the environment. The database is "txtrace" unless it is
	 * there.
	 */
	const char *url;
	const char *ca_file; /* with https: certificates of authorities, in PEM; NULL: the system's */
	uint64_t timeout_ms;			 /* for one request */
	const volatile sig_atomic_t *is_stopped; /* NULL: never */
	/* Once a second at least while a request runs; 0: it has ended. NULL: nobody looks. */
	void (*wait)(void *context, const char *place, uint64_t waited_ns);
	void *context;
};

struct clickhouse;

/* Does not connect yet. *server is NULL after a failure. */
int clickhouse_open(struct clickhouse **server, const struct clickhouse_options *options,
		    struct error *error);
void clickhouse_close(struct clickhouse *server); /* NULL is allowed */

const char *clickhouse_database(const struct clickhouse *server);
const char *clickhouse_place(const struct clickhouse *server); /* "db1:8123": for messages */

/* The answer replaces what is in the text; NULL: it is of no interest. */
int clickhouse_query(struct clickhouse *server, const char *query, struct text *answer, struct error *error);

/* The same for a statement that needs no database. */
int clickhouse_execute_outside(struct clickhouse *server, const char *statement, struct error *error);

/* query: "INSERT INTO … FORMAT RowBinary". Returns once all shards have the rows. */
int clickhouse_insert(struct clickhouse *server, const char *query, const void *bytes, size_t length,
		      struct error *error);

/* A string as a literal of SQL, whatever its bytes are; a name, as of a table. */
void clickhouse_append_literal(struct text *text, const char *bytes, size_t length);
void clickhouse_append_name(struct text *text, const char *name);

#endif
