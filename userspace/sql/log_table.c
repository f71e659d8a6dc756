/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql/log_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/row_groups.h"
#include "sql/sql_scan.h"
#include "sql/sql_store.h"
#include "base/temporary_file.h"

#define PLAN_MAX 64  /* ways to scan a table that a statement has; more are never copied */
#define ROW_BYTES 12 /* of a log, about, for the estimates */
#define ROWS_MIN 1000
#define KNOWN_MAX 256 /* a power of two */
#define KNOWN_BYTES 63

/* Where an operator stands: rows are put together by this column, and groups ascend, or descend. */
#define BY 'a'
#define BY_DESCENDING 'd'

/*
 * How a statement scans a table, as xBestIndex chose: a text of the columns
 * that it uses, then an operator and the number of a column for each
 * constraint, then those by which rows are put together, as "1f:=4;G8;a4;".
 */
struct plan {
	char *text;
	uint32_t scan_cnt;
	uint32_t copy; /* number of the copy, or 0 */
};

/*
 * Short texts that come again and again, as labels do: SQLite need not copy
 * them, as they stay where they are as long as the database does.
 */
struct known_text {
	char bytes[KNOWN_BYTES];
	uint8_t length; /* 0: free */
};

struct log_table {
	sqlite3_vtab base; /* first */
	struct log_tables *tables;
	const struct record_kind *table;
	uint64_t statement; /* that the plans are of */
	struct plan plans[PLAN_MAX];
	size_t plan_cnt;
	struct known_text known[KNOWN_MAX];
};

struct log_cursor {
	sqlite3_vtab_cursor base;  /* first */
	struct sql_scan *scan;	   /* over the log, or */
	struct row_groups *groups; /* over what the scan has put together, or */
	sqlite3_stmt *copied;	   /* over a copy */
	uint32_t copy;		   /* that it asks */
	uint64_t columns;
	bool is_at_end;
	sqlite3_int64 rowid;
	char *texts[SQL_CONSTRAINT_MAX]; /* that the scan compares with */
};

struct constraint_place {
	enum sql_operator op;
	size_t column;
};

/* What a plan says. */
struct way {
	uint64_t columns;
	struct constraint_place places[SQL_CONSTRAINT_MAX];
	size_t cnt;
	struct group_by by[GROUP_BY_MAX];
	size_t by_cnt;
};

static int fail(sqlite3_vtab *base, const char *what)
{
	sqlite3_free(base->zErrMsg);
	base->zErrMsg = sqlite3_mprintf("%s", what);
	return SQLITE_ERROR;
}

/* A negative errno as SQLite has it. */
static int result_of(struct log_table *table, int err)
{
	if (err == -ENOMEM)
		return SQLITE_NOMEM;
	if (err == -ECANCELED)
		return SQLITE_INTERRUPT;
	if (err == -ENOSPC)
		return SQLITE_FULL;
	return fail(&table->base, "the log can't be read");
}

/* The same where rows were to be kept in a temporary file. */
static int result_of_keeping(struct log_table *table, int err)
{
	if (err == -ENOMEM || err == -ECANCELED || err == -ENOSPC)
		return result_of(table, err);
	sqlite3_free(table->base.zErrMsg);
	table->base.zErrMsg = sqlite3_mprintf(
		"can't keep rows in a temporary file in '%s': %s; set TMPDIR to another directory",
		temporary_folder(), strerror(-err));
	return SQLITE_ERROR;
}

/* ---- connecting ---- */

