/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which objects a transaction of Sui takes as input, which its trace does not
 * say: a text with a line for each transaction, its digest (64 hex digits or
 * base58), then its objects, separated by blanks. "#" begins a comment.
 *
 * All lines are held in memory: about 130 bytes for each transaction, 4 for
 * each object of it, and each object's name once.
 */
#ifndef SUI_LANES_H
#define SUI_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "log/format/sui_marks.h"
#include "txtrace/log.h"

struct sui_lanes;

/* 0; -ENOMEM, or another negative errno: *error says what is wrong, and in which line. */
int sui_lanes_read(struct sui_lanes **lanes, const char *path, struct error *error);
void sui_lanes_free(struct sui_lanes *lanes); /* NULL is allowed */

/* The numbers of the transaction's objects, *cnt of them; NULL: the text does not name it. */
const uint32_t *sui_lanes_of(const struct sui_lanes *lanes, const uint8_t digest[SUI_DIGEST_BYTES],
			     size_t *cnt);
struct txtrace_string sui_lanes_name(const struct sui_lanes *lanes, uint32_t object);
/* How many transactions execute with the object, to be counted by the caller. */
int64_t *sui_lanes_executing(struct sui_lanes *lanes, uint32_t object);

#endif
