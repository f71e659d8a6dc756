/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where batches of Sui's transaction trace go: to one output, or to the files
 * tx-trace-N.bin of a directory. Of an import, these are the files that it came
 * from. Otherwise a new one begins once the one before has 100 MiB, as Sui's
 * writer does it.
 */
#ifndef SUI_FILES_H
#define SUI_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "txtrace/log.h"

struct sui_file_mark {
	uint64_t file;
	uint64_t batch; /* its first one */
};

struct sui_files {
	int directory; /* -1: there is one output alone */
	FILE *out;     /* NULL: no file is open */
	uint64_t next_number;
	struct sui_file_mark *marks; /* of files to come, by their first batch */
	size_t mark_cnt, mark_size;
	bool has_marks; /* there were some */
};

/* out NULL: the files are made in the directory. */
void sui_files_init(struct sui_files *files, FILE *out, int directory);
void sui_files_release(struct sui_files *files);

/* "file NUMBER BATCH", as in log/format/sui_marks.h. 1: it was one; 0: it is called otherwise; -ENOMEM. */
int sui_files_mark(struct sui_files *files, const struct txtrace_string *name);

/* *out: where the batch of that number goes. 0 or a negative errno. */
int sui_files_choose(struct sui_files *files, uint64_t batch, FILE **out);

/* At the end. 0 or what writing failed with. */
int sui_files_finish(struct sui_files *files);

#endif
