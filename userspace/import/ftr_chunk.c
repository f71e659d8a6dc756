/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/ftr_chunk.h"

#include <errno.h>
#include <inttypes.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 32 /* more than the heads of an item */

static const uint8_t file_head[] = { 0xd9, 0xd9, 0xf7, 0x9f };

const char *ftr_chunk_name(uint64_t tag)
{
	switch (tag) {
	case FTR_TAG_INFO:
		return "info";
	case FTR_TAG_DICTIONARY:
		return "dictionary";
	case FTR_TAG_DIRECTORY:
		return "directory";
	case FTR_TAG_TRANSACTIONS:
		return "transactions";
	case FTR_TAG_RELATIONS:
		return "relations";
	default:
		return "unknown contents";
	}
}

bool ftr_chunks_begin(struct ftr_chunks *chunks)
{
	size_t length;
	const uint8_t *head = import_source_peek(chunks->source, sizeof(file_head), &length);

	chunks->at = 0;
	return head && length == sizeof(file_head) && memcmp(head, file_head, length) == 0 &&
	       import_source_skip(chunks->source, length) == length;
}

void ftr_chunks_release(struct ftr_chunks *chunks)
{
	free(chunks->room);
	chunks->room = NULL;
	chunks->room_bytes = 0;
}

/* ---- items of the file ---- */

/*
 * What is there from the place that was read to on, at least `cnt` bytes unless the file ends. -EFBIG,
 * -ENOMEM.
 */
static int look(struct ftr_chunks *chunks, size_t cnt, struct cbor_reader *reader, bool *is_end)
{
	const uint8_t *bytes;
	size_t length;

	if (cnt > FTR_CHUNK_BYTES_MAX - HEAD_BYTES || chunks->at > FTR_CHUNK_BYTES_MAX - cnt)
		return -EFBIG;
	bytes = import_source_peek(chunks->source, chunks->at + cnt, &length);
	if (!bytes)
		return -ENOMEM;
	*is_end = length < chunks->at + cnt;
	if (length < chunks->at)
		length = chunks->at;
	*reader = (struct cbor_reader){ .at = bytes + chunks->at, .end = bytes + length };
	return 0;
}

/* One item, or with `is_whole` also what belongs to it. 0, -ENODATA, -EBADMSG, -EFBIG, -ENOMEM. */
static int next_item(struct ftr_chunks *chunks, struct cbor_item *item, bool is_whole)
{
	size_t cnt = HEAD_BYTES, passed;
	struct cbor_reader reader;
	const uint8_t *begin;
	bool is_end;
	int err;

	for (;;) {
		err = look(chunks, cnt, &reader, &is_end);
		if (err)
			return err;
		begin = reader.at;
		err = cbor_next(&reader, item);
		if (!err && is_whole)
			err = cbor_skip(&reader, item);
		passed = (size_t)(reader.at - begin);
		if (!err)
			chunks->at += passed;
		if (err != -ENODATA || is_end)
			return err;
		cnt = reader.wanted > SIZE_MAX - passed ? SIZE_MAX : passed + reader.wanted;
	}
}

/* A number of an array. */
static int next_number(struct ftr_chunks *chunks, uint64_t *number)
{
	struct cbor_item item;
	int err = next_item(chunks, &item, false);

	*number = item.value;
	return err ? err : item.kind == CBOR_UNSIGNED ? 0 : -EILSEQ;
}

/* ---- contents ---- */

static int unpack(struct ftr_chunks *chunks, struct ftr_chunk *chunk, const struct cbor_item *item,
		  uint64_t size, struct error *error)
{
	int cnt;

	if (size > FTR_CHUNK_BYTES_MAX) {
		error_set(error,
			  "unpacked it would have %" PRIu64 " bytes, more than the 64 MiB that are read",
			  size);
		return -EILSEQ;
	}
	if (size > chunks->room_bytes) {
		uint8_t *room = realloc(chunks->room, size);

		if (!room)
			return -ENOMEM;
		chunks->room = room;
		chunks->room_bytes = size;
	}
	cnt = size > 0 ? LZ4_decompress_safe((const char *)item->bytes, (char *)chunks->room,
					     (int)item->length, (int)size)
		       : 0;
	if (cnt < 0 || (uint64_t)cnt != size) {
		error_set(error, "its LZ4 data are damaged: they are not %" PRIu64 " bytes", size);
		return -EILSEQ;
	}
	chunk->contents = (struct cbor_reader){ .at = chunks->room, .end = chunks->room + size };
	return 1;
}

/* What is behind the tag of a chunk of a known kind. */
static int read_contents(struct ftr_chunks *chunks, struct ftr_chunk *chunk, bool is_packed,
			 struct error *error)
{
	bool is_block = chunk->tag == FTR_TAG_TRANSACTIONS;
	uint64_t wanted = (is_block ? 3u : 0u) + is_packed, size = 0;
	struct cbor_item item;
	int err = 0;