static int on_connect(sqlite3 *database, void *context, int argc, const char *const *argv,
		      sqlite3_vtab **made, char **message)
{
	struct log_tables *tables = context;
	const struct record_kind *found = sql_table_find(argv[0]);
	struct log_table *table;
	char *declaration;
	int result;

	(void)argc;
	(void)message;
	declaration = found ? sql_store_declare(found->plural, found, UINT64_MAX) : NULL;
	if (!declaration)
		return SQLITE_NOMEM;
	result = sqlite3_declare_vtab(database, declaration);
	sqlite3_free(declaration);
	if (result != SQLITE_OK)
		return result;
	table = sqlite3_malloc64(sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	memset(table, 0, sizeof(*table));
	table->tables = tables;
	table->table = found;
	*made = &table->base;
	return SQLITE_OK;
}

static void forget_plans(struct log_table *table)
{
	while (table->plan_cnt > 0)
		free(table->plans[--table->plan_cnt].text);
}

static int on_disconnect(sqlite3_vtab *base)
{
	struct log_table *table = (struct log_table *)base;

	forget_plans(table);
	sqlite3_free(table);
	return SQLITE_OK;
}

/* ---- planning ---- */

static enum sql_operator operator_of(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return SQL_EQ;
	case SQLITE_INDEX_CONSTRAINT_GT:
		return SQL_GT;
	case SQLITE_INDEX_CONSTRAINT_GE:
		return SQL_GE;
	case SQLITE_INDEX_CONSTRAINT_LT:
		return SQL_LT;
	case SQLITE_INDEX_CONSTRAINT_LE:
		return SQL_LE;
	default:
		return 0;
	}
}

/* What a scan can look at itself. Each value of an IN would be a scan of its own. */
static bool is_usable(sqlite3_index_info *info, int idx, const struct record_kind *table)
{
	enum sql_operator op = operator_of(info->aConstraint[idx].op);
	enum sql_type type;

	if (!info->aConstraint[idx].usable || !op || info->aConstraint[idx].iColumn < 0)
		return false;
	type = sql_column_type(sql_column_at(table, info->aConstraint[idx].iColumn));
	if (type != SQL_INTEGER && (type != SQL_TEXT || op != SQL_EQ))
		return false;
	return strcmp(sqlite3_vtab_collation(info, idx), "BINARY") == 0 && !sqlite3_vtab_in(info, idx, -1);
}

/* An id finds a row or a few; other equalities a part. */
static double narrow(double rows, const struct record_field *column, enum sql_operator op)
{
	if (op != SQL_EQ)
		return rows / 3;
	return column->type == RECORD_SPAN_ID ? rows / 1e6 : rows / 20;
}

/*
 * Whether the scan can put rows together as GROUP BY wants them. It also puts
 * the groups in order, as SQLite takes that for done then.
 */
static bool can_group(sqlite3_index_info *info, const struct record_kind *table)
{
	if (info->nOrderBy < 1 || info->nOrderBy > GROUP_BY_MAX || sqlite3_vtab_distinct(info) != 1 ||
	    sql_column_cnt(table) > GROUP_COLUMN_MAX)
		return false;
	for (int i = 0; i < info->nOrderBy; i++) {
		int column = info->aOrderBy[i].iColumn;

		if (column < 0 || sql_column_type(sql_column_at(table, column)) == SQL_ANY)
			return false;
	}
	return true;
}

static int on_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct log_table *table = (struct log_table *)base;
	double all = (double)table->tables->source->total_bytes / ROW_BYTES, rows;
	sqlite3_str *text = sqlite3_str_new(NULL);
	bool has_equal = false;
	int cnt = 0;

	all = all < ROWS_MIN ? ROWS_MIN : all;
	rows = all;
	sqlite3_str_appendf(text, "%llx:", info->colUsed);
	for (int i = 0; i < info->nConstraint && cnt < SQL_CONSTRAINT_MAX; i++) {
		enum sql_operator op = operator_of(info->aConstraint[i].op);

		if (!is_usable(info, i, table->table))
			continue;
		info->aConstraintUsage[i].argvIndex = ++cnt;
		sqlite3_str_appendf(text, "%c%d;", (char)op, info->aConstraint[i].iColumn);
		rows = narrow(rows, sql_column_at(table->table, info->aConstraint[i].iColumn), op);
		has_equal |= op == SQL_EQ;
	}
	info->orderByConsumed = can_group(info, table->table);
	for (int i = 0; info->orderByConsumed && i < info->nOrderBy; i++)
		sqlite3_str_appendf(text, "%c%d;", info->aOrderBy[i].desc ? BY_DESCENDING : BY,
				    info->aOrderBy[i].iColumn);
	rows = rows < 1 ? 1 : rows;
	info->estimatedRows = (sqlite3_int64)rows;
	info->estimatedCost = has_equal ? rows + 10 : all;
	info->idxStr = sqlite3_str_finish(text);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* Reads what on_best_index wrote. */
