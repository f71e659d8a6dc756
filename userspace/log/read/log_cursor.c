/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/read/log_cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log/read/log_family.h"

/*
 * Between the end of one part and the beginning of the next nobody holds a lock. It takes a recorder
 * milliseconds.
 */
#define NEXT_PART_SECONDS 10

static int64_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + 2;
}

/* ---- files ---- */

static struct log_set_file *file_of(struct log_cursor *cursor)
{
	return &cursor->set.files[cursor->idx];
}

bool log_cursor_goes_on(const struct log_cursor *cursor)
{
	return cursor->idx + 1 < cursor->set.cnt &&
	       log_set_is_same_capture(&cursor->set.files[cursor->idx], &cursor->set.files[cursor->idx + 1]);
}

static void tell(struct log_cursor *cursor, uint64_t offset, const char *reason)
{
	cursor->damage = (struct txtrace_damage){ .offset_bytes = offset, .reason = reason };
}

/* Where the file is the next part of the one before, its blocks go on with the sequence of that. */
static void connect(struct log_cursor *cursor)
{
	const struct log_set_file *file = file_of(cursor), *last = &cursor->last;
	struct walk_position *at = &cursor->walk.at;

	if (!cursor->has_last || !log_set_is_same_capture(last, file))
		return;
	if (file->has_header && last->has_header && file->part != last->part + 1) {
		cursor->is_incomplete = true;
		tell(cursor, 0, "a part of the capture before this file is missing");
	} else if (cursor->next_sequence < at->next_sequence && !cursor->was_after_damage) {
		at->next_sequence = cursor->next_sequence;
	}
}

/* The walker is open: 1, if *damage is at the beginning, or 0. */
static void enter_file(struct log_cursor *cursor, const struct txtrace_damage *damage)
{
	cursor->is_open = cursor->is_fresh = true;
	cursor->has_hopped = false;
	if (damage)
		cursor->damage = *damage;
	else
		connect(cursor);
}

static int open_path(struct log_cursor *cursor, const char *path)
{
	struct log_set_file now = { .path = NULL };
	struct txtrace_damage damage;
	int result = block_walk_open(&cursor->walk, path, cursor->is_following, &damage);

	if (result < 0) {
		block_walk_close(&cursor->walk);
		return result;
	}
	log_set_describe(&cursor->walk, &now);
	if (now.has_header && file_of(cursor)->has_header &&
	    (!log_set_is_same_capture(&now, file_of(cursor)) || now.part != file_of(cursor)->part)) {
		block_walk_close(&cursor->walk);
		return -ENOENT;
	}
	enter_file(cursor, result ? &damage : NULL);
	return 0;
}

/* Since the set was put together, the recorder may have given the file another name, or have removed it. */
static int open_renamed(struct log_cursor *cursor)
{
	const struct log_set_file *file = file_of(cursor);
	char *base = log_family_base(file->path), *path = NULL;
	uint32_t found = 0;
	int result = base ? log_family_find(base, file->capture_id, file->part, &path, &found) : -ENOMEM;

	if (result > 0)
		result = found == file->part ? open_path(cursor, path) : -ENOENT;
	else if (!result)
		result = -ENOENT;
	free(path);
	free(base);
	return result;
}

static int open_file(struct log_cursor *cursor)
{
	int err = open_path(cursor, file_of(cursor)->path);

	return err == -ENOENT && file_of(cursor)->has_header ? open_renamed(cursor) : err;
}

static void close_file(struct log_cursor *cursor)
{
	const struct walk_position *at = &cursor->walk.at;

	cursor->is_incomplete |= !at->has_footer;
	cursor->next_sequence = at->next_sequence;
	cursor->was_after_damage = at->is_after_damage;
	cursor->last = *file_of(cursor);
	cursor->last.path = NULL;
	cursor->has_last = true;
	block_walk_close(&cursor->walk);
	cursor->is_open = false;
	cursor->idx++;
}

/* ---- opening ---- */

