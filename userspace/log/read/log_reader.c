/* SPDX-License-Identifier: BSD-2-Clause */
#include "txtrace/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log/read/log_cursor.h"
#include "log/read/log_range.h"

struct txtrace_log {
	struct log_cursor cursor;
	struct txtrace_log_info info;      /* of the file that is read */
	struct log_block block;            /* of the record that was read last; header_bytes 0: none was */
	uint64_t block_offset;
	/* held back, if it has a kind: it is told unless the next part follows */
	struct txtrace_record continued;
	bool is_at_end;
	int sentence_err;                  /* with which the open failed, and what it says to a human */
	char sentence[1024];
};

/* ---- opening ---- */

static struct txtrace_log *new_log(void)
{
	struct txtrace_log *log = calloc(1, sizeof(*log));

	if (log)
		log->cursor = (struct log_cursor)LOG_CURSOR_INIT;
	return log;
}

/* Two files do not go together: which one the other is. */
static void explain(struct txtrace_log *log, int err)
{
	const char *other = log->cursor.set.other_path;

	if (!other)
		return;
	log->sentence_err = err;
	if (err == -EXDEV)
		snprintf(log->sentence, sizeof(log->sentence),
			 "it is not of the same boot of the same machine as '%s'; 'txtrace merge' puts such "
			 "logs together",
			 other);
	else
		snprintf(log->sentence, sizeof(log->sentence), "it is the same part of one capture as '%s'",
			 other);
}

int txtrace_log_open_files(struct txtrace_log **result, const char *const *paths, size_t cnt)
{
	struct txtrace_log *log = *result = new_log();
	struct log_set *set;
	int err = cnt ? 0 : -EINVAL;

	if (!log)
		return -ENOMEM;
	set = &log->cursor.set;
	for (size_t i = 0; !err && i < cnt; i++)
		err = log_set_add(set, paths[i]);
	if (!err)
		err = log_set_arrange(set);
	if (!err)
		err = log_cursor_open(&log->cursor, 0);
	if (!err)
		log->info = log->cursor.walk.info;
	explain(log, err);
	return err;
}

int txtrace_log_open(struct txtrace_log **log, const char *path)
{
	return txtrace_log_open_files(log, &path, 1);
}

int txtrace_log_follow(struct txtrace_log **result, const char *path)
{
	struct txtrace_log *log = *result = new_log();
	int err;

	if (!log)
		return -ENOMEM;
	err = log_cursor_follow(&log->cursor, path);
	if (!err)
		log->info = log->cursor.walk.info;
	return err;
}

int txtrace_log_set_threads(struct txtrace_log *log, unsigned int thread_cnt)
{
	return log_cursor_set_threads(&log->cursor, thread_cnt);
}

void txtrace_log_close(struct txtrace_log *log)
{
	if (!log)
		return;
	log_cursor_close(&log->cursor);
	free(log);
}

/* ---- reading ---- */

static int damaged(struct txtrace_log *log, struct txtrace_record *record)
{
	record->kind = TXTRACE_RECORD_DAMAGE;
	record->damage = log->cursor.damage;
	log->cursor.damage.reason = NULL;
	return 1;
}

static void end_batch(struct txtrace_log *log, int result)
{
	const struct batch_slot *slot = log->cursor.slot;

	if (result < 0)
		log->cursor.damage = (struct txtrace_damage){
			.offset_bytes = slot->before.offset,
			.length_bytes = slot->block.header_bytes + (uint64_t)slot->block.stored_bytes,
			.record_cnt = batch_slot_left(slot),
			.reason = "the rest of a batch makes no sense",
		};
	log_cursor_leave(&log->cursor);
}

/* The last record of a file says that the capture goes on: of interest only if it does not. */
static bool is_held_back(struct txtrace_log *log, const struct txtrace_record *record)
{
	struct log_cursor *cursor = &log->cursor;

	cursor->is_continued = record->kind == TXTRACE_RECORD_CONTINUED;
	if (!cursor->is_continued || log_cursor_goes_on(cursor))
		return cursor->is_continued;
	if (cursor->is_following)
		log->continued = *record;
	return cursor->is_following;
}

