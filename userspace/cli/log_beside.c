/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/log_beside.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

int log_beside_init(struct log_beside *beside, const char *path)
{
	uint32_t number = (uint32_t)getpid();
	struct stat status;

	*beside = (struct log_beside){ .path = path };
	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return S_ISDIR(status.st_mode) ? -EISDIR : 0;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0 && errno != EAGAIN)
		return -errno;
	if (asprintf(&beside->name, "%s.%08x", path, number) < 0) {
		beside->name = NULL;
		return -ENOMEM;
	}
	return 0;
}

const char *log_beside_name(const struct log_beside *beside)
{
	return beside->name ? beside->name : beside->path;
}

static void forget(struct log_beside *beside)
{
	free(beside->name);
	beside->name = NULL;
}

int log_beside_commit(struct log_beside *beside)
{
	int err = beside->name && rename(beside->name, beside->path) ? -errno : 0;

	if (err)
		unlink(beside->name);
	forget(beside);
	return err;
}

void log_beside_abort(struct log_beside *beside)
{
	char *partial;

	if (beside->name && asprintf(&partial, "%s.partial", beside->name) >= 0) {
		unlink(partial);
		free(partial);
	}
	forget(beside);
}
