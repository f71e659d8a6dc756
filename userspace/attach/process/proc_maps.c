/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/proc_maps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"

#define DELETED " (deleted)"

/* The number at *text, which must end with `end`; moves *text behind that. */
static bool take_number(const char **text, int radix, char end, uint64_t *number)
{
	char *behind;

	errno = 0;
	*number = strtoull(*text, &behind, radix);
	if (behind == *text || errno || *behind != end)
		return false;
	*text = behind + 1;
	return true;
}

/* "rwxp " */
static bool take_permissions(const char **text, struct proc_mapping *mapping)
{
	const char *letters = *text;

	if (strnlen(letters, 5) < 5 || letters[4] != ' ')
		return false;
	mapping->is_readable = letters[0] == 'r';
	mapping->is_writable = letters[1] == 'w';
	mapping->is_executable = letters[2] == 'x';
	mapping->is_shared = letters[3] == 's';
	*text += 5;
	return true;
}

/*
 * The kernel writes a newline as \012 and nothing else in octal: a backslash that is part of the name stands
 * as it is.
 */
static void unescape(char *path)
{
	char *to = path;

	while (*path) {
		if (strncmp(path, "\\012", 4) == 0) {
			*to++ = '\n';
			path += 4;
		} else {
			*to++ = *path++;
		}
	}
	*to = '\0';
}

/* One line, terminated; false if it is no mapping of a file. The path is changed in place. */
static bool parse_line(char *line, struct proc_mapping *mapping)
{
	const char *text = line;
	uint64_t major, minor;
	size_t length;
	char *path;

	memset(mapping, 0, sizeof(*mapping));
	if (!take_number(&text, 16, '-', &mapping->start) || !take_number(&text, 16, ' ', &mapping->end) ||
	    !take_permissions(&text, mapping) || !take_number(&text, 16, ' ', &mapping->offset) ||
	    !take_number(&text, 16, ':', &major) || !take_number(&text, 16, ' ', &minor) ||
	    !take_number(&text, 10, ' ', &mapping->inode))
		return false;
	mapping->dev_major = (uint32_t)major;
	mapping->dev_minor = (uint32_t)minor;
	path = line + (text - line);
	path += strspn(path, " ");
	if (path[0] != '/' || mapping->inode == 0 || mapping->start >= mapping->end)
		return false;
	length = strlen(path);
	if (length > strlen(DELETED) && strcmp(path + length - strlen(DELETED), DELETED) == 0) {
		mapping->is_deleted = true;
		path[length - strlen(DELETED)] = '\0';
	}
	unescape(path);
	mapping->path = path;
	return true;
}

/*
 * Whether the line, not yet changed, is of memory that a tracer of OpenTelemetry has named; what a kernel
 * without such names shows is the file.
 */
static bool is_context(const char *line, uint64_t *start)
{
	static const char *const names[] = { "[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]", "/memfd:OTEL_CTX" };
	const char *name = strpbrk(line, "[/");

	for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return take_number(&line, 16, '-', start);
	return false;
}

static int maps_add(struct proc_maps *maps, const struct proc_mapping *mapping)
{
	struct proc_mapping *grown = array_grow_unnoted(maps->mappings, maps->cnt, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	maps->mappings = grown;
	maps->mappings[maps->cnt++] = *mapping;
	return 0;
}

/* Takes the text (terminated) over, also when it fails. */
static int parse(struct proc_maps *maps, char *text)
{
	char *line;

	memset(maps, 0, sizeof(*maps));
	maps->text = text;
	while ((line = strsep(&text, "\n"))) {
		struct proc_mapping mapping;

		if (!maps->otel_context && !is_context(line, &maps->otel_context))
			maps->otel_context = 0;
		if (parse_line(line, &mapping) && maps_add(maps, &mapping)) {
			proc_maps_release(maps);
			return -ENOMEM;
		}
	}
	return 0;
}

int proc_maps_parse(struct proc_maps *maps, const char *text, size_t length)
{
	char *copy = strndup(text, length);

	return copy ? parse(maps, copy) : -ENOMEM;
}

/* The whole of a file in /proc, terminated; their size cannot be asked. */
static int read_all(int fd, char **out)
{
	size_t capacity = 16384, length = 0;
	char *text = malloc(capacity);
	int err = text ? 0 : -ENOMEM;

	while (!err && length < PROC_MAPS_BYTES_MAX) {
		ssize_t got = read(fd, text + length, capacity - 1 - length);

		if (got == 0)
			break;
		if (got < 0 && errno != EINTR)
			err = -errno;
		length += got > 0 ? (size_t)got : 0;
		if (!err && length == capacity - 1) {
			char *grown = realloc(text, capacity * 2);

			err = grown ? 0 : -ENOMEM;
			text = grown ? grown : text;
			capacity *= 2;
		}
	}
	if (err) {
		free(text);
		return err;
	}
	text[length] = '\0';
	*out = text;
	return 0;
}

int proc_maps_text(void *context, pid_t pid, char **text)
{
	char path[64];
	int fd, err;

	(void)context;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = read_all(fd, text);
	close(fd);
	return err;
}

static int read_maps(struct proc_maps *maps, pid_t pid, proc_maps_source source, void *context)
{
	char *text;
	int err = source(context, pid, &text);

	if (!err)
		err = parse(maps, text);
	maps->pid = pid;
	return err;
}

/*
 * The first thread may have ended before the others: then the process has no maps by its own pid, but by
 * theirs.
 */
static int read_maps_of_threads(struct proc_maps *maps, pid_t pid, proc_maps_source source, void *context)
{
	char path[64];
	struct dirent *entry;
	DIR *directory;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	directory = opendir(path);
	if (!directory)
		return -ESRCH;
	while (maps->cnt == 0 && (entry = readdir(directory))) {
		pid_t tid = atoi(entry->d_name);

		if (tid <= 0 || tid == pid)
			continue;
		proc_maps_release(maps);
		err = read_maps(maps, tid, source, context);
		if (err && err != -ESRCH)
			break;
	}
	closedir(directory);
	return err == -ESRCH ? 0 : err;
}

int proc_maps_read_from(struct proc_maps *maps, pid_t pid, proc_maps_source source, void *context)
{
	int err = read_maps(maps, pid, source, context);

	return err || maps->cnt ? err : read_maps_of_threads(maps, pid, source, context);
}

int proc_maps_read(struct proc_maps *maps, pid_t pid)
{
	return proc_maps_read_from(maps, pid, proc_maps_text, NULL);
}

void proc_maps_release(struct proc_maps *maps)
{
	free(maps->mappings);
	free(maps->text);
	memset(maps, 0, sizeof(*maps));
}

bool proc_mapping_is_memory(const struct proc_mapping *mapping, uint64_t bytes)
{
	return mapping->is_shared && mapping->is_writable && mapping->is_deleted &&
	       mapping->end - mapping->start == bytes && !strcmp(mapping->path, "/dev/zero");
}

const struct proc_mapping *proc_maps_find(const struct proc_maps *maps, uint64_t address)
{
	size_t low = 0, high = maps->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (address >= maps->mappings[middle].end)
			low = middle + 1;
		else if (address < maps->mappings[middle].start)
			high = middle;
		else
			return &maps->mappings[middle];
	}
	return NULL;
}

