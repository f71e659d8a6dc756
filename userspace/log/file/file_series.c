/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/file/file_series.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/named_output.h"
#include "log/file/file_number.h"
#include "log/format/log_format.h"

#define BEGIN_TRIES 16
#define NAME_SIZE (NAME_MAX + 1)

struct file_series {
	int directory_fd; /* -1: direct */
	int direct_fd;    /* until file_series_begin() hands it out; else -1 */
	bool is_direct;
	char *path;
	const char *name;       /* in path, behind its directory */
	char *partial;          /* likewise without the directory */
	uint64_t next_number;   /* 0: not looked for yet */
	uint64_t first_own;     /* given by file_series_number(), and not removed since */
	uint64_t last_own;
	uint64_t older_bytes;
};

struct older_file {
	uint64_t number;
	uint64_t bytes;
};

struct older_files {
	struct older_file *list;
	size_t cnt;
	size_t capacity;
	uint64_t bytes;
};

/* ---- open ---- */

void file_series_close(struct file_series *series)
{
	if (!series)
		return;
	if (series->directory_fd >= 0)
		close(series->directory_fd);
	if (series->direct_fd >= 0)
		close(series->direct_fd);
	free(series->path);
	free(series->partial);
	free(series);
}

static struct file_series *new_series(const char *path)
{
	struct file_series *series = calloc(1, sizeof(*series));
	const char *slash;

	if (!series)
		return NULL;
	series->directory_fd = series->direct_fd = -1;
	series->path = strdup(path);
	slash = series->path ? strrchr(series->path, '/') : NULL;
	series->name = slash ? slash + 1 : series->path;
	if (!series->path || asprintf(&series->partial, "%s.partial", series->name) < 0) {
		series->partial = NULL;
		file_series_close(series);
		return NULL;
	}
	return series;
}

static int open_directory(struct file_series *series)
{
	size_t length = (size_t)(series->name - series->path);
	char *directory = length ? strndup(series->path, length) : strdup(".");

	if (!directory)
		return -ENOMEM;
	series->directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(directory);
	return series->directory_fd < 0 ? -errno : 0;
}

int file_series_open(struct file_series **result, const char *path, bool waits)
{
	struct file_series *series;
	int direct_fd, err = *path ? named_output_special(&direct_fd, path, waits) : -ENOENT;

	if (err)
		return err;
	series = new_series(path);
	if (!series) {
		if (direct_fd >= 0)
			close(direct_fd);
		return -ENOMEM;
	}
	series->is_direct = direct_fd >= 0;
	series->direct_fd = direct_fd;
	if (!series->is_direct)
		err = *series->name ? open_directory(series) : -ENOENT;
	if (err)
		file_series_close(series);
	else
		*result = series;
	return err;
}

bool file_series_is_direct(const struct file_series *series)
{
	return series->is_direct;
}

/* ---- names ---- */

static bool is_there(const struct file_series *series, const char *name)
{
	struct stat status;

	return !fstatat(series->directory_fd, name, &status, AT_SYMLINK_NOFOLLOW);
}

/*
 * Not every file system can rename without replacing, or link. What is left then can't tell a file that comes
 * between the look and the rename.
 */
static int rename_to_free(const struct file_series *series, const char *from, const char *to)
{
	int fd = series->directory_fd;

	if (!renameat2(fd, from, fd, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!linkat(fd, from, fd, to, 0))
		return unlinkat(fd, from, 0) ? -errno : 0;
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	if (is_there(series, to))
		return -EEXIST;
	return renameat(fd, from, fd, to) ? -errno : 0;
}

/* A log of ours, to judge by how it begins: *bytes. Anything else, or what can't be read, is none. */
static bool is_log(const struct file_series *series, const char *name, uint64_t *bytes)
{
	char magic[LOG_MAGIC_BYTES];
	struct stat status;
	bool is_ours;
	int fd;

	if (fstatat(series->directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return false;
	fd = openat(series->directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	is_ours = pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		  !memcmp(magic, LOG_MAGIC, sizeof(magic));
	close(fd);
	*bytes = (uint64_t)status.st_size;
	return is_ours;
}

/* ---- the files that are there ---- */

static int note_older(struct older_files *older, uint64_t number, uint64_t bytes)
{
	struct older_file *list = array_grow(older->list, &older->capacity, older->cnt, sizeof(*list));

	if (!list)
		return -ENOMEM;
	older->list = list;
	older->list[older->cnt++] = (struct older_file){ .number = number, .bytes = bytes };
	older->bytes += bytes;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint64_t left = ((const struct older_file *)a)->number,
		 right = ((const struct older_file *)b)->number;

	return left < right ? -1 : left > right;
}

/* The numbered logs, the oldest first; list to be freed in any case. */
static int list_older(const struct file_series *series, struct older_files *older)
{
	int fd = openat(series->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!directory) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (entry = readdir(directory))) {
		uint64_t number = file_number_parse(series->name, entry->d_name), bytes;

		if (number && is_log(series, entry->d_name, &bytes))
			err = note_older(older, number, bytes);
	}
	closedir(directory);
	if (older->cnt)
		qsort(older->list, older->cnt, sizeof(*older->list), by_number);
	return err;
}

static int find_next_number(struct file_series *series)
{
	struct older_files older = { 0 };
	int err = list_older(series, &older);

	series->next_number = older.cnt ? older.list[older.cnt - 1].number + 1 : 1;
	free(older.list);
	return err;
}

/* *number: the one it got. What has such a name and is no log keeps it. */
static int give_next_number(struct file_series *series, const char *from, uint64_t *number)
{
	char to[NAME_SIZE];
	int err = series->next_number ? 0 : find_next_number(series);

	while (!err) {
		*number = series->next_number;
		err = *number > FILE_NUMBER_MAX ? -EOVERFLOW
						: file_number_format(series->name, *number, to, sizeof(to));
		if (err)
			break;
		err = rename_to_free(series, from, to);
		if (err && err != -EEXIST)
			break;
		series->next_number++;
		if (!err)
			break;
		err = 0;
	}
	return err;
}

/* ---- the file that is written ---- */

static bool is_still_there(const struct file_series *series, const struct stat *status)
{
	struct stat now;

	return !fstatat(series->directory_fd, series->partial, &now, AT_SYMLINK_NOFOLLOW) &&
	       now.st_ino == status->st_ino && now.st_dev == status->st_dev;
}

/* What a crash left; a live recorder holds a lock on it. Nothing of an empty one is worth keeping. */
static int settle_crashed(struct file_series *series)
{
	int fd = openat(series->directory_fd, series->partial,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK),
	    err = 0;
	uint64_t number, bytes;
	struct stat status;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &status))
		err = -errno;
	else if (!S_ISREG(status.st_mode))
		err = -EEXIST;
	else if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else if (!is_still_there(series, &status))
		err = 0;
	else if (!status.st_size)
		err = unlinkat(series->directory_fd, series->partial, 0) ? -errno : 0;
	else if (is_log(series, series->partial, &bytes))
		err = file_series_finish(series);
	else
		err = give_next_number(series, series->partial, &number);
	close(fd);
	return err;
}

static int make_partial(struct file_series *series)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	int fd = openat(series->directory_fd, series->partial, flags, 0600), err;

	if (fd < 0)
		return -errno;
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	close(fd);
	return err;
}

