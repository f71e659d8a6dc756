/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests of formats that are several files: an empty folder for an export, and its end. */
#ifndef EXPORT_FOLDER_H
#define EXPORT_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct export_folder {
	char path[32];
	int fd;
};

/* fd is -1 if there can be none. */
static inline void export_folder_make(struct export_folder *folder)
{
	strcpy(folder->path, "/tmp/export_folder.XXXXXX");
	folder->fd = mkdtemp(folder->path) ? open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

/* With what is in it: returns how many files that was; one may be empty. */
static inline size_t export_folder_remove(struct export_folder *folder)
{
	DIR *directory = fdopendir(folder->fd);
	struct dirent *entry;
	size_t cnt = 0;

	while (directory && (entry = readdir(directory)))
		cnt += unlinkat(folder->fd, entry->d_name, 0) == 0; /* not "." and ".." */
	if (directory)
		closedir(directory);
	rmdir(folder->path);
	folder->fd = -1;
	return cnt;
}

#endif
