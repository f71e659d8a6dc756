/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/options/txtrace_path.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int txtrace_path(char path[PATH_MAX])
{
	static const char name[] = "txtrace";
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof(name));
	char *slash;

	if (length < 0)
		return -errno;
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return -ENOENT;
	strcpy(slash + 1, name);
	return 0;
}
