/* SPDX-License-Identifier: BSD-2-Clause */
/* A folder for the files of one log, and what is in it as one line of text. Include it behind cmocka.h. */
#ifndef SERIES_FOLDER_H
#define SERIES_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SERIES_LOG "\x89TXLOG\r\n" /* how a log begins */

struct series_folder {
	char path[PATH_MAX / 2];
	char listing[8192];
	char name[PATH_MAX];
};

static inline void make_folder(struct series_folder *folder)
{
	const char *parent = getenv("TEST_TMPDIR");

	snprintf(folder->path, sizeof(folder->path), "%.2000s/series.XXXXXX", parent ? parent : "/tmp");
	assert_non_null(mkdtemp(folder->path));
}

/* The path of a name in it; until the next call. */
static inline const char *in_folder(struct series_folder *folder, const char *name)
{
	snprintf(folder->name, sizeof(folder->name), "%.2047s/%.2000s", folder->path, name);
	return folder->name;
}

static inline void put_text(struct series_folder *folder, const char *name, const char *text)
{
	int fd = open(in_folder(folder, name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* What a file holds, without the beginning of a log, if it is one; until the next call. */
static inline const char *text_in(struct series_folder *folder, const char *name)
{
	static char text[256];
	int fd = open(in_folder(folder, name), O_RDONLY | O_NOFOLLOW);
	ssize_t length;

	if (fd < 0)
		return "(nothing)";
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	assert_true(length >= 0);
	text[length] = '\0';
	return strncmp(text, SERIES_LOG, 8) == 0 ? text + 8 : text;
}

static inline int by_folder_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* All names, sorted, with a blank between them. */
static inline const char *list_folder(struct series_folder *folder)
{
	struct dirent **entries;
	int cnt = scandir(folder->path, &entries, NULL, by_folder_name);

	assert_true(cnt >= 0);
	folder->listing[0] = '\0';
	for (int i = 0; i < cnt; i++) {
		if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
			assert_true(strlen(folder->listing) + strlen(entries[i]->d_name) + 2 <
				    sizeof(folder->listing));
			strcat(folder->listing, *folder->listing ? " " : "");
			strcat(folder->listing, entries[i]->d_name);
		}
		free(entries[i]);
	}
	free(entries);
	return folder->listing;
}

/* With all that is in it, folders only if they are empty. */
static inline void remove_folder(struct series_folder *folder)
{
	struct dirent **entries;
	int cnt = scandir(folder->path, &entries, NULL, by_folder_name);

	for (int i = 0; i < cnt; i++) {
		const char *path = in_folder(folder, entries[i]->d_name);

		if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0 &&
		    unlink(path))
			rmdir(path);
		free(entries[i]);
	}
	if (cnt >= 0)
		free(entries);
	rmdir(folder->path);
}

#endif
