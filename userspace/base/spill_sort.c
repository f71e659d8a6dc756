/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A run in the file is its items, one after the other, each as a struct item_header and its bytes. In the
 * end each run has a cursor with a buffer; a heap tells which of the cursors has the first item. What never
 * was spilled is read from memory.
 */
#include "base/spill_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

#define CURSOR_BYTES_MIN 4096u
#define CURSOR_BYTES_MAX (1u << 20)

struct entry {
	uint64_t high, low;
	size_t at; /* of its bytes */
	uint32_t length;
};

struct item_header {
	uint64_t high, low;
	uint32_t length;
	uint32_t reserved;
};

struct cursor {
	uint64_t offset, end; /* of what is not in the buffer yet */
	char *buffer;
	size_t size, filled, at;
	struct item_header head; /* of the item that is next */
};

struct spill_sort {
	int directory;
	int fd; /* -1: nothing was spilled */
	size_t memory_bytes;

	/* what is in memory */
	char *bytes;
	size_t byte_cnt, byte_size;
	struct entry *entries;
	size_t entry_cnt, entry_size, entry_at;

	/* the file */
	uint64_t file_bytes;
	struct cursor *cursors; /* one for each run */
	size_t cursor_cnt, cursor_size;
	size_t *heap; /* of cursors, those that have an item; the first one's on top */
	size_t heap_cnt;
	bool has_top; /* the item of the cursor on top was given away: it goes on at the next call */
};

struct spill_sort *spill_sort_new(int directory, size_t memory_bytes)
{
	struct spill_sort *sort = calloc(1, sizeof(*sort));

	if (!sort)
		return NULL;
	sort->directory = directory;
	sort->memory_bytes = memory_bytes;
	sort->fd = -1;
	return sort;
}

void spill_sort_free(struct spill_sort *sort)
{
	if (!sort)
		return;
	for (size_t i = 0; i < sort->cursor_cnt; i++)
		free(sort->cursors[i].buffer);
	if (sort->fd >= 0)
		close(sort->fd);
	free(sort->cursors);
	free(sort->heap);
	free(sort->entries);
	free(sort->bytes);
	free(sort);
}

/* ---- the file ---- */

/* Without a name from the start where the file system can do that. */
static int open_file(int directory)
{
	char name[32];
	int fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd >= 0 ? fd : -errno;
	snprintf(name, sizeof(name), ".spill.%ld", (long)getpid());
	fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	unlinkat(directory, name, 0);
	return fd;
}

struct run_writer {
	struct spill_sort *sort;
	char *buffer;
	size_t filled;
};

static int write_all(struct spill_sort *sort, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t written = pwrite(sort->fd, bytes, length, (off_t)sort->file_bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		bytes += written;
		length -= (size_t)written;
		sort->file_bytes += (uint64_t)written;
	}
	return 0;
}

static int put(struct run_writer *writer, const void *bytes, size_t length)
{
	int err = 0;

	if (writer->filled + length > CURSOR_BYTES_MAX) {
		err = write_all(writer->sort, writer->buffer, writer->filled);
		writer->filled = 0;
	}
	if (!err && length > CURSOR_BYTES_MAX)
		return write_all(writer->sort, bytes, length);
	if (length > 0 && !err) {
		memcpy(writer->buffer + writer->filled, bytes, length);
		writer->filled += length;
	}
	return err;
}

static int write_run(struct spill_sort *sort)
{
	struct run_writer writer = { sort, malloc(CURSOR_BYTES_MAX), 0 };
	int err = writer.buffer ? 0 : -ENOMEM;

	for (size_t i = 0; i < sort->entry_cnt && !err; i++) {
		const struct entry *entry = &sort->entries[i];
		struct item_header head = { entry->high, entry->low, entry->length, 0 };

		err = put(&writer, &head, sizeof(head));
		if (!err)
			err = put(&writer, sort->bytes + entry->at, entry->length);
	}
	if (!err)
		err = write_all(sort, writer.buffer, writer.filled);
	free(writer.buffer);
	return err;
}

/* ---- memory ---- */

static bool is_behind(const struct entry *a, const struct entry *b)
{
	return a->high != b->high ? a->high > b->high : a->low > b->low;
}

#define SHORT_RUN 16u

static void sort_short_run(struct entry *entries, size_t cnt)
{
	for (size_t i = 1; i < cnt; i++) {
		struct entry moved = entries[i];
		size_t to = i;

		for (; to > 0 && is_behind(&entries[to - 1], &moved); to--)
			entries[to] = entries[to - 1];
		entries[to] = moved;
	}
}