static void read_plan(const struct record_kind *table, const char *text, struct way *way)
{
	size_t column_cnt = sql_column_cnt(table);
	char *at;

	*way = (struct way){ .columns = strtoull(text, &at, 16) };
	for (at += *at == ':'; *at; at += *at == ';') {
		char op = *at;
		size_t column = strtoul(at + 1, &at, 10);

		if (column >= column_cnt || way->cnt == SQL_CONSTRAINT_MAX || way->by_cnt == GROUP_BY_MAX)
			break;
		way->columns |= 1ull << (column < 63 ? column : 63);
		if (op == BY || op == BY_DESCENDING)
			way->by[way->by_cnt++] = (struct group_by){ (uint8_t)column, op == BY_DESCENDING };
		else
			way->places[way->cnt++] = (struct constraint_place){ (enum sql_operator)op, column };
	}
}

/* The plan of this text, counted once more; NULL: there are too many, or no memory. */
static struct plan *find_plan(struct log_table *table, const char *text)
{
	if (table->statement != table->tables->statement)
		forget_plans(table);
	table->statement = table->tables->statement;
	for (size_t i = 0; i < table->plan_cnt; i++) {
		if (strcmp(table->plans[i].text, text) == 0)
			return &table->plans[i];
	}
	if (table->plan_cnt == PLAN_MAX)
		return NULL;
	table->plans[table->plan_cnt] = (struct plan){ .text = strdup(text) };
	return table->plans[table->plan_cnt].text ? &table->plans[table->plan_cnt++] : NULL;
}

/* ---- copies ---- */

static int open_copies(struct log_tables *tables)
{
	int result;

	if (tables->copies)
		return 0;
	/* a temporary file, which has no name once it is open */
	result = sqlite3_open_v2("", &tables->copies, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_exec(tables->copies,
				      "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
				      "PRAGMA cache_size=-65536; PRAGMA locking_mode=EXCLUSIVE",
				      NULL, NULL, NULL);
	return sql_store_error(result);
}

/* On the columns that are equal to something, then on one that has a bound. */
static int index_copy(struct log_table *table, const char *name, const struct way *way)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);
	const char *separator = "";
	bool has_bound = false;
	int result = SQLITE_OK;
	char *text;

	sqlite3_str_appendf(sql, "CREATE INDEX \"%w_index\" ON \"%w\" (", name, name);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < way->cnt; i++) {
			if ((way->places[i].op == SQL_EQ) != (pass == 0) || has_bound)
				continue;
			has_bound = pass == 1;
			sqlite3_str_appendf(sql, "%s\"%w\"", separator,
					    sql_column_at(table->table, way->places[i].column)->name);
			separator = ", ";
		}
	}
	sqlite3_str_appendf(sql, ")");
	text = sqlite3_str_finish(sql);
	if (!text)
		return -ENOMEM;
	if (*separator)
		result = sqlite3_exec(table->tables->copies, text, NULL, NULL, NULL);
	sqlite3_free(text);
	return sql_store_error(result);
}

static int copy_rows(struct log_table *table, const char *name, uint64_t columns)
{
	struct sql_scan *scan = NULL;
	struct sql_copy copy;
	int err = sql_store_begin(&copy, table->tables->copies, name, table->table, columns), result = 0;

	err = err ? err : sql_scan_open(&scan, table->tables->source, table->table, NULL, 0);
	while (!err && (result = sql_scan_next(scan)) > 0)
		err = sql_store_add(&copy, sql_scan_row(scan));
	sql_scan_close(scan);
	sql_store_end(&copy);
	return err ? err : result;
}

static int make_copy(struct log_table *table, struct plan *plan)
{
	struct way way;
	char name[24];
	int err = open_copies(table->tables);

	if (err)
		return err;
	read_plan(table->table, plan->text, &way);
	plan->copy = ++table->tables->copy_cnt;
	snprintf(name, sizeof(name), "copy_%u", plan->copy);
	err = sql_store_error(sqlite3_exec(table->tables->copies, "BEGIN", NULL, NULL, NULL));
	err = err ? err : copy_rows(table, name, way.columns);
	err = err ? err : index_copy(table, name, &way);
	return err ? err : sql_store_error(sqlite3_exec(table->tables->copies, "COMMIT", NULL, NULL, NULL));
}

