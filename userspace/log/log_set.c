/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/log_set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/file_number.h"
#include "log/log_format.h"

#define BEGIN_TRIES 16
#define NAME_SIZE (NAME_MAX + 1)

struct log_set {
	int directory_fd; /* -1: direct */
	char *path;
	const char *name;       /* in path, behind its directory */
	char *partial;          /* likewise without the directory */
	uint64_t next_number;   /* 0: not looked for yet */
	uint64_t first_own;     /* given by log_set_number(), and not removed since */
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

void log_set_close(struct log_set *set)
{
	if (!set)
		return;
	if (set->directory_fd >= 0)
		close(set->directory_fd);
	free(set->path);
	free(set->partial);
	free(set);
}

static struct log_set *new_set(const char *path)
{
	struct log_set *set = calloc(1, sizeof(*set));
	const char *slash;

	if (!set)
		return NULL;
	set->directory_fd = -1;
	set->path = strdup(path);
	slash = set->path ? strrchr(set->path, '/') : NULL;
	set->name = slash ? slash + 1 : set->path;
	if (!set->path || asprintf(&set->partial, "%s.partial", set->name) < 0) {
		set->partial = NULL;
		log_set_close(set);
		return NULL;
	}
	return set;
}

static int open_directory(struct log_set *set)
{
	size_t length = (size_t)(set->name - set->path);
	char *directory = length ? strndup(set->path, length) : strdup(".");

	if (!directory)
		return -ENOMEM;
	set->directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(directory);
	return set->directory_fd < 0 ? -errno : 0;
}

int log_set_open(struct log_set **result, const char *path)
{
	struct log_set *set;
	struct stat status;
	bool is_there = !stat(path, &status);
	int err = 0;

	if (is_there && S_ISDIR(status.st_mode))
		return -EISDIR;
	set = new_set(path);
	if (!set)
		return -ENOMEM;
	if (!is_there || S_ISREG(status.st_mode))
		err = open_directory(set);
	if (err)
		log_set_close(set);
	else
		*result = set;
	return err;
}

bool log_set_is_direct(const struct log_set *set)
{
	return set->directory_fd < 0;
}

/* ---- names ---- */

static bool is_there(const struct log_set *set, const char *name)
{
	return !faccessat(set->directory_fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* Not every file system can rename without replacing, or link. What is left then can't tell a file that comes between the look and the rename. */
static int rename_to_free(const struct log_set *set, const char *from, const char *to)
{
	int fd = set->directory_fd;

	if (!renameat2(fd, from, fd, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!linkat(fd, from, fd, to, 0))
		return unlinkat(fd, from, 0) ? -errno : 0;
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	if (is_there(set, to))
		return -EEXIST;
	return renameat(fd, from, fd, to) ? -errno : 0;
}

/* A log of ours, to judge by how it begins: *bytes. Anything else, or what can't be read, is none. */
static bool is_log(const struct log_set *set, const char *name, uint64_t *bytes)
{
	char magic[LOG_MAGIC_BYTES];
	struct stat status;
	bool is_ours;
	int fd;

	if (fstatat(set->directory_fd, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return false;
	fd = openat(set->directory_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	is_ours = pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && !memcmp(magic, LOG_MAGIC, sizeof(magic));
	close(fd);
	*bytes = (uint64_t)status.st_size;
	return is_ours;
}

/* ---- the files that are there ---- */

static int note_older(struct older_files *older, uint64_t number, uint64_t bytes)
{
	if (older->cnt == older->capacity) {
		size_t capacity = older->capacity ? older->capacity * 2 : 32;
		struct older_file *list = reallocarray(older->list, capacity, sizeof(*list));

		if (!list)
			return -ENOMEM;
		older->list = list;
		older->capacity = capacity;
	}
	older->list[older->cnt++] = (struct older_file){ .number = number, .bytes = bytes };
	older->bytes += bytes;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint64_t left = ((const struct older_file *)a)->number, right = ((const struct older_file *)b)->number;

	return left < right ? -1 : left > right;
}

/* The numbered logs, the oldest first; list to be freed in any case. */
static int list_older(const struct log_set *set, struct older_files *older)
{
	int fd = openat(set->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!directory) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (entry = readdir(directory))) {
		uint64_t number = file_number_parse(set->name, entry->d_name), bytes;

		if (number && is_log(set, entry->d_name, &bytes))
			err = note_older(older, number, bytes);
	}
	closedir(directory);
	if (older->cnt)
		qsort(older->list, older->cnt, sizeof(*older->list), by_number);
	return err;
}

static int find_next_number(struct log_set *set)
{
	struct older_files older = { 0 };
	int err = list_older(set, &older);

	set->next_number = older.cnt ? older.list[older.cnt - 1].number + 1 : 1;
	free(older.list);
	return err;
}

/* *number: the one it got. What has such a name and is no log keeps it. */
static int give_next_number(struct log_set *set, const char *from, uint64_t *number)
{
	char to[NAME_SIZE];
	int err = set->next_number ? 0 : find_next_number(set);

	while (!err) {
		*number = set->next_number;
		err = *number > FILE_NUMBER_MAX ? -EOVERFLOW : file_number_format(set->name, *number, to, sizeof(to));
		if (err)
			break;
		err = rename_to_free(set, from, to);
		if (err && err != -EEXIST)
			break;
		set->next_number++;
		if (!err)
			break;
		err = 0;
	}
	return err;
}

/* ---- the file that is written ---- */

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

static bool is_still_there(const struct log_set *set, const struct stat *status)
{
	struct stat now;

	return !fstatat(set->directory_fd, set->partial, &now, AT_SYMLINK_NOFOLLOW) && now.st_ino == status->st_ino && now.st_dev == status->st_dev;
}

/* What a crash left; a live recorder holds a lock on it. Nothing of an empty one is worth keeping. */
static int settle_crashed(struct log_set *set)
{
	int fd = openat(set->directory_fd, set->partial, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err = 0;
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
	else if (!is_still_there(set, &status))
		err = 0;
	else if (!status.st_size)
		err = unlinkat(set->directory_fd, set->partial, 0) ? -errno : 0;
	else if (is_log(set, set->partial, &bytes))
		err = log_set_finish(set);
	else
		err = give_next_number(set, set->partial, &number);
	close(fd);
	return err;
}

static int make_partial(struct log_set *set)
{
	int fd = openat(set->directory_fd, set->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600), err = 0;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB))
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	else
		err = give_to_invoker(fd);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int log_set_begin(struct log_set *set)
{
	int result = -EEXIST;

	if (log_set_is_direct(set)) {
		result = open(set->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return result < 0 ? -errno : result;
	}
	for (int i = 0; i < BEGIN_TRIES && result == -EEXIST; i++) { /* others may come in between */
		result = settle_crashed(set);
		if (result)
			break;
		result = make_partial(set);
	}
	return result;
}

void log_set_discard(struct log_set *set)
{
	if (!log_set_is_direct(set))
		unlinkat(set->directory_fd, set->partial, 0);
}

int log_set_replace(struct log_set *set)
{
	return renameat(set->directory_fd, set->partial, set->directory_fd, set->name) ? -errno : 0;
}

/* The one that was the newest until now, if there is one. */
static int make_way(struct log_set *set)
{
	uint64_t number;
	int err = is_there(set, set->name) ? give_next_number(set, set->name, &number) : 0;

	return err == -ENOENT ? 0 : err; /* somebody has just removed it */
}

int log_set_finish(struct log_set *set)
{
	int err = -EEXIST;

	for (int i = 0; i < BEGIN_TRIES && err == -EEXIST; i++) {
		err = make_way(set);
		if (!err)
			err = rename_to_free(set, set->partial, set->name);
	}
	return err;
}

int log_set_number(struct log_set *set)
{
	uint64_t number;
	int err = make_way(set);

	if (!err)
		err = give_next_number(set, set->partial, &number);
	if (err)
		return err;
	set->first_own = set->first_own ? set->first_own : number;
	set->last_own = number;
	return 0;
}

void log_set_numbers(const struct log_set *set, uint64_t *first, uint64_t *last)
{
	*first = set->first_own;
	*last = set->last_own;
}

/* ---- what goes ---- */

static void forget_number(struct log_set *set, uint64_t number)
{
	if (number >= set->last_own)
		set->first_own = set->last_own = 0;
	else if (number >= set->first_own && set->first_own)
		set->first_own = number + 1;
}

static bool is_too_much(const struct log_set_limits *limits, uint64_t file_cnt, uint64_t total_bytes)
{
	return (limits->file_cnt && file_cnt > limits->file_cnt) || (limits->total_bytes && total_bytes > limits->total_bytes);
}

static void remove_oldest(struct log_set *set, const struct log_set_limits *limits, const struct older_files *older, uint64_t file_cnt,
			  uint64_t total_bytes)
{
	char name[NAME_SIZE];

	for (size_t i = 0; i < older->cnt && is_too_much(limits, file_cnt, total_bytes); i++) {
		const struct older_file *file = &older->list[i];

		if (file_number_format(set->name, file->number, name, sizeof(name)) || unlinkat(set->directory_fd, name, 0))
			continue;
		file_cnt--;
		total_bytes -= file->bytes;
		set->older_bytes -= file->bytes;
		forget_number(set, file->number);
	}
}

int log_set_prune(struct log_set *set, const struct log_set_limits *limits, uint64_t growing_bytes)
{
	bool is_growing = growing_bytes != UINT64_MAX;
	struct older_files older = { 0 };
	uint64_t newest_bytes = 0;
	bool has_newest;
	int err;

	if (log_set_is_direct(set) || (!limits->file_cnt && !limits->total_bytes))
		return 0;
	err = list_older(set, &older);
	has_newest = is_log(set, set->name, &newest_bytes);
	set->older_bytes = older.bytes + (has_newest ? newest_bytes : 0);
	if (!err)
		remove_oldest(set, limits, &older, older.cnt + has_newest + is_growing, set->older_bytes + (is_growing ? growing_bytes : 0));
	free(older.list);
	return err;
}

uint64_t log_set_older_bytes(const struct log_set *set)
{
	return set->older_bytes;
}
