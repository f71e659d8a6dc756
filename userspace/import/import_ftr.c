/* SPDX-License-Identifier: BSD-2-Clause */
/* FTR, the recording of transactions of LWTR4SC: what the contents of its chunks are. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "import/ftr_chunk.h"
#include "import/ftr_story.h"
#include "import/import_formats.h"

#define SECONDS_MAX (1ull << 33) /* a creation time that is later is none */

struct reader {
	struct import *import;
	struct ftr_story story;
	struct ftr_attribute *attributes; /* of a transaction */
	uint64_t transaction_cnt;	  /* of the chunk */
	uint64_t info_cnt;
	uint64_t unknown_class_cnt, unknown_type_cnt, wrong_value_cnt, too_many_cnt, no_room_cnt,
		odd_info_cnt;
};

/* ---- items that have to be there: 0, -EBADMSG, -ENODATA ---- */

static int expect(struct cbor_reader *reader, enum cbor_kind kind, uint64_t *value)
{
	struct cbor_item item;
	int err = cbor_next(reader, &item);

	*value = item.value;
	return err ? err : item.kind == kind ? 0 : -EBADMSG;
}

static int expect_exactly(struct cbor_reader *reader, enum cbor_kind kind, uint64_t value)
{
	uint64_t found;
	int err = expect(reader, kind, &found);

	return err ? err : found == value ? 0 : -EBADMSG;
}

static int expect_numbers(struct cbor_reader *reader, uint64_t *numbers, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++)
		err = expect(reader, CBOR_UNSIGNED, &numbers[i]);
	return err;
}

/* Whether there is one more item in an array or a map: 1, 0, or an error. */
static int has_more(struct cbor_reader *reader, uint64_t *left)
{
	if (*left != CBOR_INDEFINITE)
		return *left > 0 ? (--*left, 1) : 0;
	if (reader->at == reader->end)
		return -ENODATA;
	if (*reader->at != 0xff)
		return 1;
	reader->at++;
	return 0;
}

/* ---- info, dictionary, directory ---- */

static int read_info(struct reader *reader, struct cbor_reader *contents)
{
	struct ftr_story *story = &reader->story;
	struct cbor_item item;
	int err = expect_exactly(contents, CBOR_ARRAY, 2);

	err = err ? err : cbor_next(contents, &item);
	if (err || !cbor_signed(&item, &story->exponent))
		return err ? err : -EBADMSG;
	story->has_info = true;
	err = expect_exactly(contents, CBOR_TAG, FTR_TAG_TIME);
	err = err ? err : cbor_next(contents, &item);
	if (err)
		return err;
	if (item.kind == CBOR_FLOAT && item.real >= 0 && item.real < (double)SECONDS_MAX)
		story->creation_s = (uint64_t)item.real;
	else if (item.kind == CBOR_UNSIGNED && item.value < SECONDS_MAX)
		story->creation_s = item.value;
	else
		return -EBADMSG;
	story->has_creation = true;
	reader->odd_info_cnt += reader->info_cnt++ > 0;
	return 0;
}

static int read_dictionary(struct reader *reader, struct cbor_reader *contents)
{
	struct cbor_item item;
	uint64_t left, id;
	int more, err = expect(contents, CBOR_MAP, &left);

	while (!err && (more = has_more(contents, &left)) != 0) {
		if (more < 0)
			return more;
		err = expect(contents, CBOR_UNSIGNED, &id);
		err = err ? err : cbor_next(contents, &item);
		if (!err && item.kind != CBOR_TEXT)
			err = -EBADMSG;
		err = err ? err : ftr_story_add_text(&reader->story, id, item.bytes, item.length);
	}
	return err;
}

static int read_entry(struct reader *reader, struct cbor_reader *contents)
{
	uint64_t tag, numbers[3];
	int err = expect(contents, CBOR_TAG, &tag);

	err = err ? err : expect_exactly(contents, CBOR_ARRAY, 3);
	err = err ? err : expect_numbers(contents, numbers, 3);
	if (err)
		return err;
	if (tag == FTR_TAG_STREAM)
		err = ftr_story_add_stream(&reader->story, numbers[0], numbers[1], numbers[2]);
	else if (tag == FTR_TAG_GENERATOR)
		err = ftr_story_add_generator(&reader->story, numbers[0], numbers[1], numbers[2]);
	else
		return -EBADMSG;
	if (err != -E2BIG)
		return err;
	reader->no_room_cnt++;
	return 0;
}

/* ---- transactions ---- */

/* false: it is none of this type. */
static bool read_value(struct ftr_attribute *attribute, const struct cbor_item *item)
{
	double real = item->real;
	int64_t number;

	attribute->value = item->value;
	switch ((enum ftr_type)attribute->type) {
	case FTR_BOOLEAN:
		attribute->value = item->value != 0;
		return item->kind == CBOR_BOOL || item->kind == CBOR_UNSIGNED;
	case FTR_INTEGER:
		if (!cbor_signed(item, &number))
			return false;
		attribute->value = (uint64_t)number;
		return true;
	case FTR_FLOATING_POINT_NUMBER:
	case FTR_FIXED_POINT_INTEGER:
	case FTR_UNSIGNED_FIXED_POINT_INTEGER:
		if (cbor_signed(item, &number))
			real = (double)number;
		else if (item->kind != CBOR_FLOAT)
			return false;
		memcpy(&attribute->value, &real, sizeof(real));
		return true;
	default:
		return item->kind == CBOR_UNSIGNED;
	}
}