static const char *operator_text(enum sql_operator op)
{
	switch (op) {
	case SQL_GE:
		return ">=";
	case SQL_LE:
		return "<=";
	case SQL_GT:
		return ">";
	case SQL_LT:
		return "<";
	default:
		return "=";
	}
}

static int ask_copy(struct log_table *table, struct log_cursor *cursor, const struct way *way)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);
	char *text;
	int result;

	sqlite3_str_appendf(sql, "SELECT * FROM copy_%u", cursor->copy);
	for (size_t i = 0; i < way->cnt; i++)
		sqlite3_str_appendf(sql, " %s \"%w\" %s ?%d", i == 0 ? "WHERE" : "AND",
				    sql_column_at(table->table, way->places[i].column)->name,
				    operator_text(way->places[i].op), (int)i + 1);
	for (size_t i = 0; i < way->by_cnt; i++)
		sqlite3_str_appendf(sql, "%s \"%w\"%s", i == 0 ? " ORDER BY" : ",",
				    sql_column_at(table->table, way->by[i].column)->name,
				    way->by[i].is_descending ? " DESC" : "");
	text = sqlite3_str_finish(sql);
	if (!text)
		return SQLITE_NOMEM;
	result = sqlite3_prepare_v2(table->tables->copies, text, -1, &cursor->copied, NULL);
	sqlite3_free(text);
	return result;
}

/* ---- cursors ---- */

static int on_open(sqlite3_vtab *base, sqlite3_vtab_cursor **made)
{
	struct log_cursor *cursor = sqlite3_malloc64(sizeof(*cursor));

	(void)base;
	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	*made = &cursor->base;
	return SQLITE_OK;
}

static void end_scan(struct log_cursor *cursor)
{
	sql_scan_close(cursor->scan);
	cursor->scan = NULL;
	row_groups_free(cursor->groups);
	cursor->groups = NULL;
	for (size_t i = 0; i < SQL_CONSTRAINT_MAX; i++) {
		free(cursor->texts[i]);
		cursor->texts[i] = NULL;
	}
}