static void merge_runs(const struct entry *from, size_t first_cnt, size_t cnt, struct entry *to)
{
	size_t first = 0, second = first_cnt;

	if (first_cnt == cnt || !is_behind(&from[first_cnt - 1], &from[first_cnt])) {
		memcpy(to, from, cnt * sizeof(*to));
		return;
	}
	while (first < first_cnt && second < cnt)
		*to++ = is_behind(&from[first], &from[second]) ? from[second++] : from[first++];
	memcpy(to, from + first, (first_cnt - first) * sizeof(*to));
	memcpy(to + (first_cnt - first), from + second, (cnt - second) * sizeof(*to));
}

/*
 * Merges runs of 16, 32, … entries between two arrays. Logs are nearly in order, so that most pairs need
 * no merge. qsort() takes the same memory and twice the time.
 */
static int sort_entries(struct spill_sort *sort)
{
	size_t cnt = sort->entry_cnt;
	struct entry *from = sort->entries, *to;

	if (cnt < 2)
		return 0;
	to = reallocarray(NULL, sort->entry_size, sizeof(*to));
	if (!to)
		return -ENOMEM;
	for (size_t at = 0; at < cnt; at += SHORT_RUN)
		sort_short_run(from + at, cnt - at < SHORT_RUN ? cnt - at : SHORT_RUN);
	for (size_t run = SHORT_RUN; run < cnt; run *= 2) {
		struct entry *merged = to;

		for (size_t at = 0; at < cnt; at += 2 * run) {
			size_t left = cnt - at;

			merge_runs(from + at, left < run ? left : run, left < 2 * run ? left : 2 * run,
				   to + at);
		}
		to = from;
		from = merged;
	}
	sort->entries = from;
	free(to);
	return 0;
}

