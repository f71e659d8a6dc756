/* SPDX-License-Identifier: BSD-2-Clause */
#include "sql/row_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/string_pool.h"
#include "base/temporary_file.h"

#define GROUP_MAX 4096
#define KEYS_MAX_BYTES (16u << 20)
#define BLOCK_BYTES 8192
#define NUMBER_MAX_BYTES 10 /* of LEB128 */

struct bytes {
	uint8_t *at;
	size_t length;
	size_t capacity;
};

/* A part of the file with whole rows. */
struct chunk {
	uint64_t offset;
	size_t length;
};

struct group {
	uint64_t row_cnt;
	struct bytes block; /* the last rows */
	struct chunk *chunks;
	size_t chunk_cnt;
	size_t chunk_capacity;
};

struct row_groups {
	uint64_t columns; /* that rows hold: without those that are the same in a group */
	struct group_by by[GROUP_BY_MAX];
	size_t by_cnt;
	const struct record_kind *table;
	size_t column_cnt;
	struct string_pool *keys; /* the number of a key is that of its group */
	struct group *groups;
	uint32_t cnt;
	int fd;
	uint64_t file_bytes;
	struct bytes packed; /* a row, or a key */

	/* Reading. */
	uint32_t *order; /* of groups, by their keys; NULL: not sorted yet */
	uint32_t place;
	uint64_t row;
	size_t chunk;
	struct bytes loaded;
	const uint8_t *at;
	const uint8_t *end;
	struct sql_value values[GROUP_COLUMN_MAX];
};

/* ---- bytes ---- */

static int reserve(struct bytes *bytes, size_t more)
{
	size_t capacity = bytes->capacity ? bytes->capacity : 256;
	uint8_t *at;

	if (bytes->capacity - bytes->length >= more)
		return 0;
	while (capacity - bytes->length < more)
		capacity *= 2;
	at = realloc(bytes->at, capacity);
	if (!at)
		return -ENOMEM;
	bytes->at = at;
	bytes->capacity = capacity;
	return 0;
}

/* There is room for it. */
static void put_number(struct bytes *bytes, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		bytes->at[bytes->length++] = (uint8_t)(number | 0x80);
	bytes->at[bytes->length++] = (uint8_t)number;
}

static uint64_t take_number(const uint8_t **at)
{
	uint64_t number = 0;

	for (unsigned int shift = 0;; shift += 7) {
		uint8_t byte = *(*at)++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return number;
	}
}

static int put_value(struct bytes *bytes, const struct sql_value *value)
{
	size_t length = value->type == SQL_TEXT || value->type == SQL_BLOB ? value->length : 0;

	if (reserve(bytes, 1 + NUMBER_MAX_BYTES + length))
		return -ENOMEM;
	bytes->at[bytes->length++] = (uint8_t)value->type;
	switch (value->type) {
	case SQL_INTEGER: /* zigzag: the sign is the lowest bit */
		put_number(bytes, (uint64_t)value->integer << 1 ^ (uint64_t)(value->integer >> 63));
		break;
	case SQL_REAL:
		memcpy(bytes->at + bytes->length, &value->real, sizeof(value->real));
		bytes->length += sizeof(value->real);
		break;
	case SQL_TEXT:
	case SQL_BLOB:
		put_number(bytes, length);
		if (length > 0)
			memcpy(bytes->at + bytes->length, value->bytes, length);
		bytes->length += length;
		break;
	default:
		break;
	}
	return 0;
}

/* What put_value() has written; its bytes stay where they are. */
static void take_value(const uint8_t **at, struct sql_value *value)
{
	uint64_t number;

	value->type = (enum sql_type) * (*at)++;
	switch (value->type) {
	case SQL_INTEGER:
		number = take_number(at);
		value->integer = (int64_t)(number >> 1 ^ -(number & 1));
		break;
	case SQL_REAL:
		memcpy(&value->real, *at, sizeof(value->real));
		*at += sizeof(value->real);
		break;
	case SQL_TEXT:
	case SQL_BLOB:
		value->length = take_number(at);
		value->bytes = (const char *)*at;
		*at += value->length;
		break;
	default:
		break;
	}
}

/* ---- the frame ---- */