int log_cursor_open(struct log_cursor *cursor, unsigned int thread_cnt)
{
	int err = decode_queue_open(&cursor->queue, thread_cnt);

	return err ? err : open_file(cursor);
}

int log_cursor_set_threads(struct log_cursor *cursor, unsigned int thread_cnt)
{
	struct decode_queue *queue;
	int err;

	if (cursor->has_begun)
		return -EBUSY;
	err = decode_queue_open(&queue, thread_cnt);
	if (err)
		return err;
	decode_queue_close(cursor->queue);
	cursor->queue = queue;
	return 0;
}

void log_cursor_close(struct log_cursor *cursor)
{
	decode_queue_close(cursor->queue);
	block_walk_close(&cursor->walk);
	log_set_release(&cursor->set);
	free(cursor->base);
}

/* ---- following ---- */

static int replace_file(struct log_cursor *cursor, const struct log_set_file *file)
{
	struct log_set *set = &cursor->set;

	if (!set->files) {
		set->files = calloc(1, sizeof(*set->files));
		if (!set->files)
			return -ENOMEM;
		set->capacity = 1;
	}
	free(set->files[0].path);
	set->files[0] = *file;
	set->cnt = 1;
	set->bytes = file->bytes;
	cursor->idx = 0;
	return 0;
}

/* Takes path. -EAGAIN: its recorder has just begun. */
static int follow_path(struct log_cursor *cursor, char *path)
{
	struct log_set_file file = { .path = path };
	struct txtrace_damage damage;
	int result = block_walk_open(&cursor->walk, path, true, &damage), err;

	if (result < 0) {
		block_walk_close(&cursor->walk);
		free(path);
		return result;
	}
	log_set_describe(&cursor->walk, &file);
	err = replace_file(cursor, &file);
	if (err) {
		free(path);
		return err;
	}
	enter_file(cursor, result ? &damage : NULL);
	return 0;
}

int log_cursor_follow(struct log_cursor *cursor, const char *path)
{
	char *live = log_family_live(path);
	int err;

	cursor->is_following = true;
	cursor->base = log_family_base(path);
	if (!live || !cursor->base) {
		free(live);
		return -ENOMEM;
	}
	err = decode_queue_open(&cursor->queue, 0);
	if (err) {
		free(live);
		return err;
	}
	return follow_path(cursor, live);
}

/* The file that was followed is at its end. CURSOR_BATCH stands for: go on with the next part. */
static int follow_on(struct log_cursor *cursor)
{
	char *path = NULL;
	uint32_t found = 0;
	int result;

	if (!cursor->waits_since)
		return CURSOR_END;
	result = log_family_find(cursor->base, cursor->last.capture_id, cursor->last.part + 1, &path, &found);
	if (result > 0)
		result = follow_path(cursor, path);
	else if (!result)
		result = -EAGAIN;
	if (!result) {
		cursor->waits_since = 0;
		return CURSOR_BATCH;
	}
	if (result != -EAGAIN && result != -ENOENT)
		return result;
	return seconds() - cursor->waits_since <= NEXT_PART_SECONDS ? CURSOR_WAIT : CURSOR_END;
}

static bool has_next_part(const struct log_cursor *cursor)
{
	const struct log_set_file *file = &cursor->set.files[0];
	char *path = NULL;
	uint32_t found;
	int result = log_family_find(cursor->base, file->capture_id, file->part + 1, &path, &found);

	free(path);
	return result > 0;
}

/* Nothing more is there to be read. -EAGAIN: nor will there ever be, in this file. */
static int wait(struct log_cursor *cursor)
{
	if (!cursor->walk.at.has_footer) {
		if (!block_walk_is_abandoned(&cursor->walk))
			return CURSOR_WAIT;
		cursor->walk.is_following = false; /* whatever stands there now is the end */
		return -EAGAIN;
	}
	/*
	 * The recorder holds the file until it is safe on the disk, which may take long, and only then begins
	 * the next.
	 */
	if (cursor->is_continued && !block_walk_is_abandoned(&cursor->walk) && !has_next_part(cursor))
		return CURSOR_WAIT;
	cursor->waits_since = cursor->is_continued ? seconds() : cursor->goal.kind ? 1 : 0;
	close_file(cursor);
	return -EAGAIN;
}

