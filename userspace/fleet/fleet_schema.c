/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/fleet_schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fleet/fleet_table.h"

/* The first release with LowCardinality out of its trial, codecs, and time zones of types. */
#define MODERN_MAJOR 20
#define MODERN_MINOR 3

static int run(struct clickhouse *server, struct text *statement, struct error *error)
{
	int err = statement->err ? -ENOMEM : clickhouse_query(server, text_string(statement), NULL, error);

	text_clear(statement);
	return err;
}

static int find_dialect(struct clickhouse *server, struct fleet_dialect *dialect, struct error *error)
{
	unsigned int major = 0, minor = 0;
	struct text answer = { 0 };
	int err = clickhouse_query(server, "SELECT version() FORMAT TabSeparated", &answer, error);

	if (!err && sscanf(text_string(&answer), "%u.%u", &major, &minor) != 2) {
		error_set(error, "%s does not answer as ClickHouse does", clickhouse_place(server));
		err = -EPROTO;
	}
	dialect->is_modern = major > MODERN_MAJOR || (major == MODERN_MAJOR && minor >= MODERN_MINOR);
	text_release(&answer);
	return err;
}

static int create_table(struct clickhouse *server, const struct fleet_table *table, const char *cluster,
			struct fleet_dialect dialect, struct error *error)
{
	const char *database = clickhouse_database(server);
	struct text statement = { 0 };
	char local[64];
	int err;

	snprintf(local, sizeof(local), "%s%s", table->name, cluster ? "_local" : "");
	fleet_table_append_create(&statement, table, local, dialect);
	err = run(server, &statement, error);
	if (!err && cluster) {
		text_append_format(&statement, "CREATE TABLE IF NOT EXISTS %s AS %s ENGINE = Distributed(",
				   table->name, local);
		clickhouse_append_literal(&statement, cluster, strlen(cluster));
		text_append(&statement, ", ");
		clickhouse_append_literal(&statement, database, strlen(database));
		text_append_format(&statement, ", '%s', sipHash64(host))", local);
		err = run(server, &statement, error);
	}
	text_release(&statement);
	return err;
}

static int read_version(struct clickhouse *server, unsigned long *version, struct error *error)
{
	struct text answer = { 0 };
	int err = clickhouse_query(server, "SELECT max(version) FROM schema FORMAT TabSeparated", &answer,
				   error);

	*version = strtoul(text_string(&answer), NULL, 10);
	text_release(&answer);
	return err;
}

int fleet_schema_check(struct clickhouse *server, struct error *error)
{
	unsigned long version;
	int err = read_version(server, &version, error);

	if (err || version == FLEET_VERSION)
		return err;
	error_set(error,
		  "the tables in the database '%s' at %s are of version %lu, and this txtrace knows version "
		  "%d; use the release that made them, or another database",
		  clickhouse_database(server), clickhouse_place(server), version, FLEET_VERSION);
	return -EPROTONOSUPPORT;
}

/* The version comes last: what is not there as a whole has none. */
static int write_version(struct clickhouse *server, struct error *error)
{
	struct text statement = { 0 };
	unsigned long version;
	int err;

	text_append(&statement, "CREATE TABLE IF NOT EXISTS schema (version UInt32) ENGINE = MergeTree() "
				"ORDER BY version");
	err = run(server, &statement, error);
	err = err ? err : read_version(server, &version, error);
	if (!err && version == 0) {
		text_append_format(&statement, "INSERT INTO schema VALUES (%d)", FLEET_VERSION);
		err = run(server, &statement, error);
	}
	text_release(&statement);
	return err ? err : fleet_schema_check(server, error);
}

int fleet_schema_create(struct clickhouse *server, const char *cluster, struct error *error)
{
	struct fleet_dialect dialect;
	struct text statement = { 0 };
	int err;

	text_append(&statement, "CREATE DATABASE IF NOT EXISTS ");
	clickhouse_append_name(&statement, clickhouse_database(server));
	err = statement.err ? -ENOMEM : clickhouse_execute_outside(server, text_string(&statement), error);
	text_release(&statement);
	err = err ? err : find_dialect(server, &dialect, error);
	for (size_t i = 0; i < FLEET_TABLE_CNT && !err; i++)
		err = create_table(server, &fleet_tables[i], cluster, dialect, error);
	return err ? err : write_version(server, error);
}
