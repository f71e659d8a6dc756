/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/read/block_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * How much of the file is looked at once while the next block is searched. Each look overlaps the next by a
 * header.
 */
#define SEARCH_BYTES (256u << 10)

/*
 * Behind a wrong payload the search begins at the end of its header, so that a batch that lost bytes does not
 * cost the next one. A file made of nothing but headers that claim long payloads would be read over and over:
 * once so much has been read in vain, the claimed length is skipped.
 */
#define VAIN_BYTES_MAX (256u << 20)

/* A recorder makes its file and then locks it. It writes at least once a second. */
#define ABANDONED_AFTER_SECONDS 1

/* ---- bytes ---- */

int64_t file_read_at(int fd, uint8_t *bytes, size_t length, uint64_t offset)
{
	size_t done = 0;

	while (done < length) {
		ssize_t got = pread(fd, bytes + done, length - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (int64_t)done;
}

uint64_t block_walk_bytes(const struct block_walk *walk)
{
	struct stat status;

	return fstat(walk->fd, &status) || status.st_size < 0 ? 0 : (uint64_t)status.st_size;
}

bool block_walk_is_abandoned(const struct block_walk *walk)
{
	struct stat status;
	time_t now = time(NULL);

	if (fstat(walk->fd, &status) ||
	    (status.st_mtime <= now && now - status.st_mtime <= ABANDONED_AFTER_SECONDS))
		return false;
	if (flock(walk->fd, LOCK_SH | LOCK_NB))
		return errno != EWOULDBLOCK;
	flock(walk->fd, LOCK_UN);
	return true;
}

/* ---- searching ---- */

static bool is_ours(const struct block_walk *walk, const struct log_block *block)
{
	return !walk->has_capture_id ||
	       !memcmp(block->capture_id, walk->info.capture_id, sizeof(block->capture_id));
}

/* Finds the first sound block or footer in bytes; its place, or length if there is none. */
static size_t find_landmark(const struct block_walk *walk, const uint8_t *bytes, size_t length)
{
	uint64_t index_offset;
	struct log_block block;
	uint32_t index_bytes;

	for (size_t at = 0; at + LOG_FOOTER_BYTES <= length; at++) {
		if (bytes[at] == (uint8_t)LOG_SYNC[0] && log_block_decode(bytes + at, length - at, &block) &&
		    is_ours(walk, &block))
			return at;
		if (bytes[at] == (uint8_t)LOG_END_MAGIC[0] &&
		    log_footer_decode(bytes + at, length - at, &index_offset, &index_bytes))
			return at;
	}
	return length;
}

/*
 * Behind the hole that is at `from`, if there is one: a file may have one of
 * many terabytes. No landmark begins with a zero, so none begins in a hole. A
 * file system that knows none says that all is data.
 */
static uint64_t pass_hole(const struct block_walk *walk, uint64_t from)
{
	off_t data = lseek(walk->fd, (off_t)from, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO && block_walk_bytes(walk) > from ? block_walk_bytes(walk) : from;
	return (uint64_t)data;
}

/*
 * The next sound block or footer at or behind `from`: 1; or 0 and the end of the file; or a negative errno.
 */
static int search_from(const struct block_walk *walk, uint64_t from, uint64_t *found)
{
	for (;;) {
		int64_t got;
		size_t at;

		from = pass_hole(walk, from);
		got = file_read_at(walk->fd, walk->search, SEARCH_BYTES, from);
		if (got < 0)
			return (int)got;
		at = find_landmark(walk, walk->search, (size_t)got);
		if (at < (size_t)got || got < SEARCH_BYTES) {
			*found = from + at;
			return at < (size_t)got;
		}
		from += SEARCH_BYTES - LOG_BLOCK_HEADER_MAX_BYTES;
	}
}

/* What begins at the position is damaged; the way goes on at the first landmark at or behind `from`. */
static int skip_damage(struct block_walk *walk, uint64_t from, uint64_t record_cnt, const char *reason,
		       struct txtrace_damage *damage)
{
	uint64_t begin = walk->at.offset, found = from;
	int result = search_from(walk, from, &found);

	if (result < 0 || (!result && walk->is_following))
		return result;
	*damage = (struct txtrace_damage){ begin, found - begin, record_cnt, reason };
	walk->at.offset = found;
	walk->at.is_after_damage = true;
	return 1;
}

/* ---- opening ---- */

/* Whether this can be the beginning of a header of which the rest is still to be written. */
static bool is_begun(const uint8_t *bytes, size_t length)
{
	if (memcmp(bytes, LOG_MAGIC, length < LOG_MAGIC_BYTES ? length : LOG_MAGIC_BYTES))
		return false;
	if (length < LOG_HEADER_MIN_BYTES)
		return true;
	return log_get_u32(bytes + LOG_HEADER_LENGTH) <= LOG_HEADER_MAX_BYTES &&
	       log_get_u32(bytes + LOG_HEADER_LENGTH) > length;
}

static int read_header(struct block_walk *walk, struct txtrace_damage *damage)
{
	int64_t got = file_read_at(walk->fd, walk->search, LOG_HEADER_MAX_BYTES, 0);
	uint32_t header_bytes = 0;
	int result;

	if (got < 0)
		return (int)got;
	if (walk->is_following && is_begun(walk->search, (size_t)got) && !block_walk_is_abandoned(walk))
		return -EAGAIN;
	if (!got)
		return -ENODATA;
	switch (log_header_decode(walk->search, (size_t)got, &walk->info, &header_bytes)) {
	case LOG_HEADER_GOOD:
		walk->has_capture_id = true;
		walk->at.offset = header_bytes;
		walk->at.next_sequence = walk->info.first_sequence;
		return 0;
	case LOG_HEADER_DAMAGED:
		walk->has_capture_id = walk->info.version_major > 0; /* only the magic is wrong */
		result = skip_damage(walk, 1, 0, "the file's header is damaged", damage);
		return result ? result : -EAGAIN;
	case LOG_HEADER_NEWER:
		return -EPROTONOSUPPORT;
	case LOG_HEADER_FOREIGN:
		break;
	}
	return -EBADMSG;
}

int block_walk_open(struct block_walk *walk, const char *path, bool is_following,
		    struct txtrace_damage *damage)
{
	struct stat status;

	*walk = (struct block_walk){ .is_following = is_following };
	walk->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (walk->fd < 0 || fstat(walk->fd, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!S_ISREG(status.st_mode))
		return -ESPIPE;
	walk->search = malloc(SEARCH_BYTES);
	return walk->search ? read_header(walk, damage) : -ENOMEM;
}

void block_walk_close(struct block_walk *walk)
{
	if (walk->fd >= 0)
		close(walk->fd);
	free(walk->search);
	*walk = (struct block_walk)BLOCK_WALK_CLOSED;
}

/* ---- walking ---- */

/* Whether what stands there can become a block or a footer when more is written. */
static bool may_grow(const uint8_t *bytes, size_t length)
{
	size_t magic_bytes = length < LOG_MAGIC_BYTES ? length : LOG_MAGIC_BYTES;
	uint32_t header_bytes;

	if (!memcmp(bytes, LOG_END_MAGIC, magic_bytes))
		return length < LOG_FOOTER_BYTES;
	if (memcmp(bytes, LOG_SYNC, magic_bytes))
		return false;
	if (length < LOG_BLOCK_LENGTH + 4)
		return true;
	header_bytes = log_get_u32(bytes + LOG_BLOCK_LENGTH);
	return header_bytes <= LOG_BLOCK_HEADER_MAX_BYTES && length < header_bytes;
}

int block_walk_look(struct block_walk *walk, struct log_block *block)
{
	uint8_t header[LOG_BLOCK_HEADER_MAX_BYTES];
	int64_t got = file_read_at(walk->fd, header, sizeof(header), walk->at.offset);
	uint64_t index_offset;
	uint32_t index_bytes;

	if (got < 0)
		return (int)got;
	if (!got)
		return walk->is_following ? WALK_WAIT : WALK_END;
	if (log_block_decode(header, (size_t)got, block) && is_ours(walk, block)) {
		uint64_t end = walk->at.offset + block->header_bytes + block->stored_bytes;

		return walk->is_following && end > block_walk_bytes(walk) ? WALK_WAIT : WALK_BLOCK;
	}
	if (log_footer_decode(header, (size_t)got, &index_offset, &index_bytes))
		return WALK_FOOTER;
	return walk->is_following && may_grow(header, (size_t)got) ? WALK_WAIT : WALK_LOST;
}

bool block_walk_pass(struct block_walk *walk, const struct log_block *block)
{
	bool is_gap = block->sequence != walk->at.next_sequence && !walk->at.is_after_damage;

	if (!walk->has_capture_id) {
		memcpy(walk->info.capture_id, block->capture_id, sizeof(walk->info.capture_id));
		walk->has_capture_id = true;
	}
	walk->at.next_sequence = block->sequence + 1;
	walk->at.is_after_damage = false;
	walk->at.offset += block->header_bytes + (uint64_t)block->stored_bytes;
	return is_gap;
}

void block_walk_pass_footer(struct block_walk *walk)
{
	walk->at.has_footer = true;
	walk->at.offset += LOG_FOOTER_BYTES;
}

int block_walk_reject(struct block_walk *walk, const struct log_block *block, const char *reason,
		      struct txtrace_damage *damage)
{
	uint64_t from = walk->at.offset + block->header_bytes,
		 vain_bytes = walk->vain_bytes + block->stored_bytes;
	uint64_t file_bytes = block_walk_bytes(walk);
	int result;

	if (vain_bytes >= VAIN_BYTES_MAX)
		from += block->stored_bytes;
	result = skip_damage(walk, from < file_bytes ? from : file_bytes, block->record_cnt, reason, damage);
	if (result > 0) {
		walk->vain_bytes = vain_bytes;
		walk->at.next_sequence = block->sequence + 1;
	}
	return result;
}

int block_walk_recover(struct block_walk *walk, struct txtrace_damage *damage)
{
	uint8_t bytes[LOG_BLOCK_HEADER_BYTES];
	int64_t got = file_read_at(walk->fd, bytes, sizeof(bytes), walk->at.offset);
	size_t magic_bytes = got < LOG_MAGIC_BYTES ? (size_t)got : LOG_MAGIC_BYTES;
	const char *reason = "no batch begins where one should";

	if (got < 0)
		return (int)got;
	if (walk->at.has_footer)
		reason = "bytes follow the end of the log";
	else if (got < LOG_BLOCK_HEADER_BYTES && !memcmp(bytes, LOG_SYNC, magic_bytes))
		reason = "the file ends in the middle of a batch's header";
	return skip_damage(walk, walk->at.offset + 1, 0, reason, damage);
}