/* ---- damage ---- */

/* What was pushed behind this place was pushed in vain. */
static void go_back(struct log_cursor *cursor, const struct walk_position *to)
{
	struct walk_position at = *to;

	decode_queue_clear(cursor->queue);
	cursor->walk.at = at;
}

/* result: of block_walk_reject() and the like. */
static int damage_step(struct log_cursor *cursor, int result)
{
	return result < 0 ? result : result ? CURSOR_DAMAGE : wait(cursor);
}

static int reject(struct log_cursor *cursor, struct batch_slot *slot)
{
	struct log_block block = slot->block;
	const char *reason = slot->reason;

	go_back(cursor, &slot->before);
	return damage_step(cursor, block_walk_reject(&cursor->walk, &block, reason, &cursor->damage));
}

/* ---- blocks ---- */

static void push(struct log_cursor *cursor, struct batch_slot *slot, const struct log_block *block)
{
	slot->fd = cursor->walk.fd;
	slot->before = cursor->walk.at;
	slot->block = *block;
	slot->is_gap = block_walk_pass(&cursor->walk, block);
	decode_queue_push(cursor->queue);
}

static bool is_too_late(const struct log_cursor *cursor, const struct log_block *block)
{
	return cursor->to_ns && block->type == LOG_BLOCK_BATCH && block->first_ns > cursor->to_ns;
}

/*
 * Fills the queue up. What stands where it could not go on: enum walk_step, a block to be hopped over among
 * them, or a negative errno.
 */
static int push_ahead(struct log_cursor *cursor)
{
	struct batch_slot *slot;
	struct log_block block;
	int step = WALK_BLOCK;

	while (step == WALK_BLOCK && (slot = decode_queue_room(cursor->queue))) {
		step = block_walk_look(&cursor->walk, &block);
		if (step == WALK_BLOCK && is_too_late(cursor, &block))
			break;
		if (step == WALK_BLOCK)
			push(cursor, slot, &block);
	}
	return step;
}

/* The first block of the queue is loaded. -EAGAIN: there was nothing in it to tell or to read. */
static int take(struct log_cursor *cursor, struct batch_slot *slot)
{
	int err = slot->err;

	if (err) {
		go_back(cursor, &slot->before);
		return err;
	}
	if (slot->reason)
		return reject(cursor, slot);
	if (slot->is_gap) {
		slot->is_gap = false;
		tell(cursor, slot->before.offset, "batches are missing before this place");
		return CURSOR_DAMAGE;
	}
	if (slot->block.type == LOG_BLOCK_BATCH) {
		cursor->slot = slot;
		return CURSOR_BATCH;
	}
	decode_queue_pop(cursor->queue);
	return -EAGAIN;
}

/* There is no block where the walker stands. -EAGAIN: go on. */
static int pass(struct log_cursor *cursor, int step)
{
	switch (step) {
	case WALK_FOOTER:
		block_walk_pass_footer(&cursor->walk);
		return -EAGAIN;
	case WALK_LOST:
		return damage_step(cursor, block_walk_recover(&cursor->walk, &cursor->damage));
	case WALK_WAIT:
		return wait(cursor);
	case WALK_END:
		close_file(cursor);
		return -EAGAIN;
	default:
		return step;
	}
}

/* ---- seeking ---- */

int log_cursor_seek(struct log_cursor *cursor, const struct log_goal *goal, uint64_t to_ns)
{
	if (cursor->is_following && cursor->has_last)
		return -EBUSY;
	decode_queue_clear(cursor->queue);
	block_walk_close(&cursor->walk);
	cursor->slot = NULL;
	cursor->is_open = cursor->has_last = cursor->is_incomplete = false;
	cursor->damage.reason = NULL;
	cursor->idx = 0;
	cursor->goal = *goal;
	cursor->to_ns = to_ns;
	return open_file(cursor);
}

