/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/monad_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES (64u << 10)
#define PAGE_BYTES 4096u

/* ---- a copy of what is packed ---- */

static int write_at(int fd, const uint8_t *bytes, size_t cnt, uint64_t offset)
{
	while (cnt > 0) {
		ssize_t written = pwrite(fd, bytes, cnt, (off_t)offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		cnt -= (size_t)written;
		offset += (uint64_t)written;
	}
	return 0;
}

/* All but whole pages of zeros. *used: bytes that were written so far. */
static int write_piece(int fd, const uint8_t *bytes, size_t length, uint64_t offset, uint64_t *used)
{
	static const uint8_t zeros[PAGE_BYTES];
	int err = 0;

	for (size_t at = 0; !err && at < length; at += PAGE_BYTES) {
		size_t cnt = length - at < PAGE_BYTES ? length - at : PAGE_BYTES;

		if (memcmp(bytes + at, zeros, cnt) == 0)
			continue;
		if (*used > MONAD_IMAGE_MAX)
			return -EFBIG;
		*used += cnt;
		err = write_at(fd, bytes + at, cnt, offset + at);
	}
	return err;
}

static int copy(struct monad_image *image, struct import_source *source, uint64_t bytes)
{
	uint64_t done = 0, used = 0;
	size_t length = 1;
	int err = 0;

	while (!err && done < bytes && length > 0) {
		size_t wanted = bytes - done < PIECE_BYTES ? (size_t)(bytes - done) : PIECE_BYTES;
		const uint8_t *piece = import_source_peek(source, wanted, &length);

		if (!piece)
			return -ENOMEM;
		err = write_piece(image->fd, piece, length, done, &used);
		import_source_skip(source, length);
		done += length;
	}
	image->err = import_source_error(source);
	/* what is zero at its end was not written */
	if (!err && ftruncate(image->fd, (off_t)done) != 0)
		err = -errno;
	return err;
}

/* ---- opening ---- */

int monad_image_open(struct monad_image *image, struct import_source *source, uint64_t bytes,
		     const char *directory, struct error *error)
{
	int err;

	*image = (struct monad_image){ .fd = import_source_plain_file(source) };
	if (image->fd >= 0)
		return 0;
	image->is_copy = true;
	image->fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (image->fd < 0) {
		err = -errno;
		error_set(error, "can't unpack it into an unnamed file in '%s': %s", directory,
			  strerror(-err));
		return err;
	}
	err = copy(image, source, bytes);
	if (err == -EFBIG)
		error_set(error, "it is too large to be unpacked here: unpack it with zstd -d first");
	else if (err)
		error_set(error, "can't unpack it into an unnamed file in '%s': %s", directory,
			  strerror(-err));
	return err;
}

void monad_image_close(struct monad_image *image)
{
	if (image->is_copy && image->fd >= 0)
		close(image->fd);
	*image = (struct monad_image){ .fd = -1 };
}

/* ---- reading ---- */

/* gcc's ThreadSanitizer knows no fences. The writer is another process, which it does not watch. */
static void keep_order_of_reads(void)
{
#ifndef __SANITIZE_THREAD__
	atomic_thread_fence(memory_order_acquire);
#endif
}

int64_t monad_image_read(const struct monad_image *image, uint64_t offset, void *bytes, size_t cnt)
{
	size_t done = 0;

	while (done < cnt) {
		ssize_t got = offset + done > INT64_MAX ? 0
							: pread(image->fd, (uint8_t *)bytes + done,
								cnt - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	keep_order_of_reads();
	return (int64_t)done;
}

uint64_t monad_image_skip_zeros(const struct monad_image *image, uint64_t offset)
{
	off_t data = offset > INT64_MAX ? -1 : lseek(image->fd, (off_t)offset, SEEK_DATA);

	if (data >= 0)
		return (uint64_t)data;
	return offset > INT64_MAX || errno == ENXIO ? UINT64_MAX : offset;
}

uint64_t monad_image_length(const struct monad_image *image)
{
	struct stat status;

	return fstat(image->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
}

bool monad_image_is_locked(const struct monad_image *image)
{
	if (image->is_copy)
		return false;
	if (flock(image->fd, LOCK_SH | LOCK_NB) != 0)
		return errno == EWOULDBLOCK;
	flock(image->fd, LOCK_UN);
	return false;
}
