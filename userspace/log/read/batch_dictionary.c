/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/read/batch_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/varint.h"

void *batch_table_room(struct batch_decoder *decoder, enum table_id id, size_t cnt, size_t entry_bytes)
{
	struct table *table = &decoder->tables[id];
	void *entries;

	if (cnt * entry_bytes > table->bytes) {
		entries = realloc(table->entries, cnt * entry_bytes);
		if (!entries)
			return NULL;
		table->entries = entries;
		table->bytes = cnt * entry_bytes;
	}
	return table->entries;
}

/* ---- the directory ---- */

/* The column that a section belongs to; NULL for one that this version has no use for. */
static struct column *column_of(struct batch_decoder *decoder, uint64_t id)
{
	uint64_t kind, field;

	if (id < LOG_SECTION_COLUMNS)
		return NULL;
	if (id >= LOG_SECTION_OWN)
		return (id - LOG_SECTION_OWN) / 2 < decoder->own_cnt
			       ? &decoder->own_columns[(id - LOG_SECTION_OWN) / 2]
			       : NULL;
	kind = (id - LOG_SECTION_COLUMNS) / (2 * LOG_FIELD_MAX);
	field = (id - LOG_SECTION_COLUMNS) / 2 % LOG_FIELD_MAX;
	if (kind < LOG_KIND_COUNT && field < LOG_KNOWN_FIELD_MAX)
		return &decoder->common_columns[kind][field];
	if (kind >= LOG_KIND_COUNT && kind < LOG_KIND_MAX && field == FIELD_TIME)
		return &decoder->unknown_times[kind - LOG_KIND_COUNT];
	return NULL;
}

static const struct number_table *number_table(struct batch_decoder *decoder, uint8_t low)
{
	struct number_table **table = &decoder->number_tables[low];

	if (!*table) {
		*table = malloc(sizeof(**table));
		if (*table)
			number_table_init(*table, low);
	}
	return *table;
}

static int place_section(struct batch_decoder *decoder, uint64_t id, const uint8_t *body, uint64_t length)
{
	struct column *column = column_of(decoder, id);

	if (id <= LOG_SECTION_ORDER_MORE)
		decoder->sections[id] = (struct range){ body, body + length };
	if (!column || !length)
		return 0;
	if (id & 1) {
		column->bits = body;
		column->bit_cnt = length * 8;
		return 0;
	}
	if (*body > NUMBER_LOW_MAX)
		return -EBADMSG;
	column->code = body + 1;
	column->code_end = body + length;
	column->table = number_table(decoder, *body);
	return column->table ? 0 : -ENOMEM;
}

/* An absent section is an empty one that begins where reading is safe. */
static int clear_directory(struct batch_decoder *decoder, const uint8_t *payload, uint32_t own_cnt)
{
	const struct range none = { payload, payload };
	const struct column empty = { .code = payload, .code_end = payload, .bits = payload };

	decoder->own_columns = batch_table_room(decoder, TABLE_OWN, own_cnt, sizeof(*decoder->own_columns));
	if (own_cnt && !decoder->own_columns)
		return -ENOMEM;
	decoder->own_cnt = own_cnt;
	for (uint32_t i = 0; i < own_cnt; i++)
		decoder->own_columns[i] = empty;
	for (uint32_t i = 0; i <= LOG_SECTION_ORDER_MORE; i++)
		decoder->sections[i] = none;
	for (uint32_t i = 0; i < LOG_KIND_COUNT * LOG_KNOWN_FIELD_MAX; i++)
		decoder->common_columns[i / LOG_KNOWN_FIELD_MAX][i % LOG_KNOWN_FIELD_MAX] = empty;
	for (uint32_t i = 0; i < LOG_KIND_MAX - LOG_KIND_COUNT; i++)
		decoder->unknown_times[i] = empty;
	decoder->absent = empty;
	return 0;
}

int batch_directory_read(struct batch_decoder *decoder, const uint8_t *payload, const uint8_t *end)
{
	uint64_t section_cnt, id = 0, length = 0, own_cnt = 0;
	const uint8_t *at = payload, *body, *entry;
	int err;

	if (!leb128_get(&at, end, &section_cnt) || section_cnt > (uint64_t)(end - at))
		return -EBADMSG;
	entry = at;
	for (uint64_t i = 0; i < section_cnt; i++) {
		if (!leb128_get(&at, end, &id) || !leb128_get(&at, end, &length))
			return -EBADMSG;
		if (id >= LOG_SECTION_OWN && (id - LOG_SECTION_OWN) / 2 < LOG_OWN_COLUMN_MAX &&
		    (id - LOG_SECTION_OWN) / 2 >= own_cnt)
			own_cnt = (id - LOG_SECTION_OWN) / 2 + 1;
	}
	body = at;
	err = clear_directory(decoder, payload, (uint32_t)own_cnt);
	for (uint64_t i = 0; i < section_cnt && !err; i++) {
		leb128_get(&entry, end, &id);
		leb128_get(&entry, end, &length);
		if (length > (uint64_t)(end - body))
			return -EBADMSG;
		err = place_section(decoder, id, body, length);
		body += length;
	}
	return err;
}

