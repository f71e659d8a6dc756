/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log writer: records in, a file of batches out (docs/log-format.md). The strings of a record are copied. Buffers are made once, at
 * the open; a record that does not fit into the current batch closes it.
 */
#ifndef LOG_WRITER_H
#define LOG_WRITER_H

#include "txtrace/log.h"

struct log_writer;

enum log_codec {
	LOG_CODEC_NONE = 0,
	LOG_CODEC_ZSTD = 1,
	LOG_CODEC_LZ4 = 2,
};

struct log_writer_options {
	enum log_codec codec;
	size_t batch_bytes; /* encoded, before compression, about; 0: the default */
};

/*
 * Makes `path` (mode 0600, the invoking user's under sudo; an existing regular file is replaced when the log is complete: until then it is
 * written as path.partial) and writes the header. The times of info are filled in by the caller; its version is this build's in any case.
 * Negative errno; -EBUSY: another recorder is writing path.partial. A path.partial that a crash left is kept as path.partial.1.
 */
int log_writer_open(struct log_writer **writer, const char *path, const struct txtrace_log_info *info,
		    const struct log_writer_options *options);

/* Encodes one record; writes the batch when it is full. Negative errno, final: after one, only abort may be called. */
int log_writer_add(struct log_writer *writer, const struct txtrace_record *record);

/* Writes the current batch, if it holds anything, so that a crash costs nothing that was added before. */
int log_writer_flush(struct log_writer *writer);

/*
 * The same moment on CLOCK_MONOTONIC and CLOCK_REALTIME, for the batches that are written from now on: a recorder sets it every second or so, that
 * steps of the wall clock are known. Until then it is the start of info.
 */
void log_writer_set_anchor(struct log_writer *writer, uint64_t monotonic_ns, uint64_t realtime_ns);

/*
 * Leaves a place in the sequence of batches free: readers are told that something is missing here. For tools that copy a log of which a part can't be
 * read.
 */
int log_writer_skip(struct log_writer *writer);

/* Bytes in the file so far; records added so far. */
uint64_t log_writer_bytes(const struct log_writer *writer);
uint64_t log_writer_records(const struct log_writer *writer);

/* Writes what is left, the index, and renames path.partial to path. Frees the writer in any case. */
int log_writer_close(struct log_writer *writer);

/* After an error: the batches that are on disk stay as path.partial; without any, it is removed. Frees the writer. NULL is allowed. */
void log_writer_abort(struct log_writer *writer);

#endif
