/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * txtrace/log.h: read a span log.
 *
 *	struct txtrace_log *log;
 *	struct txtrace_record record;
 *	int err = txtrace_log_open(&log, "app.txtrace");
 *	while (!err && (err = txtrace_log_next(log, &record)) > 0) {
 *		if (record.kind == TXTRACE_RECORD_SPAN)
 *			use(&record.span);
 *		err = 0;
 *	}
 *	if (err)
 *		complain(txtrace_log_strerror(log, err));
 *	txtrace_log_close(log);
 *
 * Records come in the order in which they were finished: a span where it ended.
 * All times are CLOCK_MONOTONIC ns of the recording machine; txtrace_log_info()
 * tells the wall clock. Nothing in the file is trusted: a damaged part costs
 * the batch that it is in, is told as a TXTRACE_RECORD_DAMAGE where it was met,
 * and reading goes on behind it.
 *
 * Memory: whatever the file says, at most 36 MiB; with n threads that decode
 * ahead n + 2 times 40 MiB. Of a log that txtrace wrote about 2 MiB, with
 * threads n + 2 times 6 MiB. A name and 150 bytes for each file of a set. No
 * more than one file is open.
 *
 * Threads: a struct txtrace_log is used by one thread at a time; different logs
 * by different threads at once. What is called without a log may be called by
 * any thread.
 *
 * Errors are negative errno values. The library prints nothing, sets no signal
 * handler and keeps no state but that of the logs that are open.
 *
 * Programs that were built with this header run with every later library of the
 * same SONAME. Until that changes: enumerators keep their numbers, so be ready
 * for kinds, flags and reasons that are not in your header; struct
 * txtrace_record and struct txtrace_batch keep their sizes; members are added
 * only to the ends of the structs in the former, and of struct
 * txtrace_log_info, which the library alone makes. docs/library.md tells the
 * rest.
 */
#ifndef TXTRACE_LOG_H
#define TXTRACE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <txtrace/log_record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is declared from here on, and in log_record.h, is what the library exports; nothing else is. */
#pragma GCC visibility push(default)

/* A file's header. Strings are NUL-terminated, bounded, and escaped nowhere. */
struct txtrace_log_info {
	uint16_t version_major;
	uint16_t version_minor;
	uint8_t capture_id[16];     /* random */
	uint8_t boot_id[16];        /* of the machine: monotonic times compare only within one */
	uint64_t start_monotonic_ns; /* the same moment on both clocks */
	uint64_t start_realtime_ns;
	uint32_t pid;               /* of the target; 0 if there are several */
	uint32_t cpu_cnt;
	uint32_t part;              /* this file's place in its capture: 0, 1, … */
	uint64_t first_sequence;    /* of its first batch: they are numbered through all parts */
	char host[256];
	char kernel[256];           /* uname: release and machine */
	char command[256];          /* of the target */
	char recorder[64];          /* name and version */
	char options[256];
};

struct txtrace_log;

/* ---- opening ---- */

/*
 * Opens a file, or all logs in a directory as one; what else is in it is left
 * alone. -EBADMSG: not a txtrace log; -ENODATA: an empty file;
 * -EPROTONOSUPPORT: of a newer major version; -ESPIPE: a pipe or device;
 * -ENOMSG: a directory without logs. A log whose header is damaged is opened:
 * its info is then 0, and the damage is its first record.
 *
 * *log is the caller's, and to be closed also after a failure, when it is good for txtrace_log_strerror() and
 * txtrace_log_path() only. It is NULL where
 * there was no memory for it.
 */
int txtrace_log_open(struct txtrace_log **log, const char *path);

/*
 * Opens several files or directories as one log: those that a capture was
 * rotated into, and further captures of the same boot. They are read in the
 * order of the start of their capture, then of their part of it; one is open at
 * a time. A part that is missing in the middle is told as a
 * TXTRACE_RECORD_DAMAGE; those that are missing at the beginning are known by
 * the first file's info->part. -EXDEV: not all of one boot; -EEXIST: the same
 * part is there twice.
 */
