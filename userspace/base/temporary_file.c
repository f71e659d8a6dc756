/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/temporary_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_usable(const char *folder)
{
	struct stat status;

	return folder && *folder && stat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
	       access(folder, W_OK | X_OK) == 0;
}

/* The order is that of SQLite, see https://sqlite.org/tempfiles.html#tempdir. */
const char *temporary_folder(void)
{
	const char *const folders[] = { getenv("SQLITE_TMPDIR"), getenv("TMPDIR"), "/var/tmp", "/usr/tmp",
					"/tmp" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (is_usable(folders[i]))
			return folders[i];
	}
	return ".";
}

int temporary_file_open(char **path)
{
	char *made;
	int fd;

	if (asprintf(&made, "%s/txtrace-XXXXXX", temporary_folder()) < 0)
		return -ENOMEM;
	fd = mkostemp(made, O_CLOEXEC);
	if (fd < 0) {
		fd = -errno;
	} else if (path) {
		*path = made;
		return fd;
	} else {
		unlink(made);
	}
	free(made);
	return fd;
}
