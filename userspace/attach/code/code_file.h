/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file whose code a traced process has mapped: held open, so that it can be
 * read when the process and its name are gone. What is needed of the ELF file,
 * which may be anything, is read by the unwinder's process; there, and in tests
 * that have none, by pread, once.
 */
#ifndef CODE_FILE_H
#define CODE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/code/unwind_table.h"
#include "attach/code/unwinder.h"

#define CODE_FILE_NAME_SIZE 64
#define CODE_FILE_UNWIND_MAX (64u << 20)  /* bytes of a longer .eh_frame are not read */

struct code_file {
	uint32_t number; /* the owner's */
	int fd;
	char name[CODE_FILE_NAME_SIZE]; /* the last part of its path, cut off if it is longer; any bytes */
	/* or another library in which programs wait: the C library, its threads, the C++ library */
	bool is_libc;
	struct code_segments segments;
	struct unwinder *unwinder; /* has the file, too, and reads it; NULL: we do */

	/* without an unwinder */
	uint64_t unwind_address; /* of .eh_frame_hdr; 0: none */
	struct unwind_table unwind;
	bool has_unwind; /* it has been read, or could not be */
};

/* path: as /proc tells it. The fd is taken over. NULL: no memory; then the fd is still the caller's. */
struct code_file *code_file_new(uint32_t number, int fd, const char *path);

/* The same, read by the unwinder, which lives as long. */
struct code_file *code_file_new_outside(struct unwinder *unwinder, uint32_t number, int fd, const char *path);
void code_file_free(struct code_file *file); /* NULL is allowed */

/* The address that the file itself has for the place at this offset; false: it has none. */
bool code_file_address(const struct code_file *file, uint64_t offset, uint64_t *address);

/* What unwind_table_find() says; the table is read when it is asked for the first time. */
bool code_file_unwind(struct code_file *file, uint64_t address, struct unwind_row *row);

#endif
