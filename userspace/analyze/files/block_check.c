/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/files/block_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/record_table.h"
#include "base/string_pool.h"
#include "log/copy/block_file.h"
#include "log/format/varint.h"

/* What an entry of the index says, or what the batches that it stands for add up to. */
struct entry {
	uint64_t offset;
	uint64_t batch_cnt;
	uint64_t record_cnt;
	uint64_t first_ns;
	uint64_t last_ns;
};

/* The index is read first, so that memory is bounded by it: it is at most a batch long. */
struct blocks {
	struct log_check *check;
	struct block_file *file;
	uint8_t *index; /* its payload; NULL: there is none */
	uint64_t index_offset;
	const uint8_t *at; /* in the index: the next entry */
	const uint8_t *end;
	uint64_t entry_cnt; /* that are left */
	struct entry entry; /* the one that the next batch belongs to, or the last one */
	struct entry sum;   /* of its batches, so far */
	bool has_too_few;   /* entries; said */
	struct string_pool *labels; /* of the index */
	uint64_t *span_cnts;        /* in the log, by number of the label */
	uint64_t other_cnt;         /* spans in the log with other labels */
};

static void complain(struct blocks *blocks, const char *what)
{
	log_check_complain(blocks->check, LOG_CHECK_INDEX, "%s", what);
}

/* ---- the index ---- */

static bool read_entry(const uint8_t **at, const uint8_t *end, struct entry *entry)
{
	uint64_t offset, first, length;

	if (!leb128_get(at, end, &offset) || !leb128_get(at, end, &entry->batch_cnt) ||
	    !leb128_get(at, end, &entry->record_cnt) || !leb128_get(at, end, &first) ||
	    !leb128_get(at, end, &length))
		return false;
	entry->offset += offset;
	entry->first_ns += unzigzag(first);
	entry->last_ns = entry->first_ns + length;
	return true;
}

static bool read_label(const uint8_t **at, const uint8_t *end, uint64_t *span_cnt,
		       struct txtrace_string *label)
{
	uint64_t length;

	if (!leb128_get(at, end, span_cnt) || !leb128_get(at, end, &length) || length > (size_t)(end - *at))
		return false;
	*label = (struct txtrace_string){ (const char *)*at, length };
	*at += length;
	return true;
}

/*
 * Where the labels begin: behind all entries, and the number of spans with other labels, and their own.
 * False: it makes no sense.
 */
static bool find_labels(const struct blocks *blocks, const uint8_t **at, uint64_t *other_cnt,
			uint64_t *label_cnt)
{
	struct entry entry = { 0 };

	*at = blocks->at;
	for (uint64_t i = 0; i < blocks->entry_cnt; i++) {
		if (!read_entry(at, blocks->end, &entry))
			return false;
	}
	return leb128_get(at, blocks->end, other_cnt) && leb128_get(at, blocks->end, label_cnt) &&
	       *label_cnt <= (uint64_t)(blocks->end - *at);
}

static int remember_labels(struct blocks *blocks)
{
	uint64_t other_cnt, label_cnt, span_cnt;
	struct txtrace_string label;
	const uint8_t *at;
	uint32_t number;
	int err = 0;

	if (!find_labels(blocks, &at, &other_cnt, &label_cnt))
		return 0;
	blocks->span_cnts = calloc(label_cnt + 1, sizeof(*blocks->span_cnts));
	if (!blocks->span_cnts)
		return -ENOMEM;
	for (uint64_t i = 0; !err && i < label_cnt && read_label(&at, blocks->end, &span_cnt, &label); i++)
		err = string_pool_add(blocks->labels, label.bytes, label.length, &number);
	return err;
}

