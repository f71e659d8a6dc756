/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An input of an import, read from front to back: a file, or standard input. It
 * is unpacked on the way if it is in gzip's or zstd's format. Nothing in it is
 * trusted. Memory: 128 KiB, what peek is asked for, and the window of a zstd
 * frame, which is at most 128 MiB.
 *
 *	struct import_source *source;
 *	int err = import_source_open(&source, path);
 *
 *	while (!err && (bytes = import_source_peek(source, 4, &length)) && length == 4) {
 *		use(bytes);
 *		import_source_skip(source, 4);
 *	}
 *	err = import_source_error(source);
 *	import_source_close(source);
 */
#ifndef IMPORT_SOURCE_H
#define IMPORT_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct import_source;

/* "-" is standard input. Negative errno; *source is NULL then. -EISDIR: a directory. */
int import_source_open(struct import_source **source, const char *path);

/*
 * The next bytes, which stay the next ones: up to cnt of them, and *length says
 * how many; less than cnt only at the end or after an error. They live until
 * the next call. NULL if there is no memory for cnt bytes: bound what a file
 * asks for.
 */
const uint8_t *import_source_peek(struct import_source *source, size_t cnt, size_t *length);

/* Goes on behind them; the number of bytes that there were. */
uint64_t import_source_skip(struct import_source *source, uint64_t cnt);

/* Copies the next bytes and goes on behind them; the number of bytes that there were. */
size_t import_source_read(struct import_source *source, void *bytes, size_t cnt);

/* Of the next byte, in what was unpacked. */
uint64_t import_source_offset(const struct import_source *source);

/* Bytes that were read of the file, packed as they are: for progress. */
uint64_t import_source_file_offset(const struct import_source *source);

/* 0, or why the end came early: -EBADMSG the packed data are damaged or cut off; errors of read. */
int import_source_error(const struct import_source *source);

/*
 * The file, if it is a regular one and not packed: it can be read at any place,
 * and belongs to the source. -1: it can't.
 */
int import_source_plain_file(const struct import_source *source);

/* As it was given to open. */
const char *import_source_path(const struct import_source *source);

void import_source_close(struct import_source *source); /* NULL is allowed */

#endif
