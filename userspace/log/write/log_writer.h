/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log writer: records in, files of batches out (docs/log-format.md). The
 * strings of a record are copied. Buffers are made once, at the open; a record
 * that does not fit into the current batch closes it.
 *
 * Without a queue a batch is compressed and written where it is closed. With
 * one it is copied, and a thread of its own does the rest; per record there is
 * no lock, no allocation, no system call. When the queue has no room, the whole
 * batch is dropped: counted by kind, and told by a DROPPED record in the next
 * batch that gets through, at the latest at the close, which waits. An error of
 * that thread is met at the next batch or flush, or by log_writer_error().
 *
 * Memory: about 31 MiB, most of which is never touched, and the queue.
 *
 * A log may be made of several files, its parts, each of which stands alone. A
 * part ends only where its user lets it, so that what each file needs comes
 * first in it: after each piece of work that may have added records,
 *
 *	if (log_writer_is_due(writer) && (err = log_writer_turn(writer)) > 0)
 *		err = (add the threads that live and the spans that are open);
 */
#ifndef LOG_WRITER_H
#define LOG_WRITER_H

#include "log/file/log_file.h"
#include "log/format/log_format.h"
#include "txtrace/log.h"

struct log_writer;

/* What is left on disk, and what is not. */
struct log_writer_result {
	uint64_t written_bytes; /* in all files, those that were removed again included */
	uint32_t file_cnt;      /* likewise; those with records */
	struct log_file_names names;
};

/* When the next file begins, and what is kept of the older ones: only with keeps_older. */
struct log_writer_limits {
	uint64_t rotate_bytes; /* when one has about so many; 0: never */
	uint64_t rotate_ns;    /* or when it is so old, by the anchors, and has something in it; 0: never */
	uint64_t keep_cnt;     /* files, older ones and the one that is written together; 0: all */
	uint64_t keep_bytes;   /* in them. A file is then at most half as large */
};

/*
 * A flight recorder: nothing is written until log_writer_dump(), the last part
 * is kept in memory (flight_ring.h); what is older than that goes, uncounted,
 * as it should.
 */
struct log_writer_flight {
	uint64_t max_bytes; /* of memory, compressed; 0: no flight recorder */
	uint64_t span_ns;   /* what is older than this is not kept; 0: as much as there is room for */
};

/* 0 or false is the default of all. */
struct log_writer_options {
	enum log_codec codec;
	size_t batch_bytes; /* encoded, before compression, about; 0: 384 KiB */
	size_t queue_bytes; /* 0: no thread. A batch must fit in: some MiB at the default size of batches */
	void (*enter_thread)(void *context); /* that thread calls it before open returns; may be NULL */
	void *context;
	/* waits instead of dropping, and a flush waits until what was added before is on the disk */
	bool is_sync;

	bool refuses_unread; /* a pipe that nobody reads (-ENXIO), rather than wait for who reads it */
	bool keeps_older; /* what was called `path` gets a number (file_series.h) instead of being replaced */
	struct log_writer_limits limits;
	/* with it, rotation cuts the memory, and what is kept are the files of dumps; with keeps_older */
	struct log_writer_flight flight;

	struct log_writer_result *result; /* filled by close and abort; may be NULL */
};

/*
 * Makes `path` (mode 0600; until the log is complete it is path.partial, and
 * what is called `path` stays) and writes the header. The times of info are
 * filled in by the caller; its version is this build's in any case. Negative
 * errno; -EBUSY: another recorder is writing path.partial. What a crash left
 * under that name is kept (file_series.h).
 */
int log_writer_open(struct log_writer **writer, const char *path, const struct txtrace_log_info *info,
		    const struct log_writer_options *options);

/* Other limits from now on. */
void log_writer_set_limits(struct log_writer *writer, const struct log_writer_limits *limits);

/*
 * Encodes one record; writes the batch when it is full. Negative errno, final:
 * after one, only abort may be called.
 */
int log_writer_add(struct log_writer *writer, const struct txtrace_record *record);

/*
 * Writes the current batch, if it holds anything, so that a crash costs nothing
 * that was added before; looks whether the file is still there.
 */
int log_writer_flush(struct log_writer *writer);

/* Whether a turn has something to do. Costs nothing. */
bool log_writer_is_due(const struct log_writer *writer);

/*
 * Ends the file, if it is large or old enough. 1: the definitions are to be
 * added now, as a file has begun or a batch that held some was dropped.
 */
int log_writer_turn(struct log_writer *writer);

/*
 * Of a flight recorder: writes all that is in memory to a file of its own,
 * complete, which takes the name of the log; what had that gets a number. The
 * record is the last in it. Afterwards memory is empty, and a turn is due.
 * Waits for room in the queue, not for the disk.
 */
int log_writer_dump(struct log_writer *writer, const struct txtrace_record *last);

struct log_flight_stats {
	uint64_t dump_cnt;    /* files that were written */
	uint64_t dump_bytes;  /* in the last one */
	uint64_t dump_first_ns; /* the least time in it */
	uint64_t kept_bytes;  /* in memory now */
	/* batches that had to go though their segment stayed: definitions may be missing */
	uint64_t cut_cnt;
};

void log_writer_flight_stats(const struct log_writer *writer, struct log_flight_stats *stats);

/*
 * The same moment on CLOCK_MONOTONIC and CLOCK_REALTIME, for the batches that
 * are written from now on: a recorder sets it every second or so, that steps of
 * the wall clock are known. Until then it is the start of info.
 */
void log_writer_set_anchor(struct log_writer *writer, uint64_t monotonic_ns, uint64_t realtime_ns);

/*
 * Leaves a place in the sequence of batches free: readers are told that
 * something is missing here. For tools that copy a log of which a part can't be
 * read; not with a queue.
 */
int log_writer_skip(struct log_writer *writer);

/* Bytes in all files so far; records added so far. */
uint64_t log_writer_bytes(const struct log_writer *writer);
uint64_t log_writer_records(const struct log_writer *writer);

/* Of what was added so far, dropped: by kind, its time_ns is not set; and records in all. */
const struct txtrace_dropped *log_writer_dropped(const struct log_writer *writer);
uint64_t log_writer_dropped_records(const struct log_writer *writer);

/* From here on it waits for room in the queue: nothing is pressing any more. */
void log_writer_drop_no_more(struct log_writer *writer);

/* 0, or what has gone wrong meanwhile. */
int log_writer_error(const struct log_writer *writer);

/* Writes what is left, the index, and renames path.partial to path. Frees the writer in any case. */
int log_writer_close(struct log_writer *writer);

/*
 * After an error: the batches that are on disk stay as path.partial; without
 * any, it is removed. Frees the writer. NULL is allowed.
 */
void log_writer_abort(struct log_writer *writer);

#endif