static int spill(struct spill_sort *sort)
{
	struct cursor run = { .offset = sort->file_bytes };
	int err;
	struct cursor *grown;

	if (sort->fd < 0)
		sort->fd = open_file(sort->directory);
	if (sort->fd < 0)
		return sort->fd;
	grown = array_grow(sort->cursors, &sort->cursor_size, sort->cursor_cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	sort->cursors = grown;
	err = sort_entries(sort);
	if (!err)
		err = write_run(sort);
	run.end = sort->file_bytes;
	sort->cursors[sort->cursor_cnt++] = run;
	sort->entry_cnt = sort->byte_cnt = 0;
	return err;
}

static int grow(struct spill_sort *sort, uint32_t length)
{
	struct entry *entries = array_grow(sort->entries, &sort->entry_size, sort->entry_cnt,
					   sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	sort->entries = entries;
	if (!sort->bytes || length > sort->byte_size - sort->byte_cnt) {
		size_t size = sort->byte_size ? 2 * sort->byte_size : 4096;
		char *grown;

		while (size - sort->byte_cnt < length)
			size *= 2;
		grown = realloc(sort->bytes, size);
		if (!grown)
			return -ENOMEM;
		sort->bytes = grown;
		sort->byte_size = size;
	}
	return 0;
}

int spill_sort_add(struct spill_sort *sort, uint64_t high, uint64_t low, const void *bytes, uint32_t length)
{
	size_t used = sort->entry_cnt * sizeof(struct entry) + sort->byte_cnt;
	int err = 0;

	/* both arrays may have room for twice of what is in them */
	if (sort->entry_cnt > 0 && used + sizeof(struct entry) + length > sort->memory_bytes / 2)
		err = spill(sort);
	if (!err)
		err = grow(sort, length);
	if (err)
		return err;
	if (length > 0)
		memcpy(sort->bytes + sort->byte_cnt, bytes, length);
	sort->entries[sort->entry_cnt++] = (struct entry){ high, low, sort->byte_cnt, length };
	sort->byte_cnt += length;
	return 0;
}

/* ---- merging ---- */

/* Has `needed` bytes in the buffer from cursor->at on. */
static int fill(struct spill_sort *sort, struct cursor *cursor, size_t needed)
{
	size_t left = cursor->filled - cursor->at;

	if (left >= needed)
		return 0;
	if (left > 0)
		memmove(cursor->buffer, cursor->buffer + cursor->at, left);
	cursor->at = 0;
	cursor->filled = left;
	if (needed > cursor->size) {
		char *grown = realloc(cursor->buffer, needed);

		if (!grown)
			return -ENOMEM;
		cursor->buffer = grown;
		cursor->size = needed;
	}
	while (cursor->filled < needed) {
		size_t wanted = cursor->size - cursor->filled;
		ssize_t got;

		if (wanted > cursor->end - cursor->offset)
			wanted = (size_t)(cursor->end - cursor->offset);
		got = pread(sort->fd, cursor->buffer + cursor->filled, wanted, (off_t)cursor->offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		cursor->filled += (size_t)got;
		cursor->offset += (uint64_t)got;
	}
	return 0;
}

/* 1: the next item is in the buffer, all of it; 0: there is none. */
static int load(struct spill_sort *sort, struct cursor *cursor)
{
	int err;

	if (cursor->at == cursor->filled && cursor->offset == cursor->end)
		return 0;
	err = fill(sort, cursor, sizeof(cursor->head));
	if (err)
		return err;
	memcpy(&cursor->head, cursor->buffer + cursor->at, sizeof(cursor->head));
	err = fill(sort, cursor, sizeof(cursor->head) + cursor->head.length);
	return err ? err : 1;
}

static bool is_before(const struct spill_sort *sort, size_t a, size_t b)
{
	const struct item_header *left = &sort->cursors[a].head, *right = &sort->cursors[b].head;

	return left->high != right->high ? left->high < right->high : left->low < right->low;
}

static void sift_down(struct spill_sort *sort, size_t at)
{
	size_t *heap = sort->heap;

	for (;;) {
		size_t first = at, moved = heap[at];

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < sort->heap_cnt; child++)
			if (is_before(sort, heap[child], heap[first]))
				first = child;
		if (first == at)
			return;
		heap[at] = heap[first];
		heap[first] = moved;
		at = first;
	}
}

int spill_sort_end(struct spill_sort *sort)
{
	size_t bytes;
	int err;

	if (sort->fd < 0)
		return sort_entries(sort);
	err = sort->entry_cnt > 0 ? spill(sort) : 0;
	if (err)
		return err;
	free(sort->bytes);
	free(sort->entries);
	sort->bytes = NULL;
	sort->entries = NULL;
	bytes = sort->memory_bytes / sort->cursor_cnt;
	bytes = bytes < CURSOR_BYTES_MIN   ? CURSOR_BYTES_MIN
		: bytes > CURSOR_BYTES_MAX ? CURSOR_BYTES_MAX
					   : bytes;
	sort->heap = calloc(sort->cursor_cnt, sizeof(*sort->heap));
	if (!sort->heap)
		return -ENOMEM;
	for (size_t i = 0; i < sort->cursor_cnt; i++) {
		struct cursor *cursor = &sort->cursors[i];

		cursor->buffer = malloc(bytes);
		if (!cursor->buffer)
			return -ENOMEM;
		cursor->size = bytes;
		err = load(sort, cursor);
		if (err < 0)
			return err;
		sort->heap[sort->heap_cnt++] = i;
	}
	for (size_t i = sort->heap_cnt; i-- > 0;)
		sift_down(sort, i);
	return 0;
}

static int next_in_memory(struct spill_sort *sort, struct spill_item *item)
{
	const struct entry *entry;

	if (sort->entry_at == sort->entry_cnt)
		return 0;
	entry = &sort->entries[sort->entry_at];
	*item = (struct spill_item){ entry->high, entry->low, sort->bytes + entry->at, entry->length };
	sort->entry_at++;
	return 1;
}

int spill_sort_next(struct spill_sort *sort, struct spill_item *item)
{
	struct cursor *cursor;

	if (sort->fd < 0)
		return next_in_memory(sort, item);
	if (sort->has_top) {
		int got;

		cursor = &sort->cursors[sort->heap[0]];
		cursor->at += sizeof(cursor->head) + cursor->head.length;
		got = load(sort, cursor);
		if (got < 0)
			return got;
		if (got == 0)
			sort->heap[0] = sort->heap[--sort->heap_cnt];
		if (sort->heap_cnt > 0)
			sift_down(sort, 0);
		sort->has_top = false;
	}
	if (sort->heap_cnt == 0)
		return 0;
	cursor = &sort->cursors[sort->heap[0]];
	*item = (struct spill_item){ .high = cursor->head.high,
				     .low = cursor->head.low,
				     .bytes = cursor->buffer + cursor->at + sizeof(cursor->head),
				     .length = cursor->head.length };
	sort->has_top = true;
	return 1;
}
