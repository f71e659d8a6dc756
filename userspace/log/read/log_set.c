/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/read/log_set.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

void log_set_release(struct log_set *set)
{
	for (size_t i = 0; i < set->cnt; i++)
		free(set->files[i].path);
	free(set->files);
	free(set->bad_path);
	free(set->other_path);
	*set = (struct log_set){ 0 };
}

static int blame(struct log_set *set, const char *path, int err)
{
	free(set->bad_path);
	set->bad_path = strdup(path);
	return err;
}

bool log_set_is_same_capture(const struct log_set_file *a, const struct log_set_file *b)
{
	return memcmp(a->capture_id, b->capture_id, sizeof(a->capture_id)) == 0;
}

/* ---- one file ---- */

void log_set_describe(struct block_walk *walk, struct log_set_file *file)
{
	const struct txtrace_log_info *info = &walk->info;
	struct log_block block;
	struct stat status;

	if (fstat(walk->fd, &status) == 0) {
		file->bytes = (uint64_t)status.st_size;
		file->device = status.st_dev;
		file->inode = status.st_ino;
	}
	file->has_header = info->version_major > 0;
	file->start_ns = info->start_monotonic_ns;
	file->part = info->part;
	file->first_sequence = info->first_sequence;
	memcpy(file->boot_id, info->boot_id, sizeof(file->boot_id));
	memcpy(file->capture_id, info->capture_id, sizeof(file->capture_id));
	if (file->has_header || block_walk_look(walk, &block) != WALK_BLOCK)
		return;
	memcpy(file->capture_id, block.capture_id, sizeof(file->capture_id));
	file->start_ns = block.first_ns;
	file->first_sequence = block.sequence;
}

static int add(struct log_set *set, const char *path, struct block_walk *walk)
{
	struct log_set_file *files = array_grow(set->files, &set->capacity, set->cnt, sizeof(*files));

	if (!files)
		return -ENOMEM;
	set->files = files;
	files = &set->files[set->cnt];
	*files = (struct log_set_file){ .path = strdup(path) };
	if (!files->path)
		return -ENOMEM;
	log_set_describe(walk, files);
	set->bytes += files->bytes;
	set->cnt++;
	return 0;
}

static int add_file(struct log_set *set, const char *path)
{
	struct block_walk walk = BLOCK_WALK_CLOSED;
	struct txtrace_damage ignored;
	int err = block_walk_open(&walk, path, false, &ignored);

	err = err < 0 ? err : add(set, path, &walk);
	block_walk_close(&walk);
	return err;
}

/* ---- a folder ---- */

/*
 * Whether a file of a folder is a log: 1, 0 or a negative errno. What can't be opened is none of ours unless
 * its name says so.
 */
static int is_log(int folder, const char *name)
{
	uint8_t magic[LOG_MAGIC_BYTES];
	struct stat status;
	int64_t got;
	int fd;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return 0;
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT || !strstr(name, ".txtrace") ? 0 : -errno;
	got = file_read_at(fd, magic, sizeof(magic), 0);
	close(fd);
	return got == LOG_MAGIC_BYTES && memcmp(magic, LOG_MAGIC, LOG_MAGIC_BYTES) == 0;
}

static int add_entry(struct log_set *set, int folder, const char *folder_path, const char *name)
{
	size_t length = strlen(folder_path);
	char *path;
	int err = is_log(folder, name);

	if (!err)
		return 0;
	if (asprintf(&path, "%s%s%s", folder_path, length && folder_path[length - 1] == '/' ? "" : "/",
		     name) < 0)
		return -ENOMEM;
	err = err < 0 ? err : add_file(set, path);
	if (err == -ENOENT)
		err = 0; /* it has gone meanwhile */
	if (err)
		blame(set, path, err);
	free(path);
	return err;
}

static int add_folder(struct log_set *set, const char *path)
{
	size_t before = set->cnt;
	struct dirent *entry;
	DIR *folder = opendir(path);
	int err = 0;

	if (!folder)
		return -errno;
	while (!err && (entry = readdir(folder)))
		err = add_entry(set, dirfd(folder), path, entry->d_name);
	closedir(folder);
	return err || set->cnt > before ? err : -ENOMSG;
}

int log_set_add(struct log_set *set, const char *path)
{
	struct stat status;
	int err;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		err = add_folder(set, path);
	else
		err = add_file(set, path);
	return err && !set->bad_path ? blame(set, path, err) : err;
}

/* ---- the order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_capture(const void *a_, const void *b_)
{
	const struct log_set_file *a = a_, *b = b_;
	int order = memcmp(a->capture_id, b->capture_id, sizeof(a->capture_id));

	order = order ? order : compare_numbers(!a->has_header, !b->has_header);
	return order ? order : compare_numbers(a->part, b->part);
}

/* Of one capture the sequence tells the same as the part, and it is known where the header is lost. */
static int by_time(const void *a_, const void *b_)
{
	const struct log_set_file *a = a_, *b = b_;
	int order = compare_numbers(a->start_ns, b->start_ns);

	order = order ? order : memcmp(a->capture_id, b->capture_id, sizeof(a->capture_id));
	order = order ? order : compare_numbers(a->first_sequence, b->first_sequence);
	order = order ? order : compare_numbers(a->part, b->part);
	return order ? order : strcmp(a->path, b->path);
}

/* A file without a header takes from a neighbour what all files of a capture have in common. */
static void learn_from(struct log_set_file *file, const struct log_set_file *neighbour)
{
	if (file->has_header || !log_set_is_same_capture(file, neighbour))
		return;
	file->start_ns = neighbour->start_ns;
	memcpy(file->boot_id, neighbour->boot_id, sizeof(file->boot_id));
}

static bool is_same_part(const struct log_set_file *a, const struct log_set_file *b)
{
	if (a->device == b->device && a->inode == b->inode)
		return true;
	return a->has_header && b->has_header && log_set_is_same_capture(a, b) && a->part == b->part;
}

static int refuse(struct log_set *set, const struct log_set_file *a, const struct log_set_file *b, int err)
{
	free(set->other_path);
	set->other_path = strdup(a->path);
	return blame(set, b->path, err);
}

int log_set_arrange(struct log_set *set)
{
	struct log_set_file *files = set->files;

	if (set->cnt < 2)
		return 0;
	qsort(files, set->cnt, sizeof(*files), by_capture);
	for (size_t i = 1; i < set->cnt; i++) {
		learn_from(&files[i], &files[i - 1]);
		if (is_same_part(&files[i - 1], &files[i]))
			return refuse(set, &files[i - 1], &files[i], -EEXIST);
	}
	qsort(files, set->cnt, sizeof(*files), by_time);
	for (size_t i = 1; i < set->cnt; i++) {
		if (memcmp(files[i].boot_id, files[0].boot_id, sizeof(files[i].boot_id)) != 0)
			return refuse(set, &files[0], &files[i], -EXDEV);
	}
	return 0;
}
