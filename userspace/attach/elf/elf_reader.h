/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ELF files of traced programs, which may be anything, are read by processes
 * without privilege (txtrace-elf): one for each file, which has that file and a
 * socket, and a deadline. We open the file, and believe of an answer no more
 * than that it is well formed: all counts, offsets and strings are checked
 * against the file's size. A process that crashes, takes too long or talks
 * nonsense is killed, and its file counts as unreadable.
 *
 * Each process that fails halves the time that later ones get, so that many bad
 * files cannot stop the recorder for long.
 *
 *	elf_reader_new(&reader, &settle);          before anything is opened that nobody else may hold
 *	elf_reader_notes(reader, &notes, fd);      as elf_notes_read(), …
 *	elf_reader_functions(reader, &functions, fd);
 *	elf_reader_exits(&functions, parts, cnt, &exits);
 *	elf_reader_take_news(reader, &news);       once in a while: what failed
 *	elf_reader_free(reader);
 *
 * A reader of NULL reads in this process: for tests.
 */
#ifndef ELF_READER_H
#define ELF_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/elf/elf_functions.h"
#include "attach/elf/elf_notes.h"
#include "attach/elf/elf_request.h"
#include "attach/elf/elf_tls.h"
#include "attach/elf/function_count.h"
#include "attach/elf/function_exits.h"

struct elf_reader;

/* negative errno: of socketpair, pipe, fork */
int elf_reader_new(struct elf_reader **reader, const struct elf_settle *settle);
void elf_reader_free(struct elf_reader *reader); /* NULL is allowed; ends the processes */

/* Each as the function that reads; -EIO: the process failed. */
int elf_reader_notes(struct elf_reader *reader, struct elf_notes *notes, int fd);
int elf_reader_count(struct elf_reader *reader, struct function_count *count, int fd);
int elf_reader_context(struct elf_reader *reader, struct elf_tls *tls, int fd); /* elf_tls_read_context() */

/* Keeps the process until elf_functions_release(), for elf_reader_exits(). */
int elf_reader_functions(struct elf_reader *reader, struct elf_functions *functions, int fd);
int elf_reader_exits(const struct elf_functions *functions, const struct elf_function *const *parts,
		     size_t part_cnt, struct function_exits *exits);

struct elf_reader_news {
	uint64_t file_cnt; /* that could not be read since it was asked last */
	char path[256];    /* of the first of them; any bytes, cut off if it is longer */
	const char *why;
};

/* False: nothing. */
bool elf_reader_take_news(struct elf_reader *reader, struct elf_reader_news *news);

/* ---- for elf_functions_release() ---- */

struct elf_talk;
void elf_talk_end(struct elf_talk *talk); /* NULL is allowed */

#endif