int file_series_begin(struct file_series *series)
{
	int result = -EEXIST;

	if (file_series_is_direct(series)) {
		result = series->direct_fd;
		series->direct_fd = -1;
		return result;
	}
	for (int i = 0; i < BEGIN_TRIES && result == -EEXIST; i++) { /* others may come in between */
		result = settle_crashed(series);
		if (result)
			break;
		result = make_partial(series);
	}
	return result;
}

void file_series_discard(struct file_series *series)
{
	if (!file_series_is_direct(series))
		unlinkat(series->directory_fd, series->partial, 0);
}

int file_series_replace(struct file_series *series)
{
	return renameat(series->directory_fd, series->partial, series->directory_fd, series->name) ? -errno
												   : 0;
}

/* The one that was the newest until now, if there is one. */
static int make_way(struct file_series *series)
{
	uint64_t number;
	int err = is_there(series, series->name) ? give_next_number(series, series->name, &number) : 0;

	return err == -ENOENT ? 0 : err; /* somebody has just removed it */
}

int file_series_finish(struct file_series *series)
{
	int err = -EEXIST;

	for (int i = 0; i < BEGIN_TRIES && err == -EEXIST; i++) {
		err = make_way(series);
		if (!err)
			err = rename_to_free(series, series->partial, series->name);
	}
	return err;
}

int file_series_number(struct file_series *series)
{
	uint64_t number;
	int err = make_way(series);

	if (!err)
		err = give_next_number(series, series->partial, &number);
	if (err)
		return err;
	series->first_own = series->first_own ? series->first_own : number;
	series->last_own = number;
	return 0;
}

void file_series_numbers(const struct file_series *series, uint64_t *first, uint64_t *last)
{
	*first = series->first_own;
	*last = series->last_own;
}

/* ---- what goes ---- */

static void forget_number(struct file_series *series, uint64_t number)
{
	if (number >= series->last_own)
		series->first_own = series->last_own = 0;
	else if (number >= series->first_own && series->first_own)
		series->first_own = number + 1;
}

static bool is_too_much(const struct file_series_limits *limits, uint64_t file_cnt, uint64_t total_bytes)
{
	return (limits->file_cnt && file_cnt > limits->file_cnt) ||
	       (limits->total_bytes && total_bytes > limits->total_bytes);
}

static void remove_oldest(struct file_series *series, const struct file_series_limits *limits,
			  const struct older_files *older, uint64_t file_cnt, uint64_t total_bytes)
{
	char name[NAME_SIZE];

	for (size_t i = 0; i < older->cnt && is_too_much(limits, file_cnt, total_bytes); i++) {
		const struct older_file *file = &older->list[i];

		if (file_number_format(series->name, file->number, name, sizeof(name)) ||
		    unlinkat(series->directory_fd, name, 0))
			continue;
		file_cnt--;
		total_bytes -= file->bytes;
		series->older_bytes -= file->bytes;
		forget_number(series, file->number);
	}
}

int file_series_prune(struct file_series *series, const struct file_series_limits *limits,
		      uint64_t growing_bytes)
{
	bool is_growing = growing_bytes != UINT64_MAX;
	struct older_files older = { 0 };
	uint64_t newest_bytes = 0;
	bool has_newest;
	int err;

	if (file_series_is_direct(series) || (!limits->file_cnt && !limits->total_bytes))
		return 0;
	err = list_older(series, &older);
	has_newest = is_log(series, series->name, &newest_bytes);
	series->older_bytes = older.bytes + (has_newest ? newest_bytes : 0);
	if (!err)
		remove_oldest(series, limits, &older, older.cnt + has_newest + is_growing,
			      series->older_bytes + (is_growing ? growing_bytes : 0));
	free(older.list);
	return err;
}

uint64_t file_series_older_bytes(const struct file_series *series)
{
	return series->older_bytes;
}