static int on_close(sqlite3_vtab_cursor *base)
{
	struct log_cursor *cursor = (struct log_cursor *)base;

	end_scan(cursor);
	sqlite3_finalize(cursor->copied);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int on_next(sqlite3_vtab_cursor *base)
{
	struct log_cursor *cursor = (struct log_cursor *)base;
	struct log_table *table = (struct log_table *)base->pVtab;
	int result;

	cursor->rowid++;
	if (cursor->copied) {
		result = sqlite3_step(cursor->copied);
		cursor->is_at_end = result != SQLITE_ROW;
		return result == SQLITE_ROW || result == SQLITE_DONE
			       ? SQLITE_OK
			       : result_of(table, sql_store_error(result));
	}
	result = cursor->groups ? row_groups_next(cursor->groups) : sql_scan_next(cursor->scan);
	cursor->is_at_end = result <= 0;
	if (result >= 0)
		return SQLITE_OK;
	return cursor->groups ? result_of_keeping(table, result) : result_of(table, result);
}

/* A value of another type than the column's is left to SQLite, which knows how to compare them. */
static bool take_value(const struct record_field *column, sqlite3_value *value, struct sql_value *taken)
{
	int type = sqlite3_value_type(value);

	if (sql_column_type(column) == SQL_INTEGER && type == SQLITE_INTEGER) {
		taken->type = SQL_INTEGER;
		taken->integer = sqlite3_value_int64(value);
		return true;
	}
	/* an id is written in one way: as a number is that it is compared with */
	if (sql_column_type(column) != SQL_TEXT ||
	    (type != SQLITE_TEXT && (type != SQLITE_INTEGER || column->type != RECORD_SPAN_ID)))
		return false;
	taken->type = SQL_TEXT;
	taken->bytes = (const char *)sqlite3_value_text(value);
	taken->length = (size_t)sqlite3_value_bytes(value);
	return taken->bytes != NULL;
}

/* SQLite's values go when the filter has returned. */
static bool keep_text(struct log_cursor *cursor, size_t idx, struct sql_value *value)
{
	if (value->type != SQL_TEXT)
		return true;
	cursor->texts[idx] = malloc(value->length + 1);
	if (!cursor->texts[idx])
		return false;
	memcpy(cursor->texts[idx], value->bytes, value->length);
	value->bytes = cursor->texts[idx];
	return true;
}

static int begin_scan(struct log_table *table, struct log_cursor *cursor, const struct way *way,
		      sqlite3_value **values)
{
	struct sql_constraint constraints[SQL_CONSTRAINT_MAX];
	size_t taken_cnt = 0;
	int err;

	end_scan(cursor);
	sqlite3_finalize(cursor->copied);
	cursor->copied = NULL;
	for (size_t i = 0; i < way->cnt; i++) {
		struct sql_constraint *constraint = &constraints[taken_cnt];

		constraint->column = sql_column_at(table->table, way->places[i].column);
		constraint->op = way->places[i].op;
		if (!take_value(constraint->column, values[i], &constraint->value))
			continue;
		if (!keep_text(cursor, taken_cnt, &constraint->value))
			return SQLITE_NOMEM;
		taken_cnt++;
	}
	err = sql_scan_open(&cursor->scan, table->tables->source, table->table, constraints, taken_cnt);
	return err ? result_of(table, err) : SQLITE_OK;
}

/* All rows of the scan, put together. *is_too_many: there are too many groups, and nothing is kept. */
static int group_rows(struct log_table *table, struct log_cursor *cursor, const struct way *way,
		      bool *is_too_many)
{
	int result = 0,
	    err = row_groups_new(&cursor->groups, table->table, way->columns, way->by, way->by_cnt);

	while (!err && (result = sql_scan_next(cursor->scan)) > 0)
		err = row_groups_add(cursor->groups, sql_scan_row(cursor->scan));
	*is_too_many = err == -E2BIG;
	/* what is missing in the log is told by the scan that comes to its end, once */
	while (*is_too_many && (result = sql_scan_next(cursor->scan)) > 0)
		;
	if (*is_too_many || result < 0) {
		end_scan(cursor);
		return result < 0 ? result_of(table, result) : SQLITE_OK;
	}
	err = err ? err : row_groups_sort(cursor->groups);
	sql_scan_close(cursor->scan);
	cursor->scan = NULL;
	return err ? result_of_keeping(table, err) : SQLITE_OK;
}

static int begin_copied(struct log_table *table, struct log_cursor *cursor, const struct plan *plan,
			const struct way *way, sqlite3_value **values)
{
	int result = SQLITE_OK;

	end_scan(cursor);
	if (cursor->copied && cursor->copy != plan->copy) {
		sqlite3_finalize(cursor->copied);
		cursor->copied = NULL;
	}
	cursor->copy = plan->copy;
	if (cursor->copied)
		sqlite3_reset(cursor->copied);
	else
		result = ask_copy(table, cursor, way);
	for (size_t i = 0; i < way->cnt && result == SQLITE_OK; i++)
		result = sqlite3_bind_value(cursor->copied, (int)i + 1, values[i]);
	return result == SQLITE_OK ? result : result_of_keeping(table, sql_store_error(result));
}

static int begin_copy(struct log_table *table, struct log_cursor *cursor, struct plan *plan,
		      const struct way *way, sqlite3_value **values)
{
	int err = plan->copy ? 0 : make_copy(table, plan);

	return err ? result_of_keeping(table, err) : begin_copied(table, cursor, plan, way, values);
}

static int on_filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc,
		     sqlite3_value **values)
{
	struct log_cursor *cursor = (struct log_cursor *)base;
	struct log_table *table = (struct log_table *)base->pVtab;
	struct plan *plan = find_plan(table, text);
	bool is_too_many = false;
	struct way way;
	int result;

	(void)number;
	read_plan(table->table, text, &way);
	cursor->columns = way.columns;
	cursor->rowid = 0;
	if (way.cnt != (size_t)argc)
		return fail(base->pVtab, "the plan of the query is not one of ours");
	if (plan && plan->scan_cnt++ > 0) {
		result = begin_copy(table, cursor, plan, &way, values);
		return result == SQLITE_OK ? on_next(base) : result;
	}
	result = begin_scan(table, cursor, &way, values);
	if (result == SQLITE_OK && way.by_cnt > 0)
		result = group_rows(table, cursor, &way, &is_too_many);
	if (is_too_many)
		result = plan ? begin_copy(table, cursor, plan, &way, values)
			      : fail(base->pVtab, "the query scans a table in too many ways");
	return result == SQLITE_OK ? on_next(base) : result;
}

