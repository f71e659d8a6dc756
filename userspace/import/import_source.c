/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/import_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define PACKED_BYTES (64u << 10)
#define CAPACITY_MIN (64u << 10)
#define GZIP_WINDOW_BITS (15 + 16) /* of zlib: the largest window, in gzip's format */

enum packing {
	PACKING_NONE = 0,
	PACKING_GZIP = 1,
	PACKING_ZSTD = 2,
};

struct import_source {
	const char *path;
	int fd;
	enum packing packing;
	z_stream gzip;
	ZSTD_DStream *zstd;
	uint8_t *packed; /* what was read of the file and is not unpacked */
	size_t packed_begin, packed_end;
	bool is_file_at_end;
	bool is_within_frame; /* packed data that end here are cut off */
	uint64_t file_offset; /* bytes that were read of the file */
	uint8_t *bytes;	      /* what was unpacked and is not used */
	size_t begin, end, capacity;
	uint64_t offset; /* of bytes[begin] */
	bool is_at_end;
	int err;
};

/* ---- the file ---- */

static void read_file(struct import_source *source)
{
	ssize_t cnt;

	if (source->packed_begin > 0) {
		memmove(source->packed, source->packed + source->packed_begin,
			source->packed_end - source->packed_begin);
		source->packed_end -= source->packed_begin;
		source->packed_begin = 0;
	}
	do {
		cnt = read(source->fd, source->packed + source->packed_end,
			   PACKED_BYTES - source->packed_end);
	} while (cnt < 0 && errno == EINTR);
	if (cnt < 0)
		source->err = -errno;
	else
		source->packed_end += (size_t)cnt, source->file_offset += (uint64_t)cnt;
	source->is_file_at_end = cnt <= 0;
}

/* ---- unpacking: each moves bytes from packed to the room behind `end` ---- */

static void copy_plain(struct import_source *source)
{
	size_t cnt = source->packed_end - source->packed_begin, room = source->capacity - source->end;

	if (cnt > room)
		cnt = room;
	memcpy(source->bytes + source->end, source->packed + source->packed_begin, cnt);
	source->packed_begin += cnt;
	source->end += cnt;
}

static void unpack_gzip(struct import_source *source)
{
	z_stream *stream = &source->gzip;
	int result;

	stream->next_in = source->packed + source->packed_begin;
	stream->avail_in = (uInt)(source->packed_end - source->packed_begin);
	stream->next_out = source->bytes + source->end;
	stream->avail_out = (uInt)(source->capacity - source->end);
	result = inflate(stream, Z_NO_FLUSH);
	source->packed_begin = source->packed_end - stream->avail_in;
	source->end = source->capacity - stream->avail_out;
	source->is_within_frame = result != Z_STREAM_END;
	if (result == Z_STREAM_END)
		inflateReset(stream); /* several streams in a row are one */
	else if (result != Z_OK && result != Z_BUF_ERROR)
		source->err = -EBADMSG;
}

static void unpack_zstd(struct import_source *source)
{
	ZSTD_inBuffer in = { source->packed, source->packed_end, source->packed_begin };
	ZSTD_outBuffer out = { source->bytes, source->capacity, source->end };
	size_t result = ZSTD_decompressStream(source->zstd, &out, &in);

	source->packed_begin = in.pos;
	source->end = out.pos;
	source->is_within_frame = result != 0;
	if (ZSTD_isError(result))
		source->err = -EBADMSG;
}

static void unpack(struct import_source *source)
{
	switch (source->packing) {
	case PACKING_NONE:
		copy_plain(source);
		break;
	case PACKING_GZIP:
		unpack_gzip(source);
		break;
	case PACKING_ZSTD:
		unpack_zstd(source);
		break;
	}
}

/* Adds at least one byte, or is at the end. There is room behind `end`. */
static void fill(struct import_source *source)
{
	size_t end = source->end;

	while (!source->err && source->end == end) {
		bool has_ended = source->is_file_at_end;

		if (source->packed_begin == source->packed_end && !has_ended) {
			read_file(source);
			continue;
		}
		/* what a frame still holds comes without further input */
		if (source->packed_begin < source->packed_end || source->is_within_frame)
			unpack(source);
		if (source->end == end && has_ended && source->packed_begin == source->packed_end) {
			if (!source->err && source->is_within_frame)
				source->err = -EBADMSG;
			break;
		}
	}
	source->is_at_end = source->end == end;
}