/* A batch, or what else there is to be told: enum cursor_step. */
static int next_step(struct txtrace_log *log)
{
	struct log_cursor *cursor = &log->cursor;
	const struct batch_slot *slot;
	int step = log_cursor_step(cursor);

	if (step >= 0 && cursor->is_open)
		log->info = cursor->walk.info;
	if (step != CURSOR_BATCH)
		return step;
	slot = cursor->slot;
	log->block = slot->block;
	log->block_offset = slot->before.offset;
	log->continued.kind = 0;
	return step;
}

static int end(struct txtrace_log *log, struct txtrace_record *record)
{
	if (log->continued.kind) {
		*record = log->continued;
		log->continued.kind = 0;
		return 1;
	}
	log->is_at_end = true;
	return 0;
}

/* What was taken from a batch, with this result: whether it is to be told. */
static bool is_told(struct txtrace_log *log, int result, const struct txtrace_record *record)
{
	if (result > 0)
		return !is_held_back(log, record);
	end_batch(log, result);
	return false;
}

static __attribute__((noinline)) int next_by_steps(struct txtrace_log *log, struct txtrace_record *record)
{
	int result;

	for (;;) {
		if (log->cursor.slot) {
			result = batch_slot_next(log->cursor.slot, record);
			if (is_told(log, result, record))
				return result;
			continue;
		}
		result = next_step(log);
		if (result == CURSOR_DAMAGE)
			return damaged(log, record);
		if (result == CURSOR_END)
			return end(log, record);
		if (result != CURSOR_BATCH)
			return result == CURSOR_WAIT ? 0 : result;
	}
}

/* Nearly always there is a next record in the batch, and it is one to be told. */
int txtrace_log_next(struct txtrace_log *log, struct txtrace_record *record)
{
	int result;

	if (log->cursor.slot && !log->cursor.is_continued) {
		result = batch_slot_next(log->cursor.slot, record);
		if (__builtin_expect(result > 0 && record->kind != TXTRACE_RECORD_CONTINUED, 1))
			return result;
		if (is_told(log, result, record))
			return result;
	}
	return next_by_steps(log, record);
}

/* ---- seeking ---- */

static int seek(struct txtrace_log *log, enum log_goal_kind kind, uint64_t number, uint64_t to_ns)
{
	struct log_goal goal = { kind, number };

	log->is_at_end = false;
	log->continued.kind = 0;
	log->block.header_bytes = 0;
	return log_cursor_seek(&log->cursor, &goal, to_ns);
}

int txtrace_log_seek_time(struct txtrace_log *log, uint64_t time_ns)
{
	return seek(log, LOG_GOAL_TIME, time_ns, 0);
}

int log_seek_range(struct txtrace_log *log, uint64_t from_ns, uint64_t to_ns)
{
	return seek(log, LOG_GOAL_TIME, from_ns, to_ns);
}

int txtrace_log_seek_batch(struct txtrace_log *log, uint64_t sequence)
{
	return seek(log, LOG_GOAL_BATCH, sequence, 0);
}

bool txtrace_log_batch(const struct txtrace_log *log, struct txtrace_batch *batch)
{
	const struct log_block *block = &log->block;

	if (!block->header_bytes)
		return false;
	*batch = (struct txtrace_batch){ block->sequence, log->block_offset, block->first_ns, block->last_ns,
					 block->record_cnt };
	return true;
}

/* ---- what else there is to know ---- */

const struct txtrace_log_info *txtrace_log_info(const struct txtrace_log *log)
{
	return &log->info;
}

const char *txtrace_log_path(const struct txtrace_log *log)
{
	const struct log_cursor *cursor = &log->cursor;
	const struct log_set *set = &cursor->set;

	if (set->bad_path || !set->cnt)
		return set->bad_path;
	return set->files[cursor->idx && !cursor->is_open ? cursor->idx - 1 : cursor->idx].path;
}

