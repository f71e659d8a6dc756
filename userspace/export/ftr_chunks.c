/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * FTR. A stream has a block of about 64 KiB, which is written when it is full.
 * What it needs of the dictionary and the directory is written before. A chunk
 * is written as a whole, so that a crash leaves whole chunks.
 */
#include <cbor.h>
#include <errno.h>
#include <lz4.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_map.h"
#include "base/string_pool.h"
#include "base/utf8.h"
#include "export/ftr_writer.h"

#include "base/array.h"

#define BLOCK_BYTES (64u << 10)
#define BLOCKS_BYTES_MAX (32u << 20)	 /* of all streams; beyond it all are written */
#define DICTIONARY_BYTES_MAX (64u << 20) /* texts beyond it are written again where they come again */
#define HEAD_BYTES 9			 /* of an item, at most */

struct bytes {
	uint8_t *bytes;
	size_t length, size;
	int err;
};

struct entry { /* a transaction in a block */
	uint64_t end_ps;
	size_t at, length;
};

struct block {
	struct block *next; /* in the order in which their streams came: the same log makes the same file */
	uint64_t stream;
	struct bytes bytes;
	struct entry *entries;
	size_t entry_cnt, entry_size;
	uint64_t begin_ps, end_ps;
	uint64_t written_ps; /* the end of the blocks before */
	bool is_unsorted;
};

struct chunks {
	struct ftr_writer writer;
	struct string_pool *pool;
	uint64_t first_id; /* of the pool: of its first text */
	struct bytes dictionary, directory, relations, chunk, packed, scratch;
	uint64_t text_cnt; /* in the dictionary that is to be written */
	struct id_map blocks;
	struct block *first, **end;
	size_t blocks_bytes;
};

/* ---- items ---- */

/* Room for so many bytes more. NULL: none, which is kept. */
static uint8_t *reserve(struct bytes *bytes, size_t cnt)
{
	size_t size = bytes->size ? bytes->size : 256;
	uint8_t *more;

	if (bytes->err)
		return NULL;
	if (bytes->size - bytes->length >= cnt)
		return bytes->bytes + bytes->length;
	while (size - bytes->length < cnt)
		size *= 2;
	more = realloc(bytes->bytes, size);
	if (!more) {
		bytes->err = -ENOMEM;
		return NULL;
	}
	bytes->bytes = more;
	bytes->size = size;
	return more + bytes->length;
}

#define PUT(name, encode, type)                                         \
	static void name(struct bytes *bytes, type value)               \
	{                                                               \
		uint8_t *at = reserve(bytes, HEAD_BYTES);               \
		if (at)                                                 \
			bytes->length += encode(value, at, HEAD_BYTES); \
	}

PUT(put_uint, cbor_encode_uint, uint64_t)
PUT(put_negint, cbor_encode_negint, uint64_t)
PUT(put_array, cbor_encode_array_start, size_t)
PUT(put_map, cbor_encode_map_start, size_t)
PUT(put_tag, cbor_encode_tag, uint64_t)
PUT(put_bool, cbor_encode_bool, bool)
PUT(put_single, cbor_encode_single, float)
PUT(put_double, cbor_encode_double, double)
PUT(put_bytes_head, cbor_encode_bytestring_start, size_t)
PUT(put_text_head, cbor_encode_string_start, size_t)

static void put_raw(struct bytes *bytes, const void *raw, size_t length)
{
	uint8_t *at = length > 0 ? reserve(bytes, length) : NULL;

	if (at) {
		memcpy(at, raw, length);
		bytes->length += length;
	}
}

static void put_byte(struct bytes *bytes, uint8_t byte)
{
	put_raw(bytes, &byte, 1);
}

#define OPEN_ARRAY 0x9f
#define BREAK 0xff

static void put_signed(struct bytes *bytes, int64_t value)
{
	if (value >= 0)
		put_uint(bytes, (uint64_t)value);
	else
		put_negint(bytes, ~(uint64_t)value);
}

/* ---- chunks ---- */

static int pack(struct chunks *chunks, const struct bytes *contents)
{
	int bound = LZ4_compressBound((int)contents->length), length;
	uint8_t *at;

	chunks->packed.length = 0;
	at = reserve(&chunks->packed, (size_t)bound);
	if (!at)
		return -ENOMEM;
	length = LZ4_compress_default((const char *)contents->bytes, (char *)at, (int)contents->length,
				      bound);
	if (length <= 0)
		return -EIO;
	chunks->packed.length = (size_t)length;
	return 0;
}