/* Behind the tag. *cnt: how many there are with it. */
static int read_attribute(struct reader *reader, struct cbor_reader *contents, uint64_t class, size_t *cnt)
{
	struct ftr_attribute attribute = { .class = (uint8_t) class };
	uint64_t type;
	struct cbor_item item;
	int err = expect_exactly(contents, CBOR_ARRAY, 3);

	err = err ? err : expect(contents, CBOR_UNSIGNED, &attribute.name);
	err = err ? err : expect(contents, CBOR_UNSIGNED, &type);
	err = err ? err : cbor_next(contents, &item);
	if (err)
		return err;
	attribute.type = (uint8_t)(type < FTR_TYPE_CNT ? type : FTR_TYPE_CNT);
	if (type < FTR_TYPE_CNT && read_value(&attribute, &item)) {
		reader->too_many_cnt += *cnt == FTR_ATTRIBUTE_MAX;
		if (*cnt < FTR_ATTRIBUTE_MAX)
			reader->attributes[(*cnt)++] = attribute;
		return 0;
	}
	reader->unknown_type_cnt += type >= FTR_TYPE_CNT;
	reader->wrong_value_cnt += type < FTR_TYPE_CNT;
	return cbor_skip(contents, &item);
}

static int read_transaction(struct reader *reader, struct cbor_reader *contents, uint64_t stream)
{
	struct ftr_transaction transaction = { .stream = stream };
	uint64_t left, numbers[4];
	struct cbor_item item;
	int more, err = expect(contents, CBOR_ARRAY, &left);

	err = err ? err : has_more(contents, &left) == 1 ? 0 : -EBADMSG;
	err = err ? err : expect_exactly(contents, CBOR_TAG, FTR_TAG_TRANSACTION);
	err = err ? err : expect_exactly(contents, CBOR_ARRAY, 4);
	err = err ? err : expect_numbers(contents, numbers, 4);
	while (!err && (more = has_more(contents, &left)) != 0) {
		if (more < 0)
			return more;
		err = cbor_next(contents, &item);
		if (!err && item.kind == CBOR_TAG && item.value >= FTR_TAG_CLASS &&
		    item.value < FTR_TAG_CLASS + FTR_CLASS_CNT) {
			err = read_attribute(reader, contents, item.value - FTR_TAG_CLASS,
					     &transaction.attribute_cnt);
			continue;
		}
		reader->unknown_class_cnt++;
		err = err ? err : cbor_skip(contents, &item);
	}
	if (err)
		return err;
	transaction.id = numbers[0];
	transaction.generator = numbers[1];
	transaction.begin_ps = numbers[2];
	transaction.end_ps = numbers[3];
	transaction.attributes = reader->attributes;
	reader->transaction_cnt++;
	err = ftr_story_add_transaction(&reader->story, &transaction);
	reader->no_room_cnt += err == -E2BIG;
	return err == -E2BIG ? 0 : err;
}

static int read_relation(struct reader *reader, struct cbor_reader *contents)
{
	uint64_t cnt, numbers[5];
	int err = expect(contents, CBOR_ARRAY, &cnt);

	if (!err && cnt != 3 && cnt != 5) /* before 2023 without the streams */
		err = -EBADMSG;
	err = err ? err : expect_numbers(contents, numbers, cnt);
	return err ? err : ftr_story_add_relation(&reader->story, numbers[0], numbers[1], numbers[2]);
}

/* ---- chunks ---- */

static int read_list(struct reader *reader, const struct ftr_chunk *chunk, struct cbor_reader *contents)
{
	uint64_t left;
	int more, err = expect(contents, CBOR_ARRAY, &left);

	reader->transaction_cnt = 0;
	while (!err && (more = has_more(contents, &left)) != 0) {
		if (more < 0)
			return more;
		if (chunk->tag == FTR_TAG_DIRECTORY)
			err = read_entry(reader, contents);
		else if (chunk->tag == FTR_TAG_TRANSACTIONS)
			err = read_transaction(reader, contents, chunk->stream);
		else
			err = read_relation(reader, contents);
	}
	return err;
}

static int lose_block(struct reader *reader, const struct ftr_chunk *chunk)
{
	if (chunk->tag / 2 * 2 != FTR_TAG_TRANSACTIONS)
		return 0;
	return ftr_story_add_loss(&reader->story, chunk->begin_ps, chunk->end_ps, 1);
}