int row_groups_new(struct row_groups **made, const struct record_kind *table, uint64_t columns,
		   const struct group_by *by, size_t by_cnt)
{
	struct row_groups *groups = *made = calloc(1, sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	groups->fd = -1;
	groups->table = table;
	groups->columns = columns;
	groups->column_cnt = sql_column_cnt(table);
	groups->by_cnt = by_cnt;
	for (size_t i = 0; i < by_cnt; i++) {
		groups->by[i] = by[i];
		groups->columns &= ~(1ull << by[i].column);
	}
	groups->keys = string_pool_new();
	groups->groups = calloc(GROUP_MAX, sizeof(*groups->groups));
	if (groups->keys && groups->groups)
		return 0;
	row_groups_free(groups);
	*made = NULL;
	return -ENOMEM;
}

void row_groups_free(struct row_groups *groups)
{
	if (!groups)
		return;
	for (uint32_t i = 0; i < groups->cnt; i++) {
		free(groups->groups[i].block.at);
		free(groups->groups[i].chunks);
	}
	if (groups->fd >= 0)
		close(groups->fd);
	string_pool_free(groups->keys);
	free(groups->groups);
	free(groups->packed.at);
	free(groups->loaded.at);
	free(groups->order);
	free(groups);
}

/* ---- adding ---- */

static int write_all(int fd, const uint8_t *bytes, size_t length, uint64_t offset)
{
	while (length > 0) {
		ssize_t written = pwrite(fd, bytes, length, (off_t)offset);

		if (written < 0 && errno != EINTR)
			return -errno;
		bytes += written > 0 ? written : 0;
		length -= written > 0 ? (size_t)written : 0;
		offset += written > 0 ? (size_t)written : 0;
	}
	return 0;
}

/* Whole rows of the group to the file. */
static int spill(struct row_groups *groups, struct group *group, const struct bytes *rows)
{
	int err;
	struct chunk *chunks;

	if (groups->fd < 0)
		groups->fd = temporary_file_open(NULL);
	if (groups->fd < 0)
		return groups->fd;
	chunks = array_grow(group->chunks, &group->chunk_capacity, group->chunk_cnt, sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	group->chunks = chunks;
	err = write_all(groups->fd, rows->at, rows->length, groups->file_bytes);
	if (err)
		return err;
	group->chunks[group->chunk_cnt++] = (struct chunk){ groups->file_bytes, rows->length };
	groups->file_bytes += rows->length;
	return 0;
}

static int find_group(struct row_groups *groups, const struct sql_row *row, struct group **group)
{
	struct bytes *key = &groups->packed;
	struct sql_value value;
	uint32_t number;
	int err = 0;

	key->length = 0;
	for (size_t i = 0; i < groups->by_cnt && !err; i++) {
		sql_column_get(sql_column_at(groups->table, groups->by[i].column), row, &value);
		err = put_value(key, &value);
	}
	err = err ? err : string_pool_add(groups->keys, (const char *)key->at, key->length, &number);
	if (err)
		return err;
	if (number == groups->cnt) {
		if (groups->cnt == GROUP_MAX || string_pool_bytes(groups->keys) > KEYS_MAX_BYTES)
			return -E2BIG;
		groups->cnt++;
	}
	*group = &groups->groups[number];
	return 0;
}

int row_groups_add(struct row_groups *groups, const struct sql_row *row)
{
	struct bytes *packed = &groups->packed;
	struct sql_value value;
	struct group *group;
	int err = find_group(groups, row, &group);

	if (err)
		return err;
	group->row_cnt++;
	packed->length = 0;
	for (size_t i = 0; i < groups->column_cnt && !err; i++) {
		if (!(groups->columns >> i & 1))
			continue;
		sql_column_get(sql_column_at(groups->table, i), row, &value);
		err = put_value(packed, &value);
	}
	if (!err && packed->length > 0 && !group->block.at)
		err = reserve(&group->block, BLOCK_BYTES);
	if (!err && packed->length > BLOCK_BYTES - group->block.length) {
		err = group->block.length ? spill(groups, group, &group->block) : 0;
		group->block.length = 0;
	}
	if (err || packed->length == 0)
		return err;
	if (packed->length > BLOCK_BYTES)
		return spill(groups, group, packed);
	memcpy(group->block.at + group->block.length, packed->at, packed->length);
	group->block.length += packed->length;
	return 0;
}

/* ---- the order ---- */

/* As SQLite has it: NULL, numbers, text, bytes. */
static int class_of(const struct sql_value *value)
{
	return value->type == SQL_NULL	 ? 0
	       : value->type == SQL_TEXT ? 2
	       : value->type == SQL_BLOB ? 3
					 : 1;
}

static int compare_numbers(const struct sql_value *a, const struct sql_value *b)
{
	double left = a->type == SQL_REAL ? a->real : (double)a->integer;
	double right = b->type == SQL_REAL ? b->real : (double)b->integer;

	if (a->type == SQL_INTEGER && b->type == SQL_INTEGER)
		return (a->integer > b->integer) - (a->integer < b->integer);
	return (left > right) - (left < right);
}

static int compare_values(const struct sql_value *a, const struct sql_value *b)
{
	size_t length = a->length < b->length ? a->length : b->length;
	int order;

	if (class_of(a) != class_of(b) || class_of(a) == 0)
		return class_of(a) - class_of(b);
	if (class_of(a) == 1)
		return compare_numbers(a, b);
	order = length > 0 ? memcmp(a->bytes, b->bytes, length) : 0;
	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static const uint8_t *key_of(const struct row_groups *groups, uint32_t number)
{
	size_t length;

	return (const uint8_t *)string_pool_get(groups->keys, number, &length);
}

static int compare_groups(const void *a, const void *b, void *context)
{
	const struct row_groups *groups = context;
	const uint8_t *left = key_of(groups, *(const uint32_t *)a);
	const uint8_t *right = key_of(groups, *(const uint32_t *)b);
	int order = 0;

	for (size_t i = 0; i < groups->by_cnt && !order; i++) {
		struct sql_value first, second;

		take_value(&left, &first);
		take_value(&right, &second);
		order = compare_values(&first, &second);
		order = groups->by[i].is_descending ? -order : order;
	}
	return order;
}

int row_groups_sort(struct row_groups *groups)
{
	groups->order = calloc(groups->cnt + (size_t)1, sizeof(*groups->order));
	if (!groups->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < groups->cnt; i++)
		groups->order[i] = i;
	qsort_r(groups->order, groups->cnt, sizeof(*groups->order), compare_groups, groups);
	return 0;
}

/* ---- reading ---- */

static int load(struct row_groups *groups, const struct chunk *chunk)
{
	struct bytes *loaded = &groups->loaded;
	size_t done = 0;

	loaded->length = 0;
	if (reserve(loaded, chunk->length))
		return -ENOMEM;
	while (done < chunk->length) {
		ssize_t got = pread(groups->fd, loaded->at + done, chunk->length - done,
				    (off_t)(chunk->offset + done));

		if (got == 0 || (got < 0 && errno != EINTR))
			return got == 0 ? -EIO : -errno;
		done += got > 0 ? (size_t)got : 0;
	}
	groups->at = loaded->at;
	groups->end = loaded->at + done;
	return 0;
}

/* The next rows of the group: from the file, and in the end those that are not there. */
static int go_on(struct row_groups *groups, const struct group *group)
{
	if (groups->chunk < group->chunk_cnt)
		return load(groups, &group->chunks[groups->chunk++]);
	groups->at = group->block.at;
	groups->end = group->block.length ? group->block.at + group->block.length : groups->at;
	return 0;
}

static void enter_group(struct row_groups *groups)
{
	const uint8_t *key = key_of(groups, groups->order[groups->place]);

	for (size_t i = 0; i < groups->by_cnt; i++)
		take_value(&key, &groups->values[groups->by[i].column]);
	groups->chunk = 0;
	groups->at = groups->end = NULL;
}

int row_groups_next(struct row_groups *groups)
{
	const struct group *group;
	int err;

	if (groups->place == groups->cnt)
		return 0;
	group = &groups->groups[groups->order[groups->place]];
	if (groups->row == group->row_cnt) {
		groups->row = 0;
		if (++groups->place == groups->cnt)
			return 0;
		group = &groups->groups[groups->order[groups->place]];
	}
	if (groups->row++ == 0)
		enter_group(groups);
	if (!groups->columns)
		return 1;
	err = groups->at == groups->end ? go_on(groups, group) : 0;
	for (size_t i = 0; i < groups->column_cnt && !err; i++) {
		if (groups->columns >> i & 1)
			take_value(&groups->at, &groups->values[i]);
	}
	return err ? err : 1;
}

const struct sql_value *row_groups_value(const struct row_groups *groups, size_t column)
{
	return &groups->values[column];
}