/* block: NULL, or that of transactions. The contents are empty then. */
static int write_chunk(struct chunks *chunks, uint64_t tag, struct bytes *contents, const struct block *block)
{
	bool is_packed = chunks->writer.is_packed && tag != FTR_TAG_INFO;
	const struct bytes *stored = contents;
	struct bytes *chunk = &chunks->chunk;

	if (contents->err)
		return contents->err;
	if (is_packed) {
		int err = pack(chunks, contents);

		if (err)
			return err;
		stored = &chunks->packed;
	}
	put_tag(chunk, tag + is_packed);
	if (block || is_packed)
		put_array(chunk, (block ? 4u : 1u) + is_packed);
	if (block) {
		put_uint(chunk, block->stream);
		put_uint(chunk, block->begin_ps);
		put_uint(chunk, block->end_ps);
	}
	if (is_packed)
		put_uint(chunk, contents->length);
	put_bytes_head(chunk, stored->length);
	put_raw(chunk, stored->bytes, stored->length);
	if (chunk->err)
		return chunk->err;
	if (fwrite(chunk->bytes, chunk->length, 1, chunks->writer.out) != 1 || fflush(chunks->writer.out))
		return errno ? -errno : -EIO;
	chunk->length = contents->length = 0;
	return 0;
}

/* What the next chunk may need. */
static int write_dictionary(struct chunks *chunks)
{
	struct bytes *dictionary = &chunks->dictionary;
	struct bytes whole = { 0 };
	int err;

	if (chunks->text_cnt == 0)
		return dictionary->err;
	put_map(&whole, chunks->text_cnt);
	put_raw(&whole, dictionary->bytes, dictionary->length);
	err = dictionary->err ? dictionary->err : write_chunk(chunks, FTR_TAG_DICTIONARY, &whole, NULL);
	free(whole.bytes);
	dictionary->length = 0;
	chunks->text_cnt = 0;
	return err;
}

static int write_list(struct chunks *chunks, uint64_t tag, struct bytes *list)
{
	int err = write_dictionary(chunks);

	if (err || list->length == 0)
		return err ? err : list->err;
	put_byte(list, BREAK);
	return write_chunk(chunks, tag, list, NULL);
}

/* ---- texts ---- */

static uint64_t add_text(struct chunks *chunks, const char *bytes, size_t length)
{
	uint32_t before = string_pool_count(chunks->pool), number;
	int err;

	if (string_pool_bytes(chunks->pool) > DICTIONARY_BYTES_MAX) {
		struct string_pool *pool = string_pool_new();

		if (pool) {
			string_pool_free(chunks->pool);
			chunks->pool = pool;
			chunks->first_id += before;
			before = 0;
		}
	}
	err = string_pool_add(chunks->pool, bytes, length, &number);
	if (err) {
		chunks->dictionary.err = err;
		return 0;
	}
	if (number == before) { /* it is new */
		put_uint(&chunks->dictionary, chunks->first_id + number);
		put_text_head(&chunks->dictionary, length);
		put_raw(&chunks->dictionary, bytes, length);
		chunks->text_cnt++;
	}
	return chunks->first_id + number;
}

static bool is_utf8(const char *bytes, size_t length)
{
	uint32_t code_point;

	for (size_t at = 0; at < length;) {
		if ((unsigned char)bytes[at] < 0x80) {
			at++;
			continue;
		}
		at += utf8_decode(bytes + at, length - at, &code_point);
		if (code_point == UTF8_INVALID)
			return false;
	}
	return true;
}

/* Its id. What is no UTF-8 is U+FFFD. */
static uint64_t text_id(struct chunks *chunks, struct txtrace_string text)
{
	struct bytes *scratch = &chunks->scratch;
	uint32_t code_point;

	if (is_utf8(text.bytes, text.length))
		return add_text(chunks, text.bytes, text.length);
	chunks->writer.written.text_cnt++;
	scratch->length = 0;
	for (size_t at = 0, cnt; at < text.length; at += cnt) {
		cnt = utf8_decode(text.bytes + at, text.length - at, &code_point);
		if (code_point == UTF8_INVALID)
			put_raw(scratch, "\xef\xbf\xbd", 3);
		else
			put_raw(scratch, text.bytes + at, cnt);
	}
	return add_text(chunks, (const char *)scratch->bytes, scratch->length);
}

