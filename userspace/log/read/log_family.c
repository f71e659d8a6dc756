/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/read/log_family.h"

#include <ctype.h>
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
#include "log/read/block_walk.h"

#define PARTIAL ".partial"
#define NUMBER_DIGITS_MIN 6
#define NUMBER_DIGITS_MAX 18

/* ---- names ---- */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A dot and a number that end at `end` of a name; its length, or 0. */
static size_t number_before(const char *name, size_t end)
{
	size_t begin = end, digits;

	while (begin > 0 && isdigit((unsigned char)name[begin - 1]))
		begin--;
	digits = end - begin;
	return begin > 1 && name[begin - 1] == '.' && digits >= NUMBER_DIGITS_MIN &&
			       digits <= NUMBER_DIGITS_MAX
		       ? digits + 1
		       : 0;
}

/* Where the number would stand in a name: before the last extension, or at the end. */
static size_t number_place(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot > name ? (size_t)(dot - name) : strlen(name);
}

char *log_family_base(const char *path)
{
	char *base = strdup(path), *name;
	size_t length, place, number;

	if (!base)
		return NULL;
	name = base + (file_name(path) - path);
	length = strlen(name);
	if (length > strlen(PARTIAL) && strcmp(name + length - strlen(PARTIAL), PARTIAL) == 0) {
		name[length - strlen(PARTIAL)] = '\0';
		return base;
	}
	place = number_before(name, length) ? length : number_place(name);
	number = number_before(name, place);
	if (number)
		memmove(name + place - number, name + place, strlen(name + place) + 1);
	return base;
}

bool log_family_is_held(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool result;

	if (fd < 0)
		return false;
	result = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return result;
}

char *log_family_live(const char *path)
{
	char *partial;

	if (asprintf(&partial, "%s" PARTIAL, path) < 0)
		return NULL;
	if (access(path, F_OK) == 0 ? log_family_is_held(partial) : access(partial, F_OK) == 0)
		return partial;
	free(partial);
	return strdup(path);
}

/* ---- finding a part ---- */

struct search {
	const uint8_t *capture_id;
	uint32_t part;
	char *path;       /* of the best one so far */
	uint32_t found;
	bool is_past;     /* an earlier part was seen: what is older need not be looked at */
};

static int look_at(struct search *search, const char *path)
{
	struct block_walk walk = BLOCK_WALK_CLOSED;
	struct txtrace_damage ignored;
	int err = block_walk_open(&walk, path, true, &ignored);
	uint32_t part = walk.info.part;
	bool is_ours = err >= 0 && walk.info.version_major &&
		       memcmp(walk.info.capture_id, search->capture_id, 16) == 0;

	block_walk_close(&walk);
	if (err == -ENOMEM)
		return err;
	if (!is_ours)
		return 0;
	search->is_past |= part <= search->part;
	if (part < search->part || (search->path && part >= search->found))
		return 0;
	free(search->path);
	search->path = strdup(path);
	search->found = part;
	return search->path ? 0 : -ENOMEM;
}

struct numbers {
	uint64_t *numbers;
	size_t cnt;
	size_t capacity;
};

static int add_number(struct numbers *numbers, uint64_t number)
{
	uint64_t *more = array_grow(numbers->numbers, &numbers->capacity, numbers->cnt, sizeof(*more));

	if (!more)
		return -ENOMEM;
	numbers->numbers = more;
	numbers->numbers[numbers->cnt++] = number;
	return 0;
}

/* The number of a name of the family; false: it has none. */
static bool read_number(const char *name, const char *base_name, size_t place, uint64_t *number)
{
	size_t length = strlen(name), extension = strlen(base_name) - place, digits;

	if (length <= place + extension || strncmp(name, base_name, place) ||
	    strcmp(name + length - extension, base_name + place))
		return false;
	digits = number_before(name, length - extension);
	if (!digits || digits != length - extension - place)
		return false;
	*number = strtoull(name + place + 1, NULL, 10);
	return true;
}

static int by_number_down(const void *a_, const void *b_)
{
	const uint64_t *a = a_, *b = b_;

	return *a > *b ? -1 : *a < *b;
}

static int list_numbers(const char *base, struct numbers *numbers)
{
	const char *name = file_name(base);
	char *folder_path = name == base ? strdup(".") : strndup(base, (size_t)(name - base));
	size_t place = number_place(name);
	struct dirent *entry;
	uint64_t number;
	DIR *folder;
	int err = 0;

	if (!folder_path)
		return -ENOMEM;
	folder = opendir(folder_path);
	free(folder_path);
	if (!folder)
		return -errno;
	while (!err && (entry = readdir(folder))) {
		if (read_number(entry->d_name, name, place, &number))
			err = add_number(numbers, number);
	}
	closedir(folder);
	if (numbers->cnt)
		qsort(numbers->numbers, numbers->cnt, sizeof(*numbers->numbers), by_number_down);
	return err;
}

static int look_at_number(struct search *search, const char *base, uint64_t number)
{
	const char *name = file_name(base);
	int place = (int)((size_t)(name - base) + number_place(name)), err;
	char *path;

	if (asprintf(&path, "%.*s.%06llu%s", place, base, (unsigned long long)number, base + place) < 0)
		return -ENOMEM;
	err = look_at(search, path);
	free(path);
	return err;
}

int log_family_find(const char *base, const uint8_t capture_id[16], uint32_t part, char **path,
		    uint32_t *found)
{
	struct search search = { .capture_id = capture_id, .part = part };
	struct numbers numbers = { NULL, 0, 0 };
	char *partial;
	int err;

	if (asprintf(&partial, "%s" PARTIAL, base) < 0)
		return -ENOMEM;
	/*
	 * A file goes from the first of these names to the last: looked at in this order, it can't slip
	 * through.
	 */
	err = look_at(&search, partial);
	err = err || search.is_past ? err : look_at(&search, base);
	free(partial);
	if (!err && !search.is_past)
		err = list_numbers(base, &numbers);
	for (size_t i = 0; !err && !search.is_past && i < numbers.cnt; i++)
		err = look_at_number(&search, base, numbers.numbers[i]);
	free(numbers.numbers);
	if (err) {
		free(search.path);
		return err;
	}
	*path = search.path;
	*found = search.found;
	return search.path != NULL;
}
