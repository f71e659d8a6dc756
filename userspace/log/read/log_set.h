/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of a log, in the order in which they are read: by the start of
 * their capture, then by their part of it. Only names and what orders them are
 * kept; none of them stays open.
 */
#ifndef LOG_SET_H
#define LOG_SET_H

#include "log/read/block_walk.h"

struct log_set_file {
	char *path;
	uint64_t bytes;
	uint64_t device; /* with inode: which file it is, by whatever name */
	uint64_t inode;
	bool has_header; /* false: it is damaged; what follows is what its first block says, or a neighbour */
	uint8_t capture_id[16];
	uint8_t boot_id[16];
	uint64_t start_ns;       /* of the capture */
	uint64_t first_sequence; /* of the file */
	uint32_t part;
};

struct log_set {
	struct log_set_file *files;
	size_t cnt;
	size_t capacity;
	uint64_t bytes;  /* of all files */
	char *bad_path;  /* after a failure: what it was about; NULL: nothing in particular */
	char *other_path; /* the other of two that do not go together */
};

/* All zero is an empty set. */
void log_set_release(struct log_set *set);

/*
 * Adds a file, or all logs in a folder: other files in it are left alone, and
 * so are links. 0, or a negative errno as of block_walk_open(); -ENOENT:
 * nothing is there.
 */
int log_set_add(struct log_set *set, const char *path);

/* Sorts. 0; -EXDEV: they are not all of one boot; -EEXIST: two are the same part of one capture. */
int log_set_arrange(struct log_set *set);

/* Fills in what `walk`, just opened, says of its file. */
void log_set_describe(struct block_walk *walk, struct log_set_file *file);

bool log_set_is_same_capture(const struct log_set_file *a, const struct log_set_file *b);

#endif
