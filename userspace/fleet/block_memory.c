/* SPDX-License-Identifier: BSD-2-Clause */
#include "fleet/block_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/read/log_family.h"

void block_memory_drop(struct block_rows *rows)
{
	if (rows)
		block_rows_release(rows);
	free(rows);
}

void block_memory_release(struct block_memory *memory)
{
	for (size_t i = 0; i < BLOCK_MEMORY_CAPTURES; i++)
		block_memory_drop(memory->kept[i].rows);
	*memory = (struct block_memory){ 0 };
}

static struct block_rows *take_kept(struct block_memory *memory, const struct txtrace_log_info *info)
{
	for (size_t i = 0; i < BLOCK_MEMORY_CAPTURES; i++) {
		struct kept_rows *kept = &memory->kept[i];
		struct block_rows *rows = kept->rows;

		if (!rows || kept->next_part != info->part ||
		    memcmp(kept->capture_id, info->capture_id, sizeof(kept->capture_id)) != 0)
			continue;
		kept->rows = NULL;
		return rows;
	}
	return NULL;
}

static int read_log(struct block_rows *rows, struct txtrace_log *log)
{
	const struct txtrace_log_info *info = txtrace_log_info(log);
	struct txtrace_record record;
	int result = 0;

	while (result >= 0 && txtrace_log_next(log, &record) > 0)
		result = block_rows_add(rows, &record, info, false);
	return result < 0 ? result : 0;
}

/* If it can't be found or read, nothing is known of it. */
static int read_before(struct block_rows *rows, const char *path, const struct txtrace_log_info *info)
{
	char *base = log_family_base(path), *before = NULL;
	struct txtrace_log *log = NULL;
	uint32_t found;
	int err = 0;

	if (!base)
		return -ENOMEM;
	if (log_family_find(base, info->capture_id, info->part - 1, &before, &found) == 1 &&
	    found == info->part - 1 && !txtrace_log_open(&log, before))
		err = read_log(rows, log);
	txtrace_log_close(log);
	free(before);
	free(base);
	return err;
}

int block_memory_take(struct block_memory *memory, const char *path, const struct txtrace_log_info *info,
		      struct block_rows **rows)
{
	int err = 0;

	*rows = take_kept(memory, info);
	if (*rows)
		return 0;
	*rows = calloc(1, sizeof(**rows));
	if (!*rows)
		return -ENOMEM;
	if (info->part > 0)
		err = read_before(*rows, path, info);
	if (err) {
		block_memory_drop(*rows);
		*rows = NULL;
	}
	return err;
}

void block_memory_keep(struct block_memory *memory, const struct txtrace_log_info *info,
		       struct block_rows *rows)
{
	struct kept_rows *oldest = &memory->kept[0];

	for (size_t i = 0; i < BLOCK_MEMORY_CAPTURES && oldest->rows; i++)
		if (!memory->kept[i].rows || memory->kept[i].number < oldest->number)
			oldest = &memory->kept[i];
	block_memory_drop(oldest->rows);
	*oldest = (struct kept_rows){ .next_part = info->part + 1,
				      .number = ++memory->kept_cnt,
				      .rows = rows };
	memcpy(oldest->capture_id, info->capture_id, sizeof(oldest->capture_id));
}
