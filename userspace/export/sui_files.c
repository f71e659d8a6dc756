/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/sui_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/array.h"
#include "log/format/sui_marks.h"

#define FILE_BYTES_MAX (100u << 20) /* of Sui's writer; a file exceeds it by its last batch */
#define MARK_MAX 1000000u

void sui_files_init(struct sui_files *files, FILE *out, int directory)
{
	*files = (struct sui_files){ .directory = out ? -1 : directory, .out = out };
}

static int close_file(struct sui_files *files)
{
	FILE *file = files->out;

	if (files->directory < 0 || !file)
		return 0;
	files->out = NULL;
	errno = 0;
	if (ferror(file)) {
		fclose(file);
		return -EIO;
	}
	return fclose(file) ? (errno ? -errno : -EIO) : 0;
}

void sui_files_release(struct sui_files *files)
{
	close_file(files);
	free(files->marks);
}

int sui_files_mark(struct sui_files *files, const struct txtrace_string *name)
{
	struct sui_file_mark mark;
	char text[64];
	size_t at;
	struct sui_file_mark *marks;

	if (name->length == 0 || name->length >= sizeof(text))
		return 0;
	memcpy(text, name->bytes, name->length);
	text[name->length] = '\0';
	if (sscanf(text, SUI_FILE " %" SCNu64 " %" SCNu64, &mark.file, &mark.batch) != 2)
		return 0;
	if (files->mark_cnt >= MARK_MAX)
		return 1;
	marks = array_grow(files->marks, &files->mark_size, files->mark_cnt, sizeof(*marks));
	if (!marks)
		return -ENOMEM;
	files->marks = marks;
	for (at = files->mark_cnt++; at > 0 && files->marks[at - 1].batch > mark.batch; at--)
		files->marks[at] = files->marks[at - 1];
	files->marks[at] = mark;
	files->has_marks = true;
	return 1;
}

/* With this number, or the next one that is free: two sets may have been imported as one. */
static int open_file(struct sui_files *files, uint64_t number)
{
	char name[64];
	int fd, err = close_file(files);

	if (err)
		return err;
	do {
		snprintf(name, sizeof(name), "tx-trace-%" PRIu64 ".bin", number++);
		fd = openat(files->directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	} while (fd < 0 && errno == EEXIST); /* 0 is behind the largest one */
	if (fd < 0)
		return -errno;
	files->out = fdopen(fd, "w");
	if (!files->out) {
		close(fd);
		return -ENOMEM;
	}
	files->next_number = number;
	return 0;
}

int sui_files_choose(struct sui_files *files, uint64_t batch, FILE **out)
{
	size_t passed = 0;
	int err = 0;

	if (files->directory >= 0) {
		while (passed < files->mark_cnt && files->marks[passed].batch <= batch)
			passed++;
		if (passed > 0) {
			err = open_file(files, files->marks[passed - 1].file);
			files->mark_cnt -= passed;
			memmove(files->marks, files->marks + passed, files->mark_cnt * sizeof(*files->marks));
		} else if (!files->out || (!files->has_marks && ftello(files->out) >= FILE_BYTES_MAX)) {
			err = open_file(files, files->next_number);
		}
	}
	*out = files->out;
	return err;
}

int sui_files_finish(struct sui_files *files)
{
	/* a trace without batches is an empty file */
	int err = files->directory >= 0 && !files->out ? open_file(files, 0) : 0;

	return err ? err : close_file(files);
}