/* ---- info and directory ---- */

static int chunks_info(struct ftr_writer *writer, int64_t exponent, uint64_t creation_s)
{
	struct chunks *chunks = (struct chunks *)writer;
	struct bytes info = { 0 };
	int err;

	put_array(&info, 2);
	put_signed(&info, exponent);
	put_tag(&info, FTR_TAG_TIME);
	put_uint(&info, creation_s);
	err = write_chunk(chunks, FTR_TAG_INFO, &info, NULL);
	free(info.bytes);
	return err;
}

static void put_entry(struct chunks *chunks, uint64_t tag, uint64_t a, uint64_t b, uint64_t c)
{
	struct bytes *directory = &chunks->directory;

	if (directory->length == 0)
		put_byte(directory, OPEN_ARRAY);
	put_tag(directory, tag);
	put_array(directory, 3);
	put_uint(directory, a);
	put_uint(directory, b);
	put_uint(directory, c);
}

static int chunks_stream(struct ftr_writer *writer, uint64_t id, struct txtrace_string name,
			 struct txtrace_string kind)
{
	struct chunks *chunks = (struct chunks *)writer;
	uint64_t name_id = text_id(chunks, name), kind_id = text_id(chunks, kind);

	put_entry(chunks, FTR_TAG_STREAM, id, name_id, kind_id);
	return chunks->directory.err;
}

static int chunks_generator(struct ftr_writer *writer, uint64_t id, struct txtrace_string name,
			    uint64_t stream)
{
	struct chunks *chunks = (struct chunks *)writer;

	put_entry(chunks, FTR_TAG_GENERATOR, id, text_id(chunks, name), stream);
	return chunks->directory.err;
}

/* ---- transactions ---- */

static int compare_entries(const void *a, const void *b)
{
	const struct entry *first = a, *second = b;

	if (first->end_ps != second->end_ps)
		return first->end_ps < second->end_ps ? -1 : 1;
	return first->at < second->at ? -1 : first->at > second->at;
}

static int write_block(struct chunks *chunks, struct block *block)
{
	struct bytes contents = { 0 };
	int err;

	if (block->entry_cnt == 0)
		return 0;
	err = write_list(chunks, FTR_TAG_DIRECTORY, &chunks->directory);
	if (err || block->bytes.err)
		return err ? err : block->bytes.err;
	if (block->is_unsorted)
		qsort(block->entries, block->entry_cnt, sizeof(*block->entries), compare_entries);
	for (size_t i = 0; i < block->entry_cnt && block->entries[i].end_ps < block->written_ps; i++)
		chunks->writer.written.unsorted_cnt++;
	put_byte(&contents, OPEN_ARRAY);
	if (!block->is_unsorted)
		put_raw(&contents, block->bytes.bytes, block->bytes.length);
	for (size_t i = 0; block->is_unsorted && i < block->entry_cnt; i++)
		put_raw(&contents, block->bytes.bytes + block->entries[i].at, block->entries[i].length);
	put_byte(&contents, BREAK);
	err = write_chunk(chunks, FTR_TAG_TRANSACTIONS, &contents, block);
	free(contents.bytes);
	chunks->blocks_bytes -= block->bytes.length;
	block->bytes.length = block->entry_cnt = 0;
	block->is_unsorted = false;
	if (block->end_ps > block->written_ps)
		block->written_ps = block->end_ps;
	return err;
}

static int write_blocks(struct chunks *chunks)
{
	int err = 0;

	for (struct block *block = chunks->first; !err && block; block = block->next) {
		err = write_block(chunks, block);
		free(block->bytes.bytes);
		free(block->entries);
		block->bytes = (struct bytes){ 0 };
		block->entries = NULL;
		block->entry_size = 0;
	}
	return err;
}

static struct block *find_block(struct chunks *chunks, uint64_t stream)
{
	struct block *block = id_map_get(&chunks->blocks, 0, stream);

	if (block)
		return block;
	block = calloc(1, sizeof(*block));
	if (!block || id_map_put(&chunks->blocks, 0, stream, block)) {
		free(block);
		return NULL;
	}
	block->stream = stream;
	*chunks->end = block;
	chunks->end = &block->next;
	return block;
}