static int read_index(struct blocks *blocks)
{
	uint64_t bytes = block_file_bytes(blocks->file), offset;
	const struct log_block *block;
	uint32_t length;
	int result;

	if (bytes < LOG_FOOTER_BYTES ||
	    !block_file_has_footer(blocks->file, bytes - LOG_FOOTER_BYTES, &offset, &length))
		return 0;
	result = block_file_load(blocks->file, offset);
	block = block_file_block(blocks->file);
	if (result <= 0 || block->type != LOG_BLOCK_INDEX)
		return result < 0 ? result : 0;
	result = block_file_unpack(blocks->file);
	if (result)
		return result == -ENOMEM ? result : 0;
	blocks->index = malloc(block->raw_bytes + (size_t)1);
	if (!blocks->index)
		return -ENOMEM;
	memcpy(blocks->index, block_file_raw(blocks->file), block->raw_bytes);
	blocks->index_offset = offset;
	blocks->at = blocks->index;
	blocks->end = blocks->index + block->raw_bytes;
	if (!leb128_get(&blocks->at, blocks->end, &blocks->entry_cnt))
		blocks->entry_cnt = 0;
	return remember_labels(blocks);
}

/* ---- batches ---- */

/*
 * Whether the header's times are the least and the greatest one; of records that this version does not know
 * they may be less or more.
 */
static bool has_right_times(const struct log_block *block, const struct entry *found)
{
	if (found->record_cnt == 0)
		return true;
	if (found->record_cnt < block->record_cnt)
		return block->first_ns <= found->first_ns && block->last_ns >= found->last_ns;
	return block->first_ns == found->first_ns && block->last_ns == found->last_ns;
}

static void count_span(struct blocks *blocks, const struct txtrace_string *label)
{
	uint32_t number = string_pool_find(blocks->labels, label->bytes, label->length);

	if (number == STRING_POOL_NONE)
		blocks->other_cnt++;
	else
		blocks->span_cnts[number]++;
}

static int read_batch(struct blocks *blocks, struct entry *found)
{
	struct txtrace_record record;
	int result = block_file_unpack(blocks->file);

	while (!result && (result = block_file_next(blocks->file, &record)) > 0) {
		uint64_t time_ns = record_finished_ns(&record);

		if (found->record_cnt == 0 || time_ns < found->first_ns)
			found->first_ns = time_ns;
		if (found->record_cnt == 0 || time_ns > found->last_ns)
			found->last_ns = time_ns;
		found->record_cnt++;
		if (record.kind == TXTRACE_RECORD_SPAN)
			count_span(blocks, &record.span.label);
		result = 0;
	}
	return result;
}

/* The batch belongs to the entry that is not complete yet, or to the next one. */
static void compare_with_index(struct blocks *blocks, const struct entry *batch)
{
	struct entry *entry = &blocks->entry, *sum = &blocks->sum;

	if (blocks->has_too_few)
		return;
	if (sum->batch_cnt == entry->batch_cnt) {
		if (blocks->entry_cnt == 0 || !read_entry(&blocks->at, blocks->end, entry)) {
			blocks->has_too_few = true;
			complain(blocks, "it lacks batches of the log");
			return;
		}
		blocks->entry_cnt--;
		log_check_count(blocks->check, LOG_CHECK_INDEX);
		*sum = *batch;
	} else {
		sum->batch_cnt++;
		sum->record_cnt += batch->record_cnt;
		sum->first_ns = batch->first_ns < sum->first_ns ? batch->first_ns : sum->first_ns;
		sum->last_ns = batch->last_ns > sum->last_ns ? batch->last_ns : sum->last_ns;
	}
	if (sum->batch_cnt >= entry->batch_cnt && memcmp(entry, sum, sizeof(*sum)) != 0) {
		log_check_complain(blocks->check, LOG_CHECK_INDEX,
				   "its entry for byte %" PRIu64 " is wrong: at byte %" PRIu64 " are %" PRIu64
				   " records from %" PRIu64 " to %" PRIu64 " ns",
				   entry->offset, sum->offset, sum->record_cnt, sum->first_ns, sum->last_ns);
		*sum = *entry; /* go on with the next */
	}
}

