/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct log_file {
	int fd;
	bool is_direct; /* a device or pipe: nothing to rename, nothing to take back */
	uint64_t bytes;
	char *path;
	char *partial;
	char *previous;
};

static void free_file(struct log_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file->partial);
	free(file->previous);
	free(file);
}

static struct log_file *new_file(const char *path)
{
	struct log_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->fd = -1;
	file->path = strdup(path);
	if (asprintf(&file->partial, "%s.partial", path) < 0)
		file->partial = NULL;
	if (asprintf(&file->previous, "%s.partial.1", path) < 0)
		file->previous = NULL;
	if (!file->path || !file->partial || !file->previous) {
		free_file(file);
		return NULL;
	}
	return file;
}

static bool read_id(const char *name, uint32_t *id)
{
	const char *text = getenv(name);
	unsigned long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	*id = (uint32_t)value;
	return !errno && !*end && value < UINT32_MAX;
}

static int give_to_invoker(int fd)
{
	uint32_t uid, gid;

	if (geteuid() != 0 || !read_id("SUDO_UID", &uid) || !read_id("SUDO_GID", &gid))
		return 0;
	return fchown(fd, uid, gid) ? -errno : 0;
}

/* Puts aside what a crashed recorder left; a live one holds a lock on it. */
static int set_aside(const struct log_file *file)
{
	int fd = open(file->partial, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else if (rename(file->partial, file->previous))
		err = -errno;
	close(fd);
	return err;
}

static int open_partial(struct log_file *file)
{
	int err = set_aside(file);

	if (err)
		return err;
	file->fd = open(file->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file->fd < 0)
		return -errno;
	if (flock(file->fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return give_to_invoker(file->fd);
}

int log_file_open(struct log_file **result, const char *path)
{
	struct log_file *file = new_file(path);
	struct stat status;
	int err = 0;

	if (!file)
		return -ENOMEM;
	if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
		file->is_direct = true;
		file->fd = S_ISDIR(status.st_mode) ? -1 : open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		err = S_ISDIR(status.st_mode) ? -EISDIR : file->fd < 0 ? -errno : 0;
	} else {
		err = open_partial(file);
	}
	if (err) {
		free_file(file);
		return err;
	}
	*result = file;
	return 0;
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

int log_file_write(struct log_file *file, const void *head, size_t head_bytes, const void *body, size_t body_bytes)
{
	struct iovec parts[] = { { (void *)head, head_bytes }, { (void *)body, body_bytes } };
	int err = write_all(file->fd, parts, body_bytes ? 2 : 1);

	if (!err) {
		file->bytes += head_bytes + body_bytes;
		return 0;
	}
	/* If this fails too, the reader finds a batch that is cut off, and says so. */
	if (!file->is_direct && !ftruncate(file->fd, (off_t)file->bytes))
		lseek(file->fd, (off_t)file->bytes, SEEK_SET);
	return err;
}

uint64_t log_file_bytes(const struct log_file *file)
{
	return file->bytes;
}

int log_file_complete(struct log_file *file)
{
	int err = 0;

	if (!file->is_direct && (fsync(file->fd) || rename(file->partial, file->path)))
		err = -errno;
	free_file(file);
	return err;
}

void log_file_abandon(struct log_file *file)
{
	if (file)
		free_file(file);
}

void log_file_discard(struct log_file *file)
{
	if (file && !file->is_direct)
		unlink(file->partial);
	log_file_abandon(file);
}