static double real_of(const struct ftr_value *value)
{
	double real;

	memcpy(&real, &value->value, sizeof(real));
	return real;
}

static bool is_real(const struct ftr_value *value)
{
	return value->type == FTR_FLOATING_POINT_NUMBER || value->type == FTR_FIXED_POINT_INTEGER ||
	       value->type == FTR_UNSIGNED_FIXED_POINT_INTEGER;
}

/* A second attribute says what single precision does not. */
static bool needs_exact(const struct chunks *chunks, const struct ftr_value *value)
{
	double real;

	if (chunks->writer.has_doubles || !is_real(value))
		return false;
	real = real_of(value);
	return !isnan(real) && (double)ftr_single(real) != real;
}

static void put_head(struct chunks *chunks, struct bytes *bytes, const struct ftr_value *value,
		     struct txtrace_string name, uint64_t type)
{
	put_tag(bytes, FTR_TAG_CLASS + value->class);
	put_array(bytes, 3);
	put_uint(bytes, text_id(chunks, name));
	put_uint(bytes, type);
}

static void put_value(struct chunks *chunks, struct bytes *bytes, const struct ftr_value *value)
{
	put_head(chunks, bytes, value, value->name, value->type);
	switch ((enum ftr_type)value->type) {
	case FTR_BOOLEAN:
		put_bool(bytes, value->value != 0);
		break;
	case FTR_INTEGER:
		put_signed(bytes, (int64_t)value->value);
		break;
	case FTR_FLOATING_POINT_NUMBER:
	case FTR_FIXED_POINT_INTEGER:
	case FTR_UNSIGNED_FIXED_POINT_INTEGER:
		if (chunks->writer.has_doubles)
			put_double(bytes, real_of(value));
		else
			put_single(bytes, ftr_single(real_of(value)));
		break;
	case FTR_UNSIGNED:
	case FTR_POINTER:
	case FTR_TIME:
		put_uint(bytes, value->value);
		break;
	default:
		put_uint(bytes, text_id(chunks, value->string));
	}
}

static void put_exact(struct chunks *chunks, struct bytes *bytes, const struct ftr_value *value)
{
	struct bytes name = { 0 };
	char digits[40];
	int length = 0;

	for (int precision = 15; precision <= 17; precision++) {
		length = snprintf(digits, sizeof(digits), "%.*g", precision, real_of(value));
		if (strtod(digits, NULL) == real_of(value))
			break;
	}
	put_raw(&name, value->name.bytes, value->name.length);
	put_raw(&name, FTR_EXACT, strlen(FTR_EXACT));
	if (name.err)
		bytes->err = name.err;
	else
		put_head(chunks, bytes, value,
			 (struct txtrace_string){ (const char *)name.bytes, name.length }, FTR_STRING);
	put_uint(bytes, add_text(chunks, digits, (size_t)length));
	chunks->writer.written.rounded_cnt++;
	free(name.bytes);
}

static void put_row(struct chunks *chunks, struct bytes *bytes, const struct ftr_row *row)
{
	size_t cnt = row->value_cnt;

	for (size_t i = 0; i < row->value_cnt; i++)
		cnt += needs_exact(chunks, &row->values[i]);
	put_array(bytes, 1 + cnt);
	put_tag(bytes, FTR_TAG_TRANSACTION);
	put_array(bytes, 4);
	put_uint(bytes, row->id);
	put_uint(bytes, row->generator);
	put_uint(bytes, row->begin_ps);
	put_uint(bytes, row->end_ps);
	for (size_t i = 0; i < row->value_cnt; i++) {
		put_value(chunks, bytes, &row->values[i]);
		if (needs_exact(chunks, &row->values[i]))
			put_exact(chunks, bytes, &row->values[i]);
	}
}

