/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/named_output.h"

bool file_is_same(const char *path, const char *other)
{
	struct stat a, b;

	return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A new file next to path; its mode is that of any new file. */
static int open_beside(struct output_file *output)
{
	mode_t mask = umask(0);
	int fd, err = 0;

	umask(mask);
	if (asprintf(&output->beside, "%s.XXXXXX", output->path) < 0) {
		output->beside = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(output->beside, O_CLOEXEC);
	if (fd < 0) {
		err = -errno;
		free(output->beside);
		output->beside = NULL;
		return err;
	}
	if (fchmod(fd, 0666 & ~mask) == 0)
		output->file = fdopen(fd, "w");
	if (!output->file) {
		err = -errno;
		close(fd);
		output_file_abort(output);
	}
	return err;
}

int output_file_open(struct output_file *output, const char *path, const char *input_path, bool waits)
{
	int fd, err;

	*output = (struct output_file){ .path = path };
	if (file_is_same(path, input_path))
		return -EBUSY;
	err = named_output_special(&fd, path, waits);
	if (err)
		return err;
	if (fd < 0)
		return open_beside(output);
	output->file = fdopen(fd, "w");
	if (output->file)
		return 0;
	err = -errno;
	close(fd);
	return err;
}

int output_file_commit(struct output_file *output)
{
	int err = ferror(output->file) ? -EIO : 0;

	if (fclose(output->file) != 0)
		err = -errno;
	output->file = NULL;
	if (!err && output->beside && rename(output->beside, output->path) != 0)
		err = -errno;
	if (err) {
		output_file_abort(output);
		return err;
	}
	free(output->beside);
	output->beside = NULL;
	return 0;
}

void output_file_abort(struct output_file *output)
{
	if (output->file)
		fclose(output->file);
	if (output->beside)
		unlink(output->beside);
	free(output->beside);
	*output = (struct output_file){ .path = output->path };
}