int txtrace_log_open_files(struct txtrace_log **log, const char *const *paths, size_t cnt);

/*
 * Opens a file that is still being written. txtrace_log_next() returns 0 where
 * nothing more is there yet, and may be called again, say ten times a second,
 * until txtrace_log_is_at_end(). An end in the middle of something is no damage
 * as long as a recorder writes; once none holds the file any more, what is cut
 * off is told. When the file is complete and the capture goes on, so does
 * reading, in the next file. path is what was given to the recorder;
 * path.partial is followed, if that is being written, or path is not there.
 * -EAGAIN: not even its header is there yet; -EISDIR.
 */
int txtrace_log_follow(struct txtrace_log **log, const char *path);

/*
 * thread_cnt threads (at most 64) decode ahead of the reader. What is read is
 * the same for any number. 0, as after the open: none, all is done where it is
 * asked for. Before the first record only, else -EBUSY.
 */
int txtrace_log_set_threads(struct txtrace_log *log, unsigned int thread_cnt);

void txtrace_log_close(struct txtrace_log *log); /* NULL is allowed */

/*
 * A sentence about this error of the open or of the log, for a human; static or
 * owned by the log, which may be NULL.
 */
const char *txtrace_log_strerror(const struct txtrace_log *log, int err);

/* ---- reading ---- */

/*
 * The next record: 1 and *record filled, 0 at the end, or a negative errno when
 * the file itself can't be read (EIO). Strings in the record live until the
 * next call. Damage is a record, not an error.
 */
int txtrace_log_next(struct txtrace_log *log, struct txtrace_record *record);

/* After next has returned 0: it always will. Otherwise the log is being followed, and there may be more. */
bool txtrace_log_is_at_end(const struct txtrace_log *log);

/*
 * At the end: whether all of the log was closed properly. If not, the recorder
 * crashed, was killed, or is still writing.
 */
bool txtrace_log_is_complete(const struct txtrace_log *log);

/*
 * Goes to the first batch that holds a record that finished at time_ns or
 * later, or to the one with this sequence, or the next one there is: the next
 * record is its first one. From anywhere, but when following only as long as
 * reading is in the first file (-EBUSY). Indexes are used where blocks confirm
 * them; else batches are passed by their headers alone. Damage that is met on
 * the way is told before.
 */
int txtrace_log_seek_time(struct txtrace_log *log, uint64_t time_ns);
int txtrace_log_seek_batch(struct txtrace_log *log, uint64_t sequence);

/* ---- where it is ---- */

/* The header of the file that is read; at first, of the first one. */
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* functions with the names of structs */
#endif
const struct txtrace_log_info *txtrace_log_info(const struct txtrace_log *log);
#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

/*
 * The name of that file. After a failed open: of the file that is to blame, or
 * NULL. Owned by the log, until the next call.
 */
const char *txtrace_log_path(const struct txtrace_log *log);

/* All files of the log, in the order in which they are read: how many there are, and their names. */
size_t txtrace_log_file_cnt(const struct txtrace_log *log);
const char *txtrace_log_file(const struct txtrace_log *log, size_t idx);

/* How many captures they are of. */
size_t txtrace_log_capture_cnt(const struct txtrace_log *log);

struct txtrace_batch {
	uint64_t sequence;     /* in its capture */
	uint64_t offset_bytes; /* in the file */
	/* least and greatest time at which a record of it finished, as its header says */
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t record_cnt;   /* as well */
};

/* The batch of the record that was read last; false: there is none. */
bool txtrace_log_batch(const struct txtrace_log *log, struct txtrace_batch *batch);

/*
 * The wall clock (CLOCK_REALTIME ns) at time_ns, by the pair of clock readings
 * that was stored with the record that was read last: it follows a wall clock
 * that was set during the capture.
 */
uint64_t txtrace_log_realtime_ns(const struct txtrace_log *log, uint64_t time_ns);

/* How far reading has come, and how long all files are: for progress. */
void txtrace_log_progress(const struct txtrace_log *log, uint64_t *read_bytes, uint64_t *total_bytes);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
