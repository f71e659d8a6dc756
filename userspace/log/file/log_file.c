/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/file/log_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct log_file {
	int fd;
	struct file_series *series;
	bool keeps_older;
	_Atomic uint64_t keep_cnt; /* the limits: they may be changed from another thread */
	_Atomic uint64_t keep_bytes;
	uint64_t bytes;
	bool has_body;   /* a batch was written, to this file or an earlier one */
	bool has_pruned; /* since it was begun */
};

static void free_file(struct log_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file_series_close(file->series);
	free(file);
}

int log_file_open(struct log_file **result, const char *path, const struct log_file_options *options)
{
	struct log_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	file->fd = -1;
	if (options) {
		file->keeps_older = options->keeps_older;
		log_file_set_limits(file, &options->limits);
	}
	err = file_series_open(&file->series, path, !options || !options->refuses_unread);
	if (!err)
		file->fd = file_series_begin(file->series);
	if (!err && file->fd < 0)
		err = file->fd;
	if (err)
		free_file(file);
	else
		*result = file;
	return err;
}

static int write_all(int fd, struct iovec *parts, int part_cnt)
{
	while (part_cnt) {
		ssize_t written = writev(fd, parts, part_cnt);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		if (!written)
			return -EIO;
		while (part_cnt && (size_t)written >= parts->iov_len) {
			written -= (ssize_t)parts->iov_len;
			parts++;
			part_cnt--;
		}
		if (part_cnt) {
			parts->iov_base = (char *)parts->iov_base + written;
			parts->iov_len -= (size_t)written;
		}
	}
	return 0;
}

void log_file_set_limits(struct log_file *file, const struct file_series_limits *limits)
{
	atomic_store_explicit(&file->keep_cnt, limits->file_cnt, memory_order_relaxed);
	atomic_store_explicit(&file->keep_bytes, limits->total_bytes, memory_order_relaxed);
}

static struct file_series_limits limits_of(const struct log_file *file)
{
	return (struct file_series_limits){
		.file_cnt = atomic_load_explicit(&file->keep_cnt, memory_order_relaxed),
		.total_bytes = atomic_load_explicit(&file->keep_bytes, memory_order_relaxed),
	};
}

/* Removes old files so that more_bytes can be written within the limits. */
static int make_room(struct log_file *file, size_t more_bytes)
{
	const struct file_series_limits limits = limits_of(file);
	uint64_t bytes = file->bytes + more_bytes;
	uint64_t total_bytes = file_series_older_bytes(file->series) + bytes;

	if (!file->keeps_older ||
	    (file->has_pruned && (!limits.total_bytes || total_bytes <= limits.total_bytes)))
		return 0;
	file->has_pruned = true;
	return file_series_prune(file->series, &limits, bytes);
}

int log_file_write(struct log_file *file, const void *head, size_t head_bytes, const void *body,
		   size_t body_bytes)
{
	struct iovec parts[] = { { (void *)head, head_bytes }, { (void *)body, body_bytes } };
	bool is_first = body_bytes && !file->has_body;
	int err = file->has_body ? make_room(file, head_bytes + body_bytes) : 0;

	if (err)
		return err;
	err = write_all(file->fd, parts, body_bytes ? 2 : 1);
	if (!err) {
		file->bytes += head_bytes + body_bytes;
		file->has_body |= is_first;
		/* a recording that does not start removes nothing */
		return is_first ? make_room(file, 0) : 0;
	}
	/* If this fails too, the reader finds a batch that is cut off, and says so. */
	if (!log_file_is_direct(file) && !ftruncate(file->fd, (off_t)file->bytes))
		lseek(file->fd, (off_t)file->bytes, SEEK_SET);
	return err;
}

int log_file_sync(struct log_file *file)
{
	return log_file_is_direct(file) || !fdatasync(file->fd) ? 0 : -errno;
}

int log_file_check(const struct log_file *file)
{
	struct stat status;

	if (log_file_is_direct(file))
		return 0;
	if (fstat(file->fd, &status))
		return -errno;
	return status.st_nlink ? 0 : -ENOENT;
}

uint64_t log_file_bytes(const struct log_file *file)
{
	return file->bytes;
}

bool log_file_is_direct(const struct log_file *file)
{
	return file_series_is_direct(file->series);
}

/* The lock goes with the descriptor, so the name goes first. */
static int end_partial(struct log_file *file, int (*name)(struct file_series *series))
{
	int err = fsync(file->fd) ? -errno : name(file->series);

	if (err)
		return err;
	close(file->fd);
	file->fd = -1;
	return 0;
}

int log_file_turn(struct log_file *file)
{
	int err = end_partial(file, file_series_number);

	if (err)
		return err;
	file->bytes = 0;
	file->has_pruned = false;
	file->fd = file_series_begin(file->series);
	return file->fd < 0 ? file->fd : 0;
}

static void tell_names(const struct log_file *file, struct log_file_names *names, bool is_complete,
		       bool is_partial)
{
	if (!names)
		return;
	*names = (struct log_file_names){ .is_complete = is_complete, .is_partial = is_partial };
	if (log_file_is_direct(file))
		*names = (struct log_file_names){ .is_complete = true };
	file_series_numbers(file->series, &names->first_number, &names->last_number);
}

/* Until it is ended it has the .partial's name, unless somebody removed it. */
static bool is_still_partial(const struct log_file *file)
{
	return file->fd >= 0 && !log_file_check(file);
}

int log_file_complete(struct log_file *file, struct log_file_names *names)
{
	const struct file_series_limits limits = limits_of(file);
	int err = 0;

	if (!log_file_is_direct(file))
		err = end_partial(file, file->keeps_older ? file_series_finish : file_series_replace);
	if (!err && file->keeps_older)
		/* it is safe: what can't be removed now will be by the next one */
		file_series_prune(file->series, &limits, UINT64_MAX);
	tell_names(file, names, !err, err && is_still_partial(file));
	free_file(file);
	return err;
}

void log_file_abandon(struct log_file *file, struct log_file_names *names)
{
	if (!file)
		return;
	tell_names(file, names, false, is_still_partial(file));
	free_file(file);
}

void log_file_discard(struct log_file *file, struct log_file_names *names)
{
	if (!file)
		return;
	if (file->fd >= 0)
		file_series_discard(file->series);
	tell_names(file, names, false, false);
	free_file(file);
}
