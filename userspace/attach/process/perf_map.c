/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/process/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"

/* Moves *at behind the number. */
static bool take_hexadecimal(const char **at, const char *end, uint64_t *number)
{
	const char *begin;

	if (end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x')
		*at += 2;
	begin = *at;
	for (*number = 0; *at < end; ++*at) {
		char c = **at;
		unsigned int digit = c >= '0' && c <= '9'   ? c - '0'
				     : c >= 'a' && c <= 'f' ? c - 'a' + 10
				     : c >= 'A' && c <= 'F' ? c - 'A' + 10
							    : 16;

		if (digit == 16)
			break;
		if (*number >> 60)
			return false;
		*number = *number << 4 | digit;
	}
	return *at > begin && *at < end && *(*at)++ == ' ';
}

static bool parse_line(const char *line, size_t length, struct perf_map_entry *entry)
{
	const char *at = line, *end = line + length;
	uint64_t size;

	if (!take_hexadecimal(&at, end, &entry->begin) || !take_hexadecimal(&at, end, &size) || at == end ||
	    size == 0 || size > UINT64_MAX - entry->begin)
		return false;
	entry->end = entry->begin + size;
	entry->name = at;
	entry->name_length = end - at < PERF_MAP_NAME_MAX ? (uint32_t)(end - at) : PERF_MAP_NAME_MAX;
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct perf_map_entry *a = left, *b = right;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/*
 * What begins later in memory ends what reaches over it; of two that begin at the same place, the later line
 * is right.
 */
static void cut_overlaps(struct perf_map *map)
{
	size_t cnt = 0;

	for (size_t i = 0; i < map->cnt; i++) {
		if (i + 1 < map->cnt && map->entries[i + 1].begin == map->entries[i].begin)
			continue;
		map->entries[cnt] = map->entries[i];
		if (i + 1 < map->cnt && map->entries[i + 1].begin < map->entries[i].end)
			map->entries[cnt].end = map->entries[i + 1].begin;
		cnt++;
	}
	map->cnt = cnt;
}

int perf_map_parse(struct perf_map *map, char *text, size_t length)
{
	size_t room = 0, at = 0;

	*map = (struct perf_map){ .text = text };
	while (at < length && map->cnt < PERF_MAP_CNT_MAX) {
		const char *newline = memchr(text + at, '\n', length - at);
		size_t line = newline ? (size_t)(newline - text) - at : length - at;
		struct perf_map_entry *grown = array_grow(map->entries, &room, map->cnt, sizeof(*grown));

		if (!grown) {
			perf_map_release(map);
			return -ENOMEM;
		}
		map->entries = grown;
		map->entries[map->cnt].order = (uint32_t)map->cnt;
		map->cnt += parse_line(text + at, line, &map->entries[map->cnt]);
		at += line + 1;
	}
	if (map->cnt > 0)
		qsort(map->entries, map->cnt, sizeof(*map->entries), compare);
	cut_overlaps(map);
	return 0;
}

/* What the process calls itself: the last number of NSpid. Its user. */
static int read_status(pid_t pid, pid_t *inner_pid, uid_t *uid)
{
	char path[64], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');
		unsigned int effective;

		if (strncmp(line, "NSpid:", 6) == 0 && last)
			*inner_pid = atoi(last + 1);
		else if (sscanf(line, "Uid:\t%*u\t%u", &effective) == 1)
			*uid = effective;
	}
	fclose(file);
	return 0;
}

/*
 * A program in namespaces of its own may mount any file that it can name over
 * the map's place, also one that it may not read: so a file of root's is taken
 * only if everybody may read it.
 */
static bool may_be_taken(const struct stat *status, uid_t uid)
{
	return S_ISREG(status->st_mode) &&
	       (status->st_uid == uid || (status->st_uid == 0 && status->st_mode & S_IROTH));
}

/* As the process would: no link that it has made leads out of its root, or anywhere. */
static int open_in_root(pid_t pid, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	char root[64];
	int root_fd, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	fd = fd < 0 ? -errno : fd;
	close(root_fd);
	return fd;
}

/* Opened as what it is first: a pipe or a device would be touched by opening it. */
static int open_map(pid_t pid, size_t *length)
{
	char path[64];
	struct stat status;
	pid_t inner_pid = pid;
	uid_t uid = (uid_t)-1;
	int handle, fd, err = read_status(pid, &inner_pid, &uid);

	if (err)
		return err;
	snprintf(path, sizeof(path), "tmp/perf-%d.map", inner_pid);
	handle = open_in_root(pid, path);
	if (handle < 0)
		return handle;
	if (fstat(handle, &status) < 0 || !may_be_taken(&status, uid)) {
		close(handle);
		return -EPERM;
	}
	*length = status.st_size < PERF_MAP_BYTES_MAX ? (size_t)status.st_size : PERF_MAP_BYTES_MAX;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	err = fd < 0 ? -errno : 0;
	close(handle);
	return err ? err : fd;
}

int perf_map_text(pid_t pid, char **out, size_t *out_length)
{
	size_t length = 0, done = 0;
	int fd = open_map(pid, &length);
	char *text;

	if (fd < 0)
		return fd;
	text = malloc(length + 1);
	while (text && done < length) {
		ssize_t got = pread(fd, text + done, length - done, (off_t)done);

		if (got <= 0 && !(got < 0 && errno == EINTR))
			break;
		done += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	*out = text;
	*out_length = done;
	return text ? 0 : -ENOMEM;
}

int perf_map_read(struct perf_map *map, pid_t pid)
{
	size_t length;
	char *text;
	int err = perf_map_text(pid, &text, &length);

	*map = (struct perf_map){ 0 };
	return err ? err : perf_map_parse(map, text, length);
}

void perf_map_release(struct perf_map *map)
{
	free(map->entries);
	free(map->text);
	*map = (struct perf_map){ 0 };
}

const struct perf_map_entry *perf_map_find(const struct perf_map *map, uint64_t address)
{
	size_t low = 0, high = map->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->entries[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < map->entries[low - 1].end ? &map->entries[low - 1] : NULL;
}
