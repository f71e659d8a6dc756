/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/log_place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/file/file_number.h"

#define TOLD_MAX 10

int log_place_path(const char *output, char *path, size_t size)
{
	struct stat status;
	bool is_directory = !stat(output, &status) && S_ISDIR(status.st_mode);
	size_t length = strlen(output);
	const char *between = is_directory && length && output[length - 1] != '/' ? "/" : "";

	return (size_t)snprintf(path, size, "%s%s%s", output, between,
				is_directory ? LOG_PLACE_DEFAULT : "") < size
		       ? 0
		       : -ENAMETOOLONG;
}

/* The files one by one: the numbered ones that are there, then the last. */
struct walk {
	const char *path;
	const struct log_file_names *names;
	uint64_t number;
	char name[PATH_MAX];
};

static bool next_name(struct walk *walk)
{
	const struct log_file_names *names = walk->names;

	for (; walk->number && walk->number <= names->last_number;) {
		int err = file_number_format(walk->path, walk->number++, walk->name, sizeof(walk->name));

		if (!err && !access(walk->name, F_OK))
			return true;
	}
	if (walk->number == UINT64_MAX || (!names->is_complete && !names->is_partial))
		return false;
	walk->number = UINT64_MAX;
	return (size_t)snprintf(walk->name, sizeof(walk->name), "%s%s", walk->path,
				names->is_complete ? "" : ".partial") < sizeof(walk->name);
}

static struct walk begin_walk(const char *path, const struct log_file_names *names)
{
	return (struct walk){ .path = path,
			      .names = names,
			      .number = names->last_number ? names->first_number : 0 };
}

size_t log_place_cnt(const char *path, const struct log_file_names *names)
{
	struct walk walk = begin_walk(path, names);
	size_t cnt = 0;

	while (next_name(&walk))
		cnt++;
	return cnt;
}

void log_place_append(struct text *text, const char *path, const struct log_file_names *names)
{
	struct walk walk = begin_walk(path, names);
	size_t cnt = log_place_cnt(path, names);

	for (size_t i = 0; next_name(&walk); i++) {
		if (cnt > TOLD_MAX && i > 0 && i + 1 < cnt)
			continue;
		if (i > 0)
			text_append(text, cnt > TOLD_MAX ? " to " : i + 1 < cnt ? ", " : " and ");
		text_append(text, "'");
		text_append_escaped(text, walk.name, strlen(walk.name));
		text_append(text, "'");
	}
}

void log_place_append_arguments(struct text *text, const char *path, const struct log_file_names *names)
{
	struct walk walk = begin_walk(path, names);
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');

	if (log_place_cnt(path, names) > TOLD_MAX && dot > base) { /* app.*txtrace is app.txtrace, too */
		text_append_escaped(text, path, (size_t)(dot - path));
		text_append(text, ".*");
		text_append_escaped(text, dot + 1, strlen(dot + 1));
		return;
	}
	for (size_t i = 0; next_name(&walk); i++) {
		text_append(text, i ? " " : "");
		text_append_escaped(text, walk.name, strlen(walk.name));
	}
}
