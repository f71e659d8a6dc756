/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of the threads of a capture at the end of a file: a wait that
 * goes on in the next one has its reason and its object there.
 *
 *	err = block_memory_take(memory, path, info, &rows);    before a file is sent
 *	... block_rows_add(rows, ...) for each record
 *	block_memory_keep(memory, info, rows);                 once it was sent
 *	block_memory_drop(rows);                               or if it was not
 */
#ifndef BLOCK_MEMORY_H
#define BLOCK_MEMORY_H

#include <stdint.h>

#include "sql/block_rows.h"
#include "txtrace/log.h"

#define BLOCK_MEMORY_CAPTURES 8 /* those that were sent last */

/* All zero at first. */
struct block_memory {
	struct kept_rows {
		uint8_t capture_id[16];
		uint32_t next_part;
		uint64_t number;	 /* by when it was kept */
		struct block_rows *rows; /* NULL: there is none */
	} kept[BLOCK_MEMORY_CAPTURES];
	uint64_t kept_cnt; /* in all */
};

void block_memory_release(struct block_memory *memory);

/*
 * Of the file before in the same capture. If that was not sent just before, the
 * file is read again; if there is none any more, nothing is known. 0 or -ENOMEM.
 */
int block_memory_take(struct block_memory *memory, const char *path, const struct txtrace_log_info *info,
		      struct block_rows **rows);

/* info: of the file that was sent. The rows are the memory's from then on. */
void block_memory_keep(struct block_memory *memory, const struct txtrace_log_info *info,
		       struct block_rows *rows);

void block_memory_drop(struct block_rows *rows); /* NULL is allowed */

#endif
