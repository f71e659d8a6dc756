/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files that an import reads: those that were named, and for a directory
 * those in it, in the order of the numbers in their names (trace-2 comes before
 * trace-10).
 */
#ifndef IMPORT_FILES_H
#define IMPORT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct import_files {
	char **paths;
	size_t cnt;
	uint64_t bytes; /* of all of them; UINT64_MAX: one is no regular file */
};

/* is_member: of the names in a directory; NULL: all. A negative errno, and `error` says why: it is empty. */
int import_files_list(struct import_files *files, const char *const *paths, size_t path_cnt,
		      bool (*is_member)(const char *name), struct error *error);

void import_files_release(struct import_files *files);

#endif