static int check_batch(struct blocks *blocks, uint64_t offset)
{
	const struct log_block *block = block_file_block(blocks->file);
	struct entry found = { .offset = offset };
	int err = read_batch(blocks, &found);

	if (err)
		return err;
	log_check_count(blocks->check, LOG_CHECK_BATCHES);
	if (!has_right_times(block, &found))
		log_check_complain(blocks->check, LOG_CHECK_BATCHES,
				   "the batch at byte %" PRIu64 " says that its records are from %" PRIu64
				   " to %" PRIu64 " ns; they are from %" PRIu64 " to %" PRIu64 " ns",
				   offset, block->first_ns, block->last_ns, found.first_ns, found.last_ns);
	if (blocks->index)
		compare_with_index(blocks, &(struct entry){ offset, 1, block->record_cnt, block->first_ns,
							    block->last_ns });
	return 0;
}

/* ---- the end ---- */

static void check_labels(struct blocks *blocks, const uint8_t *at, uint64_t label_cnt)
{
	struct txtrace_string label;
	uint64_t span_cnt;

	for (uint64_t i = 0; i < label_cnt; i++) {
		if (!read_label(&at, blocks->end, &span_cnt, &label)) {
			complain(blocks, "it makes no sense");
			return;
		}
		log_check_count(blocks->check, LOG_CHECK_INDEX);
		if (blocks->span_cnts[string_pool_find(blocks->labels, label.bytes, label.length)] !=
		    span_cnt)
			log_check_complain(blocks->check, LOG_CHECK_INDEX,
					   "it counts %" PRIu64 " spans with label %" PRIu64
					   ", the log has others",
					   span_cnt, i + 1);
	}
}

static void check_index(struct blocks *blocks, bool has_one)
{
	uint64_t other_cnt, label_cnt;
	const uint8_t *at;

	if (!has_one) {
		complain(blocks, "there is none, as the log was not closed; 'txtrace repair' makes one");
	} else if (!blocks->index) {
		complain(blocks, "the end of the log does not say where it is");
	} else {
		if (blocks->entry_cnt > 0 || blocks->sum.batch_cnt != blocks->entry.batch_cnt)
			complain(blocks, "it has batches that are not in the log");
		if (!find_labels(blocks, &at, &other_cnt, &label_cnt) || !blocks->span_cnts) {
			complain(blocks, "it makes no sense");
			return;
		}
		check_labels(blocks, at, label_cnt);
		if (other_cnt != blocks->other_cnt)
			log_check_complain(blocks->check, LOG_CHECK_INDEX,
					   "it counts %" PRIu64
					   " spans with other labels, the log has %" PRIu64,
					   other_cnt, blocks->other_cnt);
	}
}

static int check_blocks(struct blocks *blocks, uint64_t offset, block_check_tell tell, void *context)
{
	uint64_t total_bytes = block_file_bytes(blocks->file);
	bool has_index = false;
	int result;

	while ((result = block_file_load(blocks->file, offset)) > 0) {
		const struct log_block *block = block_file_block(blocks->file);
		uint64_t next = offset + block->header_bytes + block->stored_bytes;

		has_index |= block->type == LOG_BLOCK_INDEX;
		result = block->type == LOG_BLOCK_BATCH ? check_batch(blocks, offset) : 0;
		if (result < 0)
			return result;
		offset = next;
		if (tell)
			tell(context, offset, total_bytes);
	}
	if (result == 0)
		check_index(blocks, has_index);
	return result;
}

int block_check(struct log_check *check, const char *path, block_check_tell tell, void *context)
{
	struct blocks blocks = { .check = check };
	struct txtrace_log_info info;
	const uint8_t *header;
	int64_t offset;
	int err = block_file_open(&blocks.file, path);

	if (err)
		return err;
	blocks.labels = string_pool_new();
	err = blocks.labels ? read_index(&blocks) : -ENOMEM;
	offset = err ? err : block_file_read_header(blocks.file, &header, &info);
	err = offset < 0 ? (int)offset : check_blocks(&blocks, (uint64_t)offset, tell, context);
	block_file_close(blocks.file);
	string_pool_free(blocks.labels);
	free(blocks.index);
	free(blocks.span_cnts);
	return err;
}
