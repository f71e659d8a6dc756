/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of the table of blocks, which is derived: records in, a row for each
 * wait of a thread out.
 */
#ifndef BLOCK_ROWS_H
#define BLOCK_ROWS_H

#include "analyze/fd_names.h"
#include "analyze/wait/wait_sums.h"
#include "sql/sql_table.h"

/* All zero before the first record. */
struct block_rows {
	struct sql_block block; /* that was told last; its strings live until the next record */
	struct wait_finder *finder;
	struct fd_names names;
	struct syscall_table syscalls;
	bool has_names;
	bool has_begun;
};

/*
 * Any record. info: of its file; begins_capture: it is of another capture than
 * those before. 1: there is a block, 0: there is none, or -ENOMEM.
 */
int block_rows_add(struct block_rows *rows, const struct txtrace_record *record,
		   const struct txtrace_log_info *info, bool begins_capture);
void block_rows_release(struct block_rows *rows);

#endif