static int add_chunk(struct reader *reader, struct ftr_chunk *chunk)
{
	struct cbor_reader contents = chunk->contents;
	int err;

	if (chunk->tag == FTR_TAG_INFO)
		err = read_info(reader, &contents);
	else if (chunk->tag == FTR_TAG_DICTIONARY)
		err = read_dictionary(reader, &contents);
	else
		err = read_list(reader, chunk, &contents);
	if (err != -EBADMSG && err != -ENODATA)
		return err;
	err = lose_block(reader, chunk);
	return err ? err
		   : import_complain(
			     reader->import, chunk->offset,
			     "in a chunk of %s, byte %zu of its contents can't be read; what follows in "
			     "the chunk is left out",
			     ftr_chunk_name(chunk->tag), (size_t)(contents.at - chunk->contents.at));
}

static int read_chunks(struct reader *reader, struct import_source *source)
{
	struct ftr_chunks chunks = { .source = source };
	struct ftr_chunk chunk;
	struct error error;
	int result = 0, err = 0;

	if (!ftr_chunks_begin(&chunks))
		return import_refuse(reader->import,
				     "it does not begin with CBOR's tag 55799 and an array, as FTR does");
	while (!err && (result = ftr_chunk_next(&chunks, &chunk, &error)) != 0) {
		if (result == 1) {
			err = add_chunk(reader, &chunk);
		} else if (result == -EILSEQ) {
			err = lose_block(reader, &chunk);
			err = err ? err
				  : import_complain(reader->import, chunk.offset,
						    "a chunk of %s is left out: %s",
						    ftr_chunk_name(chunk.tag), error.text);
		} else {
			break;
		}
	}
	if (!err && result == -EBADMSG && chunk.end_ps > 0)
		err = lose_block(reader, &chunk);
	if (!err && result == -EBADMSG)
		err = import_complain(reader->import, chunk.offset,
				      "%s; what follows in this file is not read", error.text);
	ftr_chunks_release(&chunks);
	return err ? err : result == -ENOMEM ? result : 0;
}

/* ---- all ---- */

static void note(struct import *import, uint64_t cnt, const char *what)
{
	if (cnt > 0)
		import_note(import, "%s: %" PRIu64, what, cnt);
}

static void tell_all(const struct reader *reader)
{
	const struct ftr_story *story = &reader->story;
	struct import *import = reader->import;

	if (story->has_info && story->exponent != FTR_EXPONENT)
		import_note(import,
			    "the times are taken for ps, as the format's writer makes them; the file says "
			    "10^%" PRId64 " s, which is the unit of attributes of the type TIME",
			    story->exponent);
	note(import, reader->odd_info_cnt, "further chunks of info, of which the last one counts");
	note(import, story->zero_length_cnt,
	     "transactions of no length, which may have been open when the recording ended");
	note(import, story->backward_cnt, "transactions that end before they begin, which get no length");
	note(import, story->no_stream_cnt, "streams without a name, as the directory does not have them");
	note(import, story->no_generator_cnt,
	     "transactions whose generator the directory does not have, spans without a label");
	note(import, story->event_ps_cnt, "times of events cut to ns");
	note(import, story->time_cnt, "values of the type TIME cut to ns");
	note(import, reader->unknown_class_cnt, "parts of transactions that are no attributes, left out");
	note(import, reader->unknown_type_cnt, "attributes of unknown types, left out");
	note(import, reader->wrong_value_cnt, "attributes whose value is not of their type, left out");
	note(import, reader->too_many_cnt, "attributes beyond the 65,536 of a transaction, left out");
	note(import, story->unknown_text_cnt, "texts that the dictionary does not have, unknown");
	note(import, story->text_lost_cnt,
	     "texts of the dictionary beyond the 128 MiB that are kept, unknown");
	note(import, story->cut_cnt, "texts longer than a log can hold, cut");
	note(import, story->late_relation_cnt,
	     "relations of transactions that are not there, or beyond the first million, written at the end");
	note(import, reader->no_room_cnt + story->generator_lost_cnt,
	     "streams, generators and transactions of streams beyond what can be kept, left out");
}

static int read_all(struct reader *reader)
{
	struct import_source *source;
	int result = import_next_source(reader->import, &source);
	int err = result < 0 ? result : result == 0 ? 0 : read_chunks(reader, source);

	err = err ? err : ftr_story_tell(&reader->story);
	if (err)
		return err;
	result = import_next_source(reader->import, &source);
	if (result == 1)
		return import_refuse(reader->import,
				     "each FTR file is a trace of its own: import one at a time");
	return result;
}

static int read_ftr(struct import *import)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->import = import;
	reader->attributes = calloc(FTR_ATTRIBUTE_MAX, sizeof(*reader->attributes));
	err = ftr_story_init(&reader->story, import);
	if (!err && !reader->attributes)
		err = -ENOMEM;
	err = err ? err : read_all(reader);
	if (!err)
		tell_all(reader);
	ftr_story_release(&reader->story);
	free(reader->attributes);
	free(reader);
	return err;
}

static bool is_ftr(const uint8_t *head, size_t length)
{
	static const uint8_t tagged[] = { 0xd9, 0xd9, 0xf7, 0x9f };

	return length >= sizeof(tagged) && memcmp(head, tagged, sizeof(tagged)) == 0;
}

const struct import_format import_ftr = {
	.name = "ftr",
	.help = "FTR, the recording of transactions of LWTR4SC (SystemC)",
	.is_format = is_ftr,
	.read = read_ftr,
};