size_t txtrace_log_file_cnt(const struct txtrace_log *log)
{
	return log->cursor.set.cnt;
}

const char *txtrace_log_file(const struct txtrace_log *log, size_t idx)
{
	return idx < log->cursor.set.cnt ? log->cursor.set.files[idx].path : NULL;
}

size_t txtrace_log_capture_cnt(const struct txtrace_log *log)
{
	const struct log_set *set = &log->cursor.set;
	size_t cnt = set->cnt > 0;

	for (size_t i = 1; i < set->cnt; i++)
		cnt += !log_set_is_same_capture(&set->files[i - 1], &set->files[i]);
	return cnt;
}

bool txtrace_log_is_at_end(const struct txtrace_log *log)
{
	return log->is_at_end;
}

bool txtrace_log_is_complete(const struct txtrace_log *log)
{
	return log->is_at_end && !log->cursor.is_incomplete &&
	       !(log->cursor.is_following && log->cursor.is_continued);
}

uint64_t txtrace_log_realtime_ns(const struct txtrace_log *log, uint64_t time_ns)
{
	if (log->block.header_bytes)
		return time_ns - log->block.anchor_monotonic_ns + log->block.anchor_realtime_ns;
	return time_ns - log->info.start_monotonic_ns + log->info.start_realtime_ns;
}

void txtrace_log_progress(const struct txtrace_log *log, uint64_t *read_bytes, uint64_t *total_bytes)
{
	const struct log_cursor *cursor = &log->cursor;
	uint64_t offset = cursor->slot ? cursor->slot->before.offset : cursor->walk.at.offset, bytes;

	*read_bytes = *total_bytes = 0;
	for (size_t i = 0; i < cursor->set.cnt; i++) {
		bytes = cursor->set.files[i].bytes;
		if (i == cursor->idx && cursor->is_open) {
			bytes = block_walk_bytes(&cursor->walk);
			*read_bytes += offset < bytes ? offset : bytes;
		} else if (i < cursor->idx) {
			*read_bytes += bytes;
		}
		*total_bytes += bytes;
	}
}

struct log_error {
	int err;
	const char *sentence;
};

static const struct log_error log_errors[] = {
	{ ENODATA, "the file is empty" },
	{ EBADMSG, "this is not a txtrace log" },
	{ EPROTONOSUPPORT, "this log was written by a newer version of txtrace; read it with that one" },
	{ ESPIPE, "this is not a regular file; a log can't be read from a pipe or a device" },
	{ EISDIR, "this is a directory; only a file can be followed" },
	{ ENOMSG, "there is no log in this directory" },
	{ EXDEV, "these are not logs of one boot of one machine; 'txtrace merge' puts such logs together" },
	{ EEXIST, "the same part of one capture is there twice" },
	{ EAGAIN, "its recorder has just begun; try again" },
	{ EBUSY, "reading has begun" },
	{ ENOENT, "there is no such file" },
	{ EACCES, "you may not read this file" },
	{ EPERM, "you may not read this file" },
	{ EIO, "the disk could not be read" },
	{ ENOMEM, "there is not enough memory" },
	{ EMFILE, "too many files are open" },
	{ ENFILE, "too many files are open" },
	{ ELOOP, "too many symbolic links lead to this file" },
	{ ENOTDIR, "a part of this path is not a directory" },
	{ ENAMETOOLONG, "this path is too long" },
};

static const char *sentence_of(int err)
{
	for (size_t i = 0; i < sizeof(log_errors) / sizeof(log_errors[0]); i++)
		if (log_errors[i].err == -err)
			return log_errors[i].sentence;
	return err ? "the file can't be read" : "no error";
}

const char *txtrace_log_strerror(const struct txtrace_log *log, int err)
{
	return log && log->sentence[0] && log->sentence_err == err ? log->sentence : sentence_of(err);
}
