/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocks of a log, one by one, as they stand in the file: for tools that
 * copy them as they are, or check what the blocks say of themselves. It does
 * not search: what is between sound blocks is the reader's business
 * (txtrace/log.h).
 */
#ifndef BLOCK_FILE_H
#define BLOCK_FILE_H

#include "log/format/log_header.h"

struct block_file;

/* 0 or a negative errno. */
int block_file_open(struct block_file **file, const char *path);
void block_file_close(struct block_file *file); /* NULL is allowed */

/*
 * The file's header as it stands, if it is sound: its length; 0 if it is not;
 * or a negative errno. *bytes are the file's, until the next call.
 */
int64_t block_file_read_header(struct block_file *file, const uint8_t **bytes, struct txtrace_log_info *info);

/*
 * 1: a sound block stands at offset: its header and the checksum of its payload
 * are right, and it is of a major version that is known; 0: none does; or a
 * negative errno.
 */
int block_file_load(struct block_file *file, uint64_t offset);

/* Whether a sound footer stands at offset. */
bool block_file_has_footer(struct block_file *file, uint64_t offset, uint64_t *index_offset,
			   uint32_t *index_bytes);

uint64_t block_file_bytes(const struct block_file *file);

/* Of the block that was loaded last; header and payload as they are stored. */
const struct log_block *block_file_block(const struct block_file *file);
const uint8_t *block_file_header(const struct block_file *file);
const uint8_t *block_file_payload(const struct block_file *file);

/* Unpacks that block. 0, -EBADMSG: it makes no sense, -EPROTONOSUPPORT: an unknown codec, -ENOMEM. */
int block_file_unpack(struct block_file *file);

/* Its payload, unpacked: raw_bytes of it. */
const uint8_t *block_file_raw(const struct block_file *file);

/*
 * The records of a batch, after it was unpacked: 1 and *record filled; 0: no
 * more; -EBADMSG: the rest makes no sense.
 */
int block_file_next(struct block_file *file, struct txtrace_record *record);

#endif