static int on_eof(sqlite3_vtab_cursor *base)
{
	return ((struct log_cursor *)base)->is_at_end;
}

/* In a copy, columns that are not used have no place. */
static int place_in_copy(uint64_t columns, int idx)
{
	int place = 0;

	for (int i = 0; i < idx; i++)
		place += sql_has_column(columns, (size_t)i);
	return place;
}

/* NULL: SQLite has to copy it. */
static const char *known_text(struct log_table *table, const struct sql_value *value)
{
	struct known_text *known;
	uint32_t hash = (uint32_t)value->length;

	if (value->length == 0 || value->length > KNOWN_BYTES)
		return NULL;
	for (size_t i = 0; i < value->length; i++)
		hash = hash * 31 + (unsigned char)value->bytes[i];
	known = &table->known[(hash ^ hash >> 8) % KNOWN_MAX];
	if (known->length == 0) {
		known->length = (uint8_t)value->length;
		memcpy(known->bytes, value->bytes, value->length);
	}
	return known->length == value->length && memcmp(known->bytes, value->bytes, value->length) == 0
		       ? known->bytes
		       : NULL;
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int idx)
{
	struct log_cursor *cursor = (struct log_cursor *)base;
	struct log_table *table = (struct log_table *)base->pVtab;
	const struct sql_value *from;
	struct sql_value value;
	const char *known;

	if (cursor->copied) {
		sqlite3_result_value(context, sqlite3_column_value(cursor->copied,
								   place_in_copy(cursor->columns, idx)));
		return SQLITE_OK;
	}
	if (cursor->groups) {
		from = row_groups_value(cursor->groups, (size_t)idx);
	} else {
		sql_column_get(sql_column_at(table->table, idx), sql_scan_row(cursor->scan), &value);
		from = &value;
	}
	switch (from->type) {
	case SQL_INTEGER:
		sqlite3_result_int64(context, from->integer);
		break;
	case SQL_REAL:
		sqlite3_result_double(context, from->real);
		break;
	case SQL_TEXT:
		known = sql_column_at(table->table, idx)->type == RECORD_STRING ? known_text(table, from)
										: NULL;
		sqlite3_result_text64(context, known ? known : from->bytes, from->length,
				      known ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8);
		break;
	case SQL_BLOB:
		sqlite3_result_blob64(context, from->bytes, from->length, SQLITE_TRANSIENT);
		break;
	default:
		sqlite3_result_null(context);
	}
	return SQLITE_OK;
}

static int on_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	*rowid = ((struct log_cursor *)base)->rowid;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1,
	.xConnect = on_connect, /* and no xCreate: the tables are there, and can't be made */
	.xBestIndex = on_best_index,
	.xDisconnect = on_disconnect,
	.xDestroy = on_disconnect,
	.xOpen = on_open,
	.xClose = on_close,
	.xFilter = on_filter,
	.xNext = on_next,
	.xEof = on_eof,
	.xColumn = on_column,
	.xRowid = on_rowid,
};

int log_tables_register(struct log_tables *tables, sqlite3 *database)
{
	const struct record_kind *table;
	int result = SQLITE_OK;

	for (size_t i = 0; (table = sql_table_at(i)) && result == SQLITE_OK; i++)
		result = sqlite3_create_module_v2(database, table->plural, &module, tables, NULL);
	return result;
}

void log_tables_forget(struct log_tables *tables)
{
	sqlite3_close_v2(tables->copies);
	tables->copies = NULL;
	tables->copy_cnt = 0;
	tables->statement++;
}