	if (wanted > 0) {
		err = next_item(chunks, &item, false);
		if (!err && (item.kind != CBOR_ARRAY || item.value != wanted + 1))
			err = -EILSEQ;
	}
	if (!err && is_block) {
		err = next_number(chunks, &chunk->stream);
		err = err ? err : next_number(chunks, &chunk->begin_ps);
		err = err ? err : next_number(chunks, &chunk->end_ps);
	}
	if (!err && is_packed)
		err = next_number(chunks, &size);
	err = err ? err : next_item(chunks, &item, false);
	if (err)
		return err;
	if (item.kind != CBOR_BYTES)
		return -EILSEQ;
	if (is_packed)
		return unpack(chunks, chunk, &item, size, error);
	chunk->contents = (struct cbor_reader){ .at = item.bytes, .end = item.bytes + item.length };
	return 1;
}

/* As the format's README has it: an array, and no string in which it is. */
static int read_bare_info(struct ftr_chunks *chunks, struct ftr_chunk *chunk, size_t at)
{
	struct cbor_item item;
	struct cbor_reader reader;
	size_t end;
	bool is_end;
	int err;

	chunks->at = at;
	err = next_item(chunks, &item, true);
	end = chunks->at;
	chunks->at = at;
	err = err ? err : look(chunks, end - at, &reader, &is_end);
	chunks->at = end;
	if (err)
		return err;
	chunk->contents = (struct cbor_reader){ .at = reader.at, .end = reader.at + (end - at) };
	return 1;
}

/* Its end is known by its items alone. */
static int pass(struct ftr_chunks *chunks, size_t at)
{
	struct cbor_item item;

	chunks->at = at;
	return next_item(chunks, &item, true);
}

/* ---- chunks ---- */

static int explain(struct ftr_chunks *chunks, int err, struct error *error)
{
	if (err == -EFBIG)
		error_set(error, "a chunk is larger than the 64 MiB that are read");
	else if (err == -ENODATA && import_source_error(chunks->source) == -EBADMSG)
		error_set(error, "a chunk ends where the packed data are damaged or cut off");
	else if (err == -ENODATA && import_source_error(chunks->source))
		error_set(error, "a chunk can't be read: %s", strerror(-import_source_error(chunks->source)));
	else if (err == -ENODATA)
		error_set(error, "a chunk is cut off");
	else
		error_set(error, "this is no CBOR");
	return err == -ENOMEM ? err : -EBADMSG;
}

static int read_chunk(struct ftr_chunks *chunks, struct ftr_chunk *chunk, struct error *error)
{
	size_t at = chunks->at; /* behind the tag */
	bool is_packed = chunk->tag & 1, is_known = chunk->tag >= FTR_TAG_INFO &&
						    chunk->tag <= FTR_TAG_RELATIONS + 1 &&
						    chunk->tag != FTR_TAG_INFO + 1;
	int result, err;

	if (!is_known) {
		err = pass(chunks, at);
		error_set(error, "a chunk has the unknown tag %" PRIu64, chunk->tag);
		return err ? explain(chunks, err, error) : -EILSEQ;
	}
	chunk->tag -= is_packed;
	error->text[0] = '\0';
	result = read_contents(chunks, chunk, is_packed, error);
	if (result == -EILSEQ && chunk->tag == FTR_TAG_INFO)
		result = read_bare_info(chunks, chunk, at);
	if (result == 1 || result == -ENOMEM)
		return result;
	if (result != -EILSEQ)
		return explain(chunks, result, error);
	if (!error->text[0])
		error_set(error, "it is not made as such a chunk is");
	err = pass(chunks, at);
	return err ? explain(chunks, err, error) : -EILSEQ;
}

int ftr_chunk_next(struct ftr_chunks *chunks, struct ftr_chunk *chunk, struct error *error)
{
	struct cbor_item item;
	size_t length;
	int err;

	import_source_skip(chunks->source, chunks->at);
	chunks->at = 0;
	*chunk = (struct ftr_chunk){ .offset = import_source_offset(chunks->source) };
	/* the break may be missing, and what stands behind it is not read */
	if (!import_source_peek(chunks->source, 1, &length))
		return -ENOMEM;
	if (length == 0)
		return import_source_error(chunks->source) ? explain(chunks, -ENODATA, error) : 0;
	err = next_item(chunks, &item, false);
	if (err)
		return explain(chunks, err, error);
	if (item.kind == CBOR_BREAK)
		return 0;
	if (item.kind != CBOR_TAG) {
		error_set(error, "there is something else than a chunk");
		return -EBADMSG;
	}
	chunk->tag = item.value;
	return read_chunk(chunks, chunk, error);
}
