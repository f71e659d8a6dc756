/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads what other processes have in memory, have mapped, and are called, in a
 * process of its own and with a deadline: a hostile program can have such a
 * read never come back. That process has no descriptor of BPF, which would keep
 * probes in place as long as it lives; it is forked before there are any.
 *
 * A read that takes too long fails with -ETIMEDOUT, its process is killed and
 * replaced by another one, and what it was to read is not asked again
 * (attach/process/frozen_targets.h). Only the time counts in which the reading process
 * was blocked: not what it waited for a CPU, or stood still by a signal. One
 * that does not even end when it is killed is left behind; with
 * PROCESS_READER_STUCK_MAX of them nothing more is read: -EPIPE.
 *
 *	process_reader_new(&reader, &options);   before anything is opened that nobody else may hold
 *	process_reader_maps(reader, &maps, pid);
 *	process_reader_free(reader);
 *
 * Without a reader (NULL) each call reads by itself, for as long as it takes.
 * One thread at a time.
 */
#ifndef PROCESS_READER_H
#define PROCESS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/process/frozen_targets.h"
#include "attach/process/perf_map.h"
#include "attach/process/proc_maps.h"
#include "attach/process/process_string.h"

#define PROCESS_READER_STUCK_MAX 4
#define PROCESS_READER_COMMAND_MAX 1024
#define PROCESS_READER_BYTES_MAX 65536

struct process_reader;

struct process_reader_options {
	/* In each process that reads: gives up what else it may do. NULL: nothing. */
	void (*settle)(void *context, int socket_fd);
	/*
	 * A process is frozen from now on; NULL: nothing can be read any more. Each is told once. May be
	 * NULL.
	 */
	void (*tell)(void *context, const struct frozen_target *target);
	void *context;
	uid_t trusted_uid; /* whose FUSE servers are trusted as root's are; root's: nobody's else */
};

/* Negative errno: of socketpair, fork; -ENOMEM. */
int process_reader_new(struct process_reader **reader, const struct process_reader_options *options);
/* NULL is allowed; ends the processes, or leaves them to end */
void process_reader_free(struct process_reader *reader);

/* As proc_maps_read(). These, and those below: -ETIMEDOUT, -EPIPE. */
int process_reader_maps(struct process_reader *reader, struct proc_maps *maps, pid_t pid);

/*
 * As proc_mapping_open(). -EREMOTE: the file lies in a FUSE file system whose
 * server we do not trust: each use of it might wait for ever.
 */
int process_reader_open(struct process_reader *reader, const struct proc_mapping *mapping, pid_t pid);

/*
 * As process_string_from_memory(). Strings that lie behind it in the same page
 * are known for a moment, unless the process is said to have another program.
 */
void process_reader_forget(struct process_reader *reader, pid_t pid);
int process_reader_string(struct process_reader *reader, struct process_string *string, pid_t pid,
			  uint64_t address);

/* As process_bytes_from_memory(); -E2BIG: more than PROCESS_READER_BYTES_MAX. */
int process_reader_bytes(struct process_reader *reader, void *bytes, size_t size, pid_t pid,
			 uint64_t address);

/* As perf_map_read(). */
int process_reader_perf_map(struct process_reader *reader, struct perf_map *map, pid_t pid);

/*
 * What the process was called with, arguments separated by spaces, cut off and
 * terminated. Its length, 0 if it has none.
 */
ssize_t process_reader_command(struct process_reader *reader, char command[PROCESS_READER_COMMAND_MAX],
			       pid_t pid);

/* Those that are frozen. */
const struct frozen_targets *process_reader_frozen(const struct process_reader *reader);

/* What to say of an errno of the above. */
const char *process_reader_explain(int err);

/* ---- between the processes ---- */

enum reader_kind {
	READER_MAPS = 1,
	READER_OPEN = 2,
	READER_STRING = 3,
	READER_PERF_MAP = 4,
	READER_COMMAND = 5,
	READER_BYTES = 6,
};

struct reader_request {
	uint32_t kind;
	int32_t pid;
	uint64_t address;
	uint64_t start; /* of a mapping, with what follows */
	uint64_t end; /* BYTES: how many */
	uint64_t inode;
	uint32_t is_deleted;
	uint32_t path_length;
	/* the path */
};

struct reader_reply {
	int64_t result;  /* of READER_OPEN 0: an fd comes along; else a negative errno or 0 */
	uint64_t length; /* bytes that follow */
};

/* Of READER_STRING. */
struct reader_string {
	struct process_string string;
	char rest[PROCESS_STRING_PAGE_MAX]; /* of its page, from its begin on; as far as the reply reaches */
};

/* A new process that reads: its socket comes along. */
struct reader_worker {
	int32_t pid; /* 0: there are too many stuck ones */
};

/*
 * The process that forks those that read, and kills and reaps them: until the
 * socket is closed. A byte asks for another one.
 */
void process_reader_serve(int control_fd, pid_t parent, const struct process_reader_options *options);

/* Sends a message of one fd (-1: none) with these bytes. What sendmsg returns. */
ssize_t process_reader_send_fd(int socket_fd, const void *bytes, size_t size, int fd);

#endif