/* Room for cnt bytes from `begin` on. */
static int make_room(struct import_source *source, size_t cnt)
{
	size_t capacity = source->capacity;
	uint8_t *bytes;

	if (source->begin > 0) {
		memmove(source->bytes, source->bytes + source->begin, source->end - source->begin);
		source->end -= source->begin;
		source->begin = 0;
	}
	while (capacity < cnt)
		capacity = capacity > SIZE_MAX / 2 ? cnt : capacity * 2;
	if (capacity == source->capacity)
		return 0;
	bytes = realloc(source->bytes, capacity);
	if (!bytes)
		return -ENOMEM;
	source->bytes = bytes;
	source->capacity = capacity;
	return 0;
}

/* ---- opening ---- */

static int choose_packing(struct import_source *source)
{
	static const uint8_t gzip[] = { 0x1f, 0x8b, 8 }, zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };

	while (source->packed_end < sizeof(zstd) && !source->is_file_at_end)
		read_file(source);
	if (source->packed_end >= sizeof(gzip) && memcmp(source->packed, gzip, sizeof(gzip)) == 0) {
		if (inflateInit2(&source->gzip, GZIP_WINDOW_BITS) != Z_OK)
			return -ENOMEM;
		source->packing = PACKING_GZIP;
	} else if (source->packed_end >= sizeof(zstd) && memcmp(source->packed, zstd, sizeof(zstd)) == 0) {
		source->zstd = ZSTD_createDStream();
		if (!source->zstd)
			return -ENOMEM;
		source->packing = PACKING_ZSTD;
	}
	return 0;
}

static int open_file(struct import_source *source)
{
	struct stat status;

	source->fd = strcmp(source->path, "-") == 0 ? dup(STDIN_FILENO)
						    : open(source->path, O_RDONLY | O_CLOEXEC);
	if (source->fd < 0 || fstat(source->fd, &status) != 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return 0;
}

int import_source_open(struct import_source **result, const char *path)
{
	struct import_source *source = calloc(1, sizeof(*source));
	int err;

	*result = NULL;
	if (!source)
		return -ENOMEM;
	*source = (struct import_source){ .path = path, .fd = -1, .capacity = CAPACITY_MIN };
	source->packed = malloc(PACKED_BYTES);
	source->bytes = malloc(source->capacity);
	err = source->packed && source->bytes ? open_file(source) : -ENOMEM;
	if (!err)
		err = choose_packing(source);
	if (err) {
		import_source_close(source);
		return err;
	}
	*result = source;
	return 0;
}

void import_source_close(struct import_source *source)
{
	if (!source)
		return;
	if (source->packing == PACKING_GZIP)
		inflateEnd(&source->gzip);
	ZSTD_freeDStream(source->zstd);
	if (source->fd >= 0)
		close(source->fd);
	free(source->packed);
	free(source->bytes);
	free(source);
}

/* ---- reading ---- */

const uint8_t *import_source_peek(struct import_source *source, size_t cnt, size_t *length)
{
	*length = 0;
	if (source->capacity - source->begin < cnt && make_room(source, cnt) != 0)
		return NULL;
	while (source->end - source->begin < cnt && !source->is_at_end)
		fill(source);
	*length = source->end - source->begin < cnt ? source->end - source->begin : cnt;
	return source->bytes + source->begin;
}

static void consume(struct import_source *source, size_t cnt)
{
	source->begin += cnt;
	source->offset += cnt;
}

uint64_t import_source_skip(struct import_source *source, uint64_t cnt)
{
	uint64_t left = cnt;
	size_t length;

	while (left > 0) {
		import_source_peek(source, left < CAPACITY_MIN ? (size_t)left : CAPACITY_MIN, &length);
		if (length == 0)
			break;
		consume(source, length);
		left -= length;
	}
	return cnt - left;
}

size_t import_source_read(struct import_source *source, void *bytes, size_t cnt)
{
	const uint8_t *next;
	size_t done = 0, length;

	while (done < cnt) {
		next = import_source_peek(source, cnt - done < CAPACITY_MIN ? cnt - done : CAPACITY_MIN,
					  &length);
		if (length == 0)
			break;
		memcpy((uint8_t *)bytes + done, next, length);
		consume(source, length);
		done += length;
	}
	return done;
}

uint64_t import_source_offset(const struct import_source *source)
{
	return source->offset;
}

int import_source_error(const struct import_source *source)
{
	return source->err;
}

uint64_t import_source_file_offset(const struct import_source *source)
{
	return source->file_offset;
}

int import_source_plain_file(const struct import_source *source)
{
	struct stat status;

	if (source->packing != PACKING_NONE || fstat(source->fd, &status) != 0 || !S_ISREG(status.st_mode))
		return -1;
	return source->fd;
}

const char *import_source_path(const struct import_source *source)
{
	return source->path;
}