/* ---- the dictionary ---- */

int batch_count_read(struct range *range, uint32_t max, uint32_t *cnt)
{
	uint64_t value = 0;

	if (range->at != range->end && (!leb128_get(&range->at, range->end, &value) || value > max ||
					value > (uint64_t)(range->end - range->at)))
		return -EBADMSG;
	*cnt = (uint32_t)value;
	return 0;
}

static int read_threads(struct batch_decoder *decoder)
{
	struct range range = decoder->sections[LOG_SECTION_THREADS];
	struct record_unpacker *unpacker = &decoder->unpacker;
	uint64_t tid = 0, pid = 0, value;

	if (batch_count_read(&range, LOG_THREAD_MAX, &unpacker->thread_cnt))
		return -EBADMSG;
	unpacker->model.threads = batch_table_room(decoder, TABLE_THREADS, unpacker->thread_cnt,
						   sizeof(struct model_thread));
	if (unpacker->thread_cnt && !unpacker->model.threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < unpacker->thread_cnt; i++) {
		if (!leb128_get(&range.at, range.end, &value))
			return -EBADMSG;
		tid += unzigzag(value);
		if (!leb128_get(&range.at, range.end, &value))
			return -EBADMSG;
		pid += unzigzag(value);
		unpacker->model.threads[i] = (struct model_thread){ .tid = (uint32_t)tid,
								    .pid = (uint32_t)pid };
	}
	return 0;
}

static int read_strings(struct batch_decoder *decoder, enum log_section section, enum table_id table,
			uint32_t max, const struct txtrace_string **strings, uint32_t *cnt)
{
	struct range range = decoder->sections[section];
	struct txtrace_string *entries;
	uint64_t length;

	if (batch_count_read(&range, max, cnt))
		return -EBADMSG;
	*strings = entries = batch_table_room(decoder, table, *cnt, sizeof(*entries));
	if (*cnt && !entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < *cnt; i++) {
		if (!leb128_get(&range.at, range.end, &length))
			return -EBADMSG;
		entries[i].length = length;
	}
	for (uint32_t i = 0; i < *cnt; i++) {
		if (entries[i].length > (size_t)(range.end - range.at))
			return -EBADMSG;
		entries[i].bytes = (const char *)range.at;
		range.at += entries[i].length;
	}
	return 0;
}

static int read_objects(struct batch_decoder *decoder)
{
	struct range range = decoder->sections[LOG_SECTION_OBJECTS];
	struct record_unpacker *unpacker = &decoder->unpacker;
	uint64_t object = 0, value, *objects;

	if (batch_count_read(&range, LOG_OBJECT_MAX, &unpacker->object_cnt))
		return -EBADMSG;
	unpacker->objects = objects = batch_table_room(decoder, TABLE_OBJECTS, unpacker->object_cnt,
						       sizeof(*objects));
	if (unpacker->object_cnt && !objects)
		return -ENOMEM;
	for (uint32_t i = 0; i < unpacker->object_cnt; i++) {
		if (!leb128_get(&range.at, range.end, &value))
			return -EBADMSG;
		objects[i] = object += unzigzag(value);
	}
	return 0;
}

static int read_slots(struct batch_decoder *decoder)
{
	struct range range = decoder->sections[LOG_SECTION_SLOTS];
	struct record_unpacker *unpacker = &decoder->unpacker;
	uint64_t cnt = 0;

	if (range.at != range.end && (!leb128_get(&range.at, range.end, &cnt) || cnt > LOG_SLOT_MAX))
		return -EBADMSG;
	unpacker->slot_cnt = (uint32_t)cnt;
	unpacker->model.slots = batch_table_room(decoder, TABLE_SLOTS, cnt, sizeof(uint64_t));
	if (cnt && !unpacker->model.slots)
		return -ENOMEM;
	if (cnt)
		memset(unpacker->model.slots, 0, cnt * sizeof(uint64_t));
	return 0;
}

int batch_dictionary_read(struct batch_decoder *decoder)
{
	struct record_unpacker *unpacker = &decoder->unpacker;
	int err = read_threads(decoder);

	err = err ? err
		  : read_strings(decoder, LOG_SECTION_NAMES, TABLE_NAMES, LOG_NAME_MAX, &unpacker->names,
				 &unpacker->name_cnt);
	err = err ? err
		  : read_strings(decoder, LOG_SECTION_TEXTS, TABLE_TEXTS, LOG_TEXT_MAX, &unpacker->texts,
				 &unpacker->text_cnt);
	err = err ? err : read_objects(decoder);
	return err ? err : read_slots(decoder);
}
