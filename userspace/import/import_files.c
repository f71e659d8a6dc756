/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/import_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/saturating.h"

#define FILE_CNT_MAX 100000

static void add_bytes(struct import_files *files, const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		files->bytes = UINT64_MAX;
	else
		increase(&files->bytes, (uint64_t)status.st_size);
}

static int add(struct import_files *files, char *path)
{
	char **paths = path && files->cnt < FILE_CNT_MAX
			       ? reallocarray(files->paths, files->cnt + 1, sizeof(*paths))
			       : NULL;

	if (!paths) {
		free(path);
		return files->cnt < FILE_CNT_MAX ? -ENOMEM : -EMFILE;
	}
	files->paths = paths;
	files->paths[files->cnt++] = path;
	add_bytes(files, path);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static char *join(const char *directory, const char *name)
{
	size_t directory_length = strlen(directory), name_length = strlen(name);
	char *path = malloc(directory_length + name_length + 2);

	if (!path)
		return NULL;
	memcpy(path, directory, directory_length);
	path[directory_length] = '/';
	memcpy(path + directory_length + 1, name, name_length + 1);
	return path;
}

static int add_member(struct import_files *files, const char *directory, const char *name)
{
	char *path = join(directory, name);
	struct stat status;

	if (path && (stat(path, &status) != 0 || !S_ISREG(status.st_mode))) {
		free(path);
		return 0;
	}
	return add(files, path);
}

static int add_directory(struct import_files *files, const char *path, bool (*is_member)(const char *name))
{
	size_t first = files->cnt;
	DIR *directory = opendir(path);
	struct dirent *entry;
	int err = 0;

	if (!directory)
		return -errno;
	while (!err && (entry = readdir(directory))) {
		if (entry->d_name[0] != '.' && (!is_member || is_member(entry->d_name)))
			err = add_member(files, path, entry->d_name);
	}
	closedir(directory);
	if (!err && files->cnt == first)
		return -ENOENT;
	if (!err)
		qsort(files->paths + first, files->cnt - first, sizeof(*files->paths), compare_names);
	return err;
}

static bool is_directory(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int import_files_list(struct import_files *files, const char *const *paths, size_t path_cnt,
		      bool (*is_member)(const char *name), struct error *error)
{
	int err = 0;

	*files = (struct import_files){ 0 };
	for (size_t i = 0; !err && i < path_cnt; i++) {
		bool is_folder = is_directory(paths[i]);

		err = is_folder ? add_directory(files, paths[i], is_member) : add(files, strdup(paths[i]));
		if (err == -ENOENT && is_folder)
			error_set(error, "there is no file of this format in '%s'", paths[i]);
		else if (err)
			error_set(error, "can't read '%s': %s", paths[i], strerror(-err));
	}
	if (err)
		import_files_release(files);
	return err;
}

void import_files_release(struct import_files *files)
{
	for (size_t i = 0; i < files->cnt; i++)
		free(files->paths[i]);
	free(files->paths);
	*files = (struct import_files){ 0 };
}
