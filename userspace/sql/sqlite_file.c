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

/* All columns but the number of the capture, which an export does not know. */
static uint64_t columns_of(const struct sql_table *table)
{
	int capture = table->of == SQL_OF_CAPTURES ? -1 : sql_table_column_find(table, "capture");

	return capture < 0 ? UINT64_MAX : UINT64_MAX & ~(1ull << capture);
}

static int make_tables(struct sqlite_file *file)
{
	int err = 0;

	for (size_t i = 0; sql_tables[i].name && i < TABLE_MAX && !err; i++) {
		const struct sql_table *table = &sql_tables[i];
		struct sql_row row = { .source = file->info, .capture = 1 };

		err = sql_store_begin(&file->copies[i], file->database, table->name, table,
				      columns_of(table));
		if (table->of == SQL_OF_RECORDS)
			file->of_kinds[table->kind] = &file->copies[i];
		else if (table->of == SQL_OF_BLOCKS)
			file->of_blocks = &file->copies[i];
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

static int add(struct sqlite_file *file, uint32_t kind, const void *source)
{
	const struct sql_row row = { .source = source, .capture = 1 };

	return file->of_kinds[kind] ? sql_store_add(file->of_kinds[kind], &row) : 0;
}

/* What blocks are derived from. */
static int add_block(struct sqlite_file *file, const struct txtrace_record *record)
{
	const struct sql_row row = { .source = &file->blocks.block, .capture = 1 };
	int result = block_rows_add(&file->blocks, record, file->info, false);

	return result > 0 ? sql_store_add(file->of_blocks, &row) : result;
}

#define ADD(KIND, member)                                                              \
	static int sqlite_##member(void *state, const struct txtrace_##member *member) \
	{                                                                              \
		return add(state, TXTRACE_RECORD_##KIND, member);                      \
	}
#define ADD_WITH_BLOCK(KIND, member_)                                                                       \
	static int sqlite_##member_(void *state, const struct txtrace_##member_ *member)                    \
	{                                                                                                   \
		const struct txtrace_record record = { .kind = TXTRACE_RECORD_##KIND, .member_ = *member }; \
		int err = add_block(state, &record);                                                        \
		return err ? err : add(state, TXTRACE_RECORD_##KIND, member);                               \
	}
ADD(SPAN, span)
ADD_WITH_BLOCK(RUN, run)
ADD_WITH_BLOCK(WAKE, wake)
ADD(THREAD, thread)
ADD(ATTRIBUTE, attribute)
ADD(INSTANT, instant)
ADD(COUNTER, counter)
ADD(LINK, link)
ADD(OPEN_SPAN, open_span)
ADD(LOSS, loss)
ADD(STAY, stay)
ADD_WITH_BLOCK(OBJECT, object)
ADD(STACK, stack)
ADD(FRAMES, frames)
ADD(OTHER_RUN, other_run)
ADD(COST, cost)
ADD(PROCESS, process)
ADD(TRIGGER, trigger)
ADD(DROPPED, dropped)
ADD(DAMAGE, damage)

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
	struct sqlite_file *file = state;
	int err = 0;

	if (totals->census.record_cnt[TXTRACE_RECORD_SUMMARY])
		err = add(file, TXTRACE_RECORD_SUMMARY, &totals->census.summary);
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
	.span = sqlite_span,
	.run = sqlite_run,
	.wake = sqlite_wake,
	.thread = sqlite_thread,
	.attribute = sqlite_attribute,
	.instant = sqlite_instant,
	.counter = sqlite_counter,
	.link = sqlite_link,
	.open_span = sqlite_open_span,
	.loss = sqlite_loss,
	.stay = sqlite_stay,
	.object = sqlite_object,
	.stack = sqlite_stack,
	.frames = sqlite_frames,
	.other_run = sqlite_other_run,
	.cost = sqlite_cost,
	.process = sqlite_process,
	.trigger = sqlite_trigger,
	.dropped = sqlite_dropped,
	.damage = sqlite_damage,
	.finish = sqlite_finish,
	.free = sqlite_free,
};
