/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/format/log_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/varint.h"

int log_index_init(struct log_index *index)
{
	int err;

	memset(index, 0, sizeof(*index));
	index->batches_per_entry = 1;
	index->entries = malloc(LOG_INDEX_ENTRY_MAX * sizeof(*index->entries));
	index->span_cnts = calloc(LOG_INDEX_LABEL_MAX, sizeof(*index->span_cnts));
	err = intern_strings_init(&index->labels, LOG_INDEX_LABEL_MAX, LOG_INDEX_LABEL_BYTES);
	return err || !index->entries || !index->span_cnts ? -ENOMEM : 0;
}

void log_index_release(struct log_index *index)
{
	free(index->entries);
	free(index->span_cnts);
	intern_strings_release(&index->labels);
}

void log_index_clear(struct log_index *index)
{
	index->entry_cnt = 0;
	index->batches_per_entry = 1;
	index->other_span_cnt = 0;
	memset(index->span_cnts, 0, index->labels.count * sizeof(*index->span_cnts));
	intern_strings_clear(&index->labels);
}

static void join(struct log_index_entry *entry, const struct log_index_entry *next)
{
	entry->first_ns = next->first_ns < entry->first_ns ? next->first_ns : entry->first_ns;
	entry->last_ns = next->last_ns > entry->last_ns ? next->last_ns : entry->last_ns;
	entry->record_cnt += next->record_cnt;
	entry->batch_cnt += next->batch_cnt;
}

static void halve(struct log_index *index)
{
	for (uint32_t i = 0; i < index->entry_cnt; i += 2) {
		index->entries[i / 2] = index->entries[i];
		join(&index->entries[i / 2], &index->entries[i + 1]);
	}
	index->entry_cnt /= 2;
	index->batches_per_entry *= 2;
}

void log_index_add_batch(struct log_index *index, const struct log_index_entry *entry)
{
	struct log_index_entry *last = index->entry_cnt ? &index->entries[index->entry_cnt - 1] : NULL;

	if (last && last->batch_cnt < index->batches_per_entry) {
		join(last, entry);
		return;
	}
	if (index->entry_cnt == LOG_INDEX_ENTRY_MAX) {
		halve(index);
		log_index_add_batch(index, entry);
		return;
	}
	index->entries[index->entry_cnt++] = *entry;
}

void log_index_add_spans(struct log_index *index, const char *label, size_t length, uint64_t span_cnt)
{
	const struct intern_strings *labels = &index->labels;
	uint32_t at = INTERN_NONE;

	if (length <= LOG_INDEX_LABEL_BYTES)
		at = intern_find_string(labels, label, (uint32_t)length);
	if (at == INTERN_NONE && labels->count < LOG_INDEX_LABEL_MAX &&
	    length <= labels->byte_capacity - labels->byte_cnt)
		at = intern_string(&index->labels, label, (uint32_t)length);
	if (at == INTERN_NONE)
		index->other_span_cnt += span_cnt;
	else
		index->span_cnts[at] += span_cnt;
}

uint32_t log_index_encode(const struct log_index *index, uint8_t *buffer)
{
	uint64_t offset = 0, time_ns = 0;
	uint8_t *at = buffer;

	at += leb128_put(at, index->entry_cnt);
	for (uint32_t i = 0; i < index->entry_cnt; i++) {
		const struct log_index_entry *entry = &index->entries[i];

		at += leb128_put(at, entry->offset - offset);
		at += leb128_put(at, entry->batch_cnt);
		at += leb128_put(at, entry->record_cnt);
		at += leb128_put(at, zigzag(entry->first_ns - time_ns));
		at += leb128_put(at, entry->last_ns - entry->first_ns);
		offset = entry->offset;
		time_ns = entry->first_ns;
	}
	at += leb128_put(at, index->other_span_cnt);
	at += leb128_put(at, index->labels.count);
	for (uint32_t i = 0; i < index->labels.count; i++) {
		uint32_t begin = intern_strings_begin(&index->labels, i),
			 length = index->labels.ends[i] - begin;

		at += leb128_put(at, index->span_cnts[i]);
		at += leb128_put(at, length);
		memcpy(at, index->labels.bytes + begin, length);
		at += length;
	}
	return (uint32_t)(at - buffer);
}

bool log_index_read(struct log_index_reader *reader, const uint8_t *payload, size_t length)
{
	*reader = (struct log_index_reader){ .at = payload, .end = payload + length };
	return leb128_get(&reader->at, reader->end, &reader->left);
}

static bool read_entry(struct log_index_reader *reader, struct log_index_entry *entry)
{
	uint64_t distance, batch_cnt, step, length;

	if (!leb128_get(&reader->at, reader->end, &distance) ||
	    !leb128_get(&reader->at, reader->end, &batch_cnt) ||
	    !leb128_get(&reader->at, reader->end, &entry->record_cnt) ||
	    !leb128_get(&reader->at, reader->end, &step) || !leb128_get(&reader->at, reader->end, &length))
		return false;
	entry->offset = reader->offset + distance;
	entry->batch_cnt = (uint32_t)batch_cnt;
	entry->first_ns = reader->time_ns + unzigzag(step);
	entry->last_ns = entry->first_ns + length;
	return entry->offset > reader->offset && batch_cnt > 0 && batch_cnt <= UINT32_MAX &&
	       entry->last_ns >= entry->first_ns;
}

bool log_index_next(struct log_index_reader *reader, struct log_index_entry *entry)
{
	if (!reader->left)
		return false;
	reader->is_wrong = !read_entry(reader, entry);
	if (reader->is_wrong)
		return false;
	reader->left--;
	reader->offset = entry->offset;
	reader->time_ns = entry->first_ns;
	return true;
}
