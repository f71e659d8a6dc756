/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the file says of its records without their being read: the times in the
 * headers of batches, and the index. For logs that are not damaged; what it
 * finds goes into the checks "batches" and "index".
 */
#ifndef BLOCK_CHECK_H
#define BLOCK_CHECK_H

#include "analyze/files/log_check.h"

/* Called now and then: how far it is. */
typedef void (*block_check_tell)(void *context, uint64_t done_bytes, uint64_t total_bytes);

/* 0, or a negative errno: the file can't be read. tell may be NULL. */
int block_check(struct log_check *check, const char *path, block_check_tell tell, void *context);

#endif