static bool proc_mapping_same_file(const struct proc_mapping *a, const struct proc_mapping *b)
{
	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

static int compare_files(const void *left, const void *right)
{
	const struct proc_mapping *a = *(const struct proc_mapping *const *)left,
				  *b = *(const struct proc_mapping *const *)right;

	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->dev_major != b->dev_major)
		return a->dev_major < b->dev_major ? -1 : 1;
	if (a->dev_minor != b->dev_minor)
		return a->dev_minor < b->dev_minor ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

int proc_maps_each_object(const struct proc_maps *maps, proc_object_visit visit, void *context)
{
	const struct proc_mapping **sorted = calloc(maps->cnt + 1, sizeof(*sorted));
	size_t cnt = 0;
	int result = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < maps->cnt; i++)
		if (maps->mappings[i].is_executable)
			sorted[cnt++] = &maps->mappings[i];
	qsort(sorted, cnt, sizeof(*sorted), compare_files);
	for (size_t i = 0; i < cnt && !result; i++)
		if (i == 0 || !proc_mapping_same_file(sorted[i], sorted[i - 1]))
			result = visit(context, sorted[i]);
	free(sorted);
	return result;
}

/* A regular file alone: to open a device or a pipe for reading may have effects, so it is looked at first. */
static int open_regular(const char *path, struct stat *status)
{
	int handle = open(path, O_PATH | O_CLOEXEC);
	char self[64];
	int fd;

	if (handle < 0)
		return -errno;
	if (fstat(handle, status) < 0 || !S_ISREG(status->st_mode)) {
		close(handle);
		return -EINVAL;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", handle);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		fd = -errno;
	close(handle);
	return fd;
}

/*
 * By name: the inode's number tells another file. (Not the device's: file systems with subvolumes or layers
 * show another one to stat.)
 */
static int open_by_path(const struct proc_mapping *mapping, const char *path)
{
	struct stat status;
	int fd = open_regular(path, &status);

	if (fd >= 0 && status.st_ino != mapping->inode) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/*
 * Its own root first: in a container the same path is another file. Without CAP_SYS_PTRACE that is closed to
 * us, but the file itself may not be.
 */
static int open_in_roots(const struct proc_mapping *mapping, pid_t pid, const char *suffix)
{
	char root[32], *path;
	int fd;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	if (asprintf(&path, "%s%s%s", root, mapping->path, suffix) < 0)
		return -ENOMEM;
	fd = open_by_path(mapping, path);
	if (fd == -EACCES)
		fd = open_by_path(mapping, path + strlen(root));
	free(path);
	return fd;
}

/* A file may be named "x (deleted)", too. */
static int open_by_name(const struct proc_mapping *mapping, pid_t pid)
{
	int fd = mapping->is_deleted ? open_in_roots(mapping, pid, DELETED) : -ENOENT;

	return fd >= 0 ? fd : open_in_roots(mapping, pid, "");
}

int proc_mapping_open(const struct proc_mapping *mapping, pid_t pid)
{
	struct stat status;
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, mapping->start,
		 mapping->end);
	fd = open_regular(path, &status);
	return fd >= 0 || fd == -EINVAL ? fd : open_by_name(mapping, pid);
}
