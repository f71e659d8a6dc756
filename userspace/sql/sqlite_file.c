/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log as a database file of SQLite, with the tables of `txtrace sql`. SQLite
 * writes to a place in a file, and an output may be a pipe: so it writes to a
 * temporary file, which has lost its name by then, and that is copied in the
 * end. Memory does not follow the length of the log.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export/formats.h"
#include "sql/block_rows.h"
#include "sql/sql_store.h"
#include "base/temporary_file.h"

#define TABLE_MAX 32
#define COPY_BYTES 65536

struct sqlite_file {
	FILE *out;
	const struct txtrace_log_info *info;
	int fd;		   /* of the temporary file */
	sqlite3 *database; /* in the same */
	struct sql_copy copies[TABLE_MAX];
	struct sql_copy *of_kinds[TXTRACE_RECORD_KIND_COUNT];
	struct sql_copy *of_blocks;
	struct block_rows blocks;
};

static int make_temporary(struct sqlite_file *file)
{
	char *path = NULL;
	int result;

	file->fd = temporary_file_open(&path);
	if (file->fd < 0)
		return file->fd;
	result = sqlite3_open_v2(path, &file->database, SQLITE_OPEN_READWRITE, NULL);
	if (result == SQLITE_OK)
		result = sqlite3_exec(file->database,
				      "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=OFF; "
				      "PRAGMA synchronous=OFF; PRAGMA cache_size=-16384; BEGIN EXCLUSIVE",
				      NULL, NULL, NULL);
	unlink(path);
	free(path);
	return sql_store_error(result);
}

static int make_tables(struct sqlite_file *file)
{
	const struct record_kind *table;
	int err = 0;

	for (size_t i = 0; (table = sql_table_at(i)) && i < TABLE_MAX && !err; i++) {
		struct sql_row row = { .source = file->info, .capture = 1 };
		size_t capture = sql_column_cnt(table) - 1;
		/* An export does not know the number of the capture. */
		uint64_t columns = table == &sql_captures ? UINT64_MAX : UINT64_MAX & ~(1ull << capture);

		err = sql_store_begin(&file->copies[i], file->database, table->plural, table, columns);
		if (table == &sql_blocks)
			file->of_blocks = &file->copies[i];
		else if (table != &sql_captures)
			file->of_kinds[table - record_kinds] = &file->copies[i];
		else if (!err)
			err = sql_store_add(&file->copies[i], &row);
	}
	return err;
}

static void sqlite_free(void *state)
{
	struct sqlite_file *file = state;

	for (size_t i = 0; i < TABLE_MAX; i++)
		sql_store_end(&file->copies[i]);
	sqlite3_close(file->database);
	if (file->fd >= 0)
		close(file->fd);
	block_rows_release(&file->blocks);
	free(file);
}

static int sqlite_open(void **state, FILE *out, const struct txtrace_log_info *info)
{
	struct sqlite_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->out = out;
	file->info = info;
	file->fd = -1;
	err = make_temporary(file);
	err = err ? err : make_tables(file);
	if (err)
		sqlite_free(file);
	else
		*state = file;
	return err;
}

/* What blocks are derived from. */
static int add_block(struct sqlite_file *file, const struct txtrace_record *record)
{
	const struct sql_row row = { .source = &file->blocks.block, .capture = 1 };
	int result = block_rows_add(&file->blocks, record, file->info, false);

	return result > 0 ? sql_store_add(file->of_blocks, &row) : result;
}

static int sqlite_record(void *state, const struct txtrace_record *record)
{
	const struct sql_row row = { .source = record, .capture = 1 };
	struct sqlite_file *file = state;
	int err = add_block(file, record);

	return err || !file->of_kinds[record->kind] ? err : sql_store_add(file->of_kinds[record->kind], &row);
}

static int copy_out(struct sqlite_file *file)
{
	char *bytes = malloc(COPY_BYTES);
	off_t at = 0;
	ssize_t got;
	int err = bytes ? 0 : -ENOMEM;

	while (!err && (got = pread(file->fd, bytes, COPY_BYTES, at)) != 0) {
		if (got < 0)
			err = errno == EINTR ? 0 : -errno;
		else if (fwrite(bytes, 1, (size_t)got, file->out) != (size_t)got)
			err = errno ? -errno : -EIO;
		at += got > 0 ? got : 0;
	}
	free(bytes);
	return err;
}

static int sqlite_finish(void *state, const struct export_totals *totals)
{
	struct txtrace_record summary = { .kind = TXTRACE_RECORD_SUMMARY, .summary = totals->census.summary };
	struct sqlite_file *file = state;
	int err = 0;

	if (totals->census.record_cnt[TXTRACE_RECORD_SUMMARY])
		err = sqlite_record(file, &summary);
	if (!err)
		err = sql_store_error(sqlite3_exec(file->database,
						   "CREATE INDEX spans_id ON spans(id, pid);"
						   "CREATE INDEX spans_parent ON spans(parent, pid);"
						   "CREATE INDEX attributes_span ON attributes(span, pid);"
						   "COMMIT",
						   NULL, NULL, NULL));
	return err ? err : copy_out(file);
}

const struct export_format format_sqlite = {
	.name = "sqlite",
	.help = "a database file of SQLite with the tables of txtrace sql",
	.suffix = ".db",
	.is_binary = true,
	.work_folder = temporary_folder,
	.open = sqlite_open,
	.record = sqlite_record,
	.finish = sqlite_finish,
	.free = sqlite_free,
};
