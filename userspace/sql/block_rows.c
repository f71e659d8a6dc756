/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql/block_rows.h"

#include <errno.h>
#include <string.h>

#define FINDER_BYTES (128u << 20)
#define NAMES_BYTES (32u << 20)

void block_rows_release(struct block_rows *rows)
{
	wait_finder_free(rows->finder);
	if (rows->has_names)
		fd_names_release(&rows->names);
	rows->finder = NULL;
	rows->has_names = false;
}

/* Threads and descriptors of another capture are others. */
static int begin_capture(struct block_rows *rows, const struct txtrace_log_info *info)
{
	int err;

	block_rows_release(rows);
	rows->finder = wait_finder_new(FINDER_BYTES, NULL);
	err = fd_names_init(&rows->names, NAMES_BYTES);
	rows->has_names = true;
	rows->has_begun = true;
	syscall_table_init(&rows->syscalls, info->kernel);
	return rows->finder ? err : -ENOMEM;
}

static void describe_block(struct block_rows *rows, const struct wait *wait)
{
	struct wait_object object = wait_object_of(&rows->syscalls, wait);
	bool is_known = wait->reason != WAIT_REASON_UNKNOWN;
	const struct syscall_row *call = is_known && wait->syscall_nr >= 0
						 ? syscall_table_get(&rows->syscalls, wait->syscall_nr)
						 : NULL;
	struct sql_block *block = &rows->block;

	*block = (struct sql_block){
		.begin_ns = wait->begin_ns,
		.end_ns = wait->end_ns,
		.blocked_ns = wait->blocked_ns,
		.object = wait->object,
		.pid = wait->pid,
		.tid = wait->tid,
		.syscall_nr = wait->syscall_nr,
		.reason = wait->reason,
		.has_reason = is_known,
		.object_kind = (uint8_t)object.kind,
		.has_wake = wait->wake != NULL,
	};
	if (call)
		block->syscall = (struct txtrace_string){ call->name, strlen(call->name) };
	if (object.kind == WAIT_OBJECT_FD)
		block->object_name = fd_names_get(&rows->names,
						  fd_names_find(&rows->names, object.pid, object.value));
	if (wait->wake)
		block->wake = wait->wake->wake;
}

int block_rows_add(struct block_rows *rows, const struct txtrace_record *record,
		   const struct txtrace_log_info *info, bool begins_capture)
{
	struct wait wait;
	int result = 0;

	if (record->kind == TXTRACE_RECORD_DAMAGE)
		return 0;
	if (!rows->has_begun || begins_capture)
		result = begin_capture(rows, info);
	if (!result && record->kind == TXTRACE_RECORD_OBJECT)
		result = fd_names_add(&rows->names, &record->object);
	if (!result)
		result = wait_finder_add(rows->finder, record, &wait);
	if (result > 0)
		describe_block(rows, &wait);
	return result;
}
