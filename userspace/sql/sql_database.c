/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql/sql_database.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sql/log_table.h"
#include "base/temporary_file.h"

#define HEAP_MAX_BYTES (1ll << 30) /* of all that SQLite holds */
#define VALUE_MAX_BYTES (64 << 20) /* of a string or a row */
#define STOP_EVERY 100000	   /* SQLite's instructions between two looks at whether to stop */

struct sql_database {
	sqlite3 *sqlite;
	struct log_tables tables;
	char refused[64]; /* what the last statement was refused for; or empty */
};

static const char *action_name(int action)
{
	switch (action) {
	case SQLITE_ATTACH:
		return "ATTACH";
	case SQLITE_DETACH:
		return "DETACH";
	case SQLITE_PRAGMA:
		return "PRAGMA";
	case SQLITE_INSERT:
		return "INSERT";
	case SQLITE_UPDATE:
		return "UPDATE";
	case SQLITE_DELETE:
		return "DELETE";
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
		return "a transaction";
	case SQLITE_FUNCTION:
		return "this function";
	default:
		return "a statement that changes something";
	}
}

/* These are called by name from a query, and do more than compute. */
static bool is_refused_function(const char *name)
{
	return !name || strcasecmp(name, "load_extension") == 0 || strcasecmp(name, "fts3_tokenizer") == 0 ||
	       strcasecmp(name, "readfile") == 0 || strcasecmp(name, "writefile") == 0 ||
	       strcasecmp(name, "edit") == 0;
}

static int authorize(void *context, int action, const char *first, const char *second, const char *schema,
		     const char *trigger)
{
	struct sql_database *database = context;

	(void)first;
	(void)schema;
	(void)trigger;
	if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE)
		return SQLITE_OK;
	if (action == SQLITE_FUNCTION && !is_refused_function(second))
		return SQLITE_OK;
	sqlite3_snprintf(sizeof(database->refused), database->refused, "%s", action_name(action));
	return SQLITE_DENY;
}

static int on_progress(void *context)
{
	const struct sql_source *source = ((struct sql_database *)context)->tables.source;

	return source->is_stopped && source->is_stopped(source->context);
}

/*
 * SQLite learns the columns of a virtual table by a statement that looks like a
 * change. So each is met before changes are refused.
 */
static int meet_table(sqlite3 *sqlite, const char *name)
{
	char *text = sqlite3_mprintf("SELECT 1 FROM %s", name);
	sqlite3_stmt *statement = NULL;
	int result = text ? sqlite3_prepare_v2(sqlite, text, -1, &statement, NULL) : SQLITE_NOMEM;

	sqlite3_finalize(statement);
	sqlite3_free(text);
	return result;
}

static int meet_tables(sqlite3 *sqlite)
{
	const struct record_kind *table;
	int result = SQLITE_OK;

	for (size_t i = 0; (table = sql_table_at(i)) && result == SQLITE_OK; i++)
		result = meet_table(sqlite, table->plural);
	/* an SQLite may be built without these */
	meet_table(sqlite, "json_each('[]')");
	meet_table(sqlite, "json_tree('[]')");
	return result;
}

static int restrict_all(struct sql_database *database)
{
	sqlite3 *sqlite = database->sqlite;
	int result = sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);

	if (result == SQLITE_OK)
		result = sqlite3_db_config(sqlite, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_db_config(sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_limit(sqlite, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(sqlite, SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES);
	sqlite3_hard_heap_limit64(HEAP_MAX_BYTES);
	/* a thread sorts what GROUP BY and ORDER BY want, while the next rows are read */
	sqlite3_limit(sqlite, SQLITE_LIMIT_WORKER_THREADS, 1);
	if (result == SQLITE_OK)
		result = sqlite3_exec(sqlite, "PRAGMA cache_size=-8192", NULL, NULL, NULL);
	sqlite3_progress_handler(sqlite, STOP_EVERY, on_progress, database);
	return result == SQLITE_OK ? sqlite3_set_authorizer(sqlite, authorize, database) : result;
}

int sql_database_open(struct sql_database **database, const struct sql_source *source, struct error *error)
{
	struct sql_database *new = calloc(1, sizeof(*new));
	int result;

	*database = NULL;
	if (!new) {
		error_set(error, "there is not enough memory");
		return -ENOMEM;
	}
	new->tables.source = source;
	result = sqlite3_open_v2(":memory:", &new->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (result == SQLITE_OK)
		result = log_tables_register(&new->tables, new->sqlite);
	if (result == SQLITE_OK)
		result = meet_tables(new->sqlite);
	if (result == SQLITE_OK)
		result = restrict_all(new);
	if (result == SQLITE_OK) {
		*database = new;
		return 0;
	}
	error_set(error, "SQLite can't be used: %s", sqlite3_errstr(result));
	sql_database_close(new);
	return result == SQLITE_NOMEM ? -ENOMEM : -EIO;
}

void sql_database_close(struct sql_database *database)
{
	if (!database)
		return;
	sqlite3_close_v2(database->sqlite);
	log_tables_forget(&database->tables);
	free(database);
}

sqlite3_stmt *sql_database_prepare(struct sql_database *database, const char *text, const char **rest,
				   struct error *error)
{
	sqlite3_stmt *statement = NULL;
	int result;

	error->text[0] = database->refused[0] = '\0';
	log_tables_forget(&database->tables);
	result = sqlite3_prepare_v2(database->sqlite, text, -1, &statement, rest);
	if (result == SQLITE_OK && statement && !sqlite3_stmt_readonly(statement)) {
		sqlite3_finalize(statement);
		statement = NULL;
		error_set(error, "a log can only be read");
	} else if (result != SQLITE_OK) {
		sql_database_explain(database, error);
	}
	return statement;
}

int sql_database_error_offset(const struct sql_database *database)
{
	return sqlite3_error_offset(database->sqlite);
}

void sql_database_explain(struct sql_database *database, struct error *error)
{
	int result = sqlite3_errcode(database->sqlite) & 0xff;

	if (result == SQLITE_FULL || result == SQLITE_CANTOPEN || result == SQLITE_IOERR)
		error_set(error, "can't write temporary files in '%s': %s; set TMPDIR to another directory",
			  temporary_folder(), sqlite3_errmsg(database->sqlite));
	else if (database->refused[0])
		error_set(error, "%s is not allowed: a log can only be read, by SELECT", database->refused);
	else if (result == SQLITE_NOMEM)
		error_set(error, "there is not enough memory");
	else
		error_set(error, "%s", sqlite3_errmsg(database->sqlite));
}