/* Reads the payload of a block that is hopped over, to see whether it is what its header says. */
static int look_closely(struct log_cursor *cursor, const struct log_block *block)
{
	struct batch_slot *slot;
	int result;

	push(cursor, decode_queue_room(cursor->queue), block);
	slot = decode_queue_front(cursor->queue);
	result = take(cursor, slot);
	if (result == CURSOR_BATCH)
		log_cursor_leave(cursor);
	return result == CURSOR_BATCH ? -EAGAIN : result;
}

/*
 * Over blocks that are not wanted, by their headers. Where that leads to nowhere, the last header may have
 * been wrong about the length of its payload: then this block is read after all. -EAGAIN: go on.
 */
static int hop(struct log_cursor *cursor)
{
	struct block_walk *walk = &cursor->walk;
	struct log_block block;
	int step, err;

	if (cursor->goal.kind && cursor->is_fresh && !cursor->is_following) {
		err = log_seek_by_index(walk, &cursor->goal);
		if (err)
			return err;
	}
	cursor->is_fresh = false;
	step = block_walk_look(walk, &block);
	if (step == WALK_LOST && cursor->has_hopped) {
		walk->at = cursor->hopped;
		cursor->has_hopped = false;
		step = block_walk_look(walk, &block);
		return step == WALK_BLOCK ? look_closely(cursor, &block) : pass(cursor, step);
	}
	cursor->has_hopped = false;
	if (step != WALK_BLOCK)
		return pass(cursor, step);
	if (!cursor->goal.kind && !is_too_late(cursor, &block))
		return -EAGAIN;
	if (cursor->goal.kind && log_goal_is_reached(&cursor->goal, &block)) {
		cursor->goal.kind = LOG_GOAL_NONE;
		return -EAGAIN;
	}
	if (block.major > LOG_VERSION_MAJOR ||
	    walk->at.offset + block.header_bytes + block.stored_bytes > block_walk_bytes(walk))
		return look_closely(cursor, &block);
	cursor->hopped = walk->at;
	cursor->has_hopped = true;
	if (!block_walk_pass(walk, &block))
		return -EAGAIN;
	cursor->hopped.is_after_damage = true;
	tell(cursor, cursor->hopped.offset, "batches are missing before this place");
	return CURSOR_DAMAGE;
}

/* ---- steps ---- */

static int next_file(struct log_cursor *cursor)
{
	int err;

	if (cursor->is_following)
		return follow_on(cursor);
	if (cursor->idx == cursor->set.cnt)
		return CURSOR_END;
	err = open_file(cursor);
	if (err == -ENOENT) {
		cursor->is_incomplete = true;
		cursor->idx++;
		tell(cursor, 0, "this file was removed before it could be read");
		return CURSOR_DAMAGE;
	}
	return err ? err : CURSOR_BATCH;
}

static int step(struct log_cursor *cursor)
{
	struct batch_slot *slot;
	int result;

	cursor->has_begun = true;
	if (!cursor->is_open) {
		result = next_file(cursor);
		if (result != CURSOR_BATCH)
			return result;
	}
	if (cursor->damage.reason)
		return CURSOR_DAMAGE;
	if (cursor->goal.kind || cursor->has_hopped)
		return hop(cursor);
	result = push_ahead(cursor);
	slot = decode_queue_front(cursor->queue);
	if (slot)
		return take(cursor, slot);
	return result == WALK_BLOCK ? hop(cursor) : pass(cursor, result);
}

int log_cursor_step(struct log_cursor *cursor)
{
	int result;

	do {
		result = step(cursor);
	} while (result == -EAGAIN);
	return result;
}

void log_cursor_leave(struct log_cursor *cursor)
{
	decode_queue_pop(cursor->queue);
	cursor->slot = NULL;
}