static int add_entry(struct block *block, const struct ftr_row *row, size_t at)
{
	struct entry *entries = array_grow(block->entries, &block->entry_size, block->entry_cnt,
					   sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	block->entries = entries;
	if (block->entry_cnt == 0) {
		block->begin_ps = row->begin_ps;
		block->end_ps = row->end_ps;
	}
	if (row->begin_ps < block->begin_ps)
		block->begin_ps = row->begin_ps;
	block->is_unsorted |= row->end_ps < block->end_ps;
	if (row->end_ps > block->end_ps)
		block->end_ps = row->end_ps;
	block->entries[block->entry_cnt++] = (struct entry){ .end_ps = row->end_ps,
							     .at = at,
							     .length = block->bytes.length - at };
	return 0;
}

static int chunks_row(struct ftr_writer *writer, const struct ftr_row *row)
{
	struct chunks *chunks = (struct chunks *)writer;
	struct block *block = find_block(chunks, row->stream);
	size_t at;
	int err;

	if (!block)
		return -ENOMEM;
	at = block->bytes.length;
	put_row(chunks, &block->bytes, row);
	err = block->bytes.err ? block->bytes.err : chunks->dictionary.err;
	err = err ? err : add_entry(block, row, at);
	if (err)
		return err;
	chunks->blocks_bytes += block->bytes.length - at;
	if (block->bytes.length >= BLOCK_BYTES)
		return write_block(chunks, block);
	return chunks->blocks_bytes >= BLOCKS_BYTES_MAX ? write_blocks(chunks) : 0;
}

/* ---- relations, begin and end ---- */

static int chunks_arrow(struct ftr_writer *writer, const struct ftr_arrow *arrow)
{
	struct chunks *chunks = (struct chunks *)writer;
	struct bytes *relations = &chunks->relations;

	if (relations->length == 0)
		put_byte(relations, OPEN_ARRAY);
	put_array(relations, arrow->has_streams ? 5 : 3);
	put_uint(relations, text_id(chunks, arrow->name));
	put_uint(relations, arrow->from);
	put_uint(relations, arrow->to);
	if (arrow->has_streams) {
		put_uint(relations, arrow->from_stream);
		put_uint(relations, arrow->to_stream);
	}
	writer->written.streamless_cnt += !arrow->has_streams;
	return relations->length < BLOCK_BYTES ? relations->err
					       : write_list(chunks, FTR_TAG_RELATIONS, relations);
}

static void chunks_free(struct ftr_writer *writer)
{
	struct chunks *chunks = (struct chunks *)writer;
	struct block *block;

	if (!chunks)
		return;
	for (size_t i = 0; (block = id_map_next(&chunks->blocks, &i));) {
		free(block->bytes.bytes);
		free(block->entries);
		free(block);
	}
	id_map_release(&chunks->blocks);
	string_pool_free(chunks->pool);
	free(chunks->dictionary.bytes);
	free(chunks->directory.bytes);
	free(chunks->relations.bytes);
	free(chunks->chunk.bytes);
	free(chunks->packed.bytes);
	free(chunks->scratch.bytes);
	free(chunks);
}

static int chunks_open(struct ftr_writer **writer, FILE *out)
{
	static const uint8_t head[] = { 0xd9, 0xd9, 0xf7, OPEN_ARRAY };
	struct chunks *chunks = calloc(1, sizeof(*chunks));

	if (!chunks)
		return -ENOMEM;
	*writer = &chunks->writer;
	chunks->writer.as = &ftr_as_chunks;
	chunks->writer.out = out;
	id_map_init(&chunks->blocks);
	chunks->end = &chunks->first;
	chunks->pool = string_pool_new();
	if (!chunks->pool)
		return -ENOMEM;
	add_text(chunks, "", 0);		     /* the id 0 is the empty text */
	put_raw(&chunks->chunk, head, sizeof(head)); /* written with the first chunk */
	return chunks->dictionary.err ? chunks->dictionary.err : chunks->chunk.err;
}

static int chunks_finish(struct ftr_writer *writer)
{
	struct chunks *chunks = (struct chunks *)writer;
	int err = write_list(chunks, FTR_TAG_DIRECTORY, &chunks->directory);

	err = err ? err : write_blocks(chunks);
	err = err ? err : write_list(chunks, FTR_TAG_RELATIONS, &chunks->relations);
	put_byte(&chunks->chunk, BREAK);
	if (err || chunks->chunk.err)
		return err ? err : chunks->chunk.err;
	if (fwrite(chunks->chunk.bytes, chunks->chunk.length, 1, writer->out) != 1)
		return errno ? -errno : -EIO;
	return 0;
}

const struct ftr_writing ftr_as_chunks = {
	.open = chunks_open,
	.info = chunks_info,
	.stream = chunks_stream,
	.generator = chunks_generator,
	.row = chunks_row,
	.arrow = chunks_arrow,
	.finish = chunks_finish,
	.free = chunks_free,
};
