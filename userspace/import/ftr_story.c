/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/ftr_story.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

#define SORT_BYTES (64u << 20)
#define SMALL_ID_MAX (1u << 22) /* ids of texts that are indexes of an array; the writer counts from 0 */

struct item {
	uint64_t kind, id, stream, generator, begin_ps, end_ps;
};

static_assert(sizeof(struct ftr_attribute) == 24, "attributes are copied as they are");

/* Where what is too much for memory goes. */
static int open_directory(void)
{
	const char *path = secure_getenv("TMPDIR");
	int fd = open(path && path[0] ? path : _PATH_TMP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int ftr_story_init(struct ftr_story *story, struct import *import)
{
	*story = (struct ftr_story){ .import = import, .exponent = FTR_EXPONENT };
	id_map_init(&story->texts);
	id_map_init(&story->stream_of);
	id_map_init(&story->generator_of);
	story->directory = open_directory();
	story->sort = spill_sort_new(story->directory, SORT_BYTES);
	story->strings = string_pool_new();
	return story->sort && story->strings ? 0 : -ENOMEM;
}

void ftr_story_release(struct ftr_story *story)
{
	for (size_t i = 0; i < story->stream_cnt; i++)
		free(story->streams[i]);
	for (size_t i = 0; i < story->generator_cnt; i++)
		free(story->generators[i]);
	free(story->streams);
	free(story->generators);
	free(story->relations);
	free(story->by_from);
	free(story->by_to);
	free(story->text_numbers);
	free(story->declared);
	free(story->item);
	id_map_release(&story->texts);
	id_map_release(&story->stream_of);
	id_map_release(&story->generator_of);
	string_pool_free(story->strings);
	spill_sort_free(story->sort);
	if (story->directory >= 0)
		close(story->directory);
}

/* Room for one more in an array of pointers. */
static int grow(void *array, size_t cnt)
{
	void **items = array_grow_unnoted(*(void **)array, cnt, sizeof(void *));

	if (!items)
		return -ENOMEM;
	*(void **)array = items;
	return 0;
}

/* ---- texts ---- */

static int set_small_id(struct ftr_story *story, uint64_t id, uint32_t number)
{
	size_t cnt = story->text_number_cnt > 0 ? story->text_number_cnt : 1024;
	uint32_t *numbers;

	while (cnt <= id)
		cnt *= 2;
	if (cnt != story->text_number_cnt) {
		numbers = reallocarray(story->text_numbers, cnt, sizeof(*numbers));
		if (!numbers)
			return -ENOMEM;
		memset(numbers + story->text_number_cnt, 0xff,
		       (cnt - story->text_number_cnt) * sizeof(*numbers));
		story->text_numbers = numbers;
		story->text_number_cnt = cnt;
	}
	story->text_numbers[id] = number;
	return 0;
}

int ftr_story_add_text(struct ftr_story *story, uint64_t id, const uint8_t *bytes, size_t length)
{
	uint32_t number;
	int err;

	if (string_pool_bytes(story->strings) + length > FTR_TEXT_BYTES_MAX ||
	    story->texts.cnt >= SMALL_ID_MAX) {
		story->text_lost_cnt++;
		return 0;
	}
	err = string_pool_add(story->strings, (const char *)bytes, length, &number);
	if (err)
		return err;
	if (id < SMALL_ID_MAX)
		return set_small_id(story, id, number);
	/* a number, not a pointer: + 1, as a map has no NULL */
	return id_map_put(&story->texts, 0, id, (void *)((uintptr_t)number + 1));
}

static uint32_t text_number(const struct ftr_story *story, uint64_t id)
{
	uintptr_t number;

	if (id < story->text_number_cnt)
		return story->text_numbers[id];
	number = (uintptr_t)id_map_get(&story->texts, 0, id);
	return number ? (uint32_t)(number - 1) : FTR_NO_TEXT;
}

struct txtrace_string ftr_story_text(struct ftr_story *story, uint64_t id)
{
	struct txtrace_string text = { "", 0 };
	uint32_t number = text_number(story, id);

	if (number == FTR_NO_TEXT)
		story->unknown_text_cnt += id != 0; /* 0 is the empty text */
	else
		text.bytes = string_pool_get(story->strings, number, &text.length);
	return text;
}

/* ---- streams and generators ---- */

static int find_stream(struct ftr_story *story, uint64_t id, struct ftr_stream **found)
{
	struct ftr_stream *stream = id_map_get(&story->stream_of, 0, id);

	*found = stream;
	if (stream)
		return 0;
	if (story->stream_cnt == FTR_STREAM_MAX)
		return -E2BIG;
	if (grow(&story->streams, story->stream_cnt))
		return -ENOMEM;
	stream = calloc(1, sizeof(*stream));
	if (!stream || id_map_put(&story->stream_of, 0, id, stream)) {
		free(stream);
		return -ENOMEM;
	}
	stream->id = id;
	stream->tid = FTR_STREAM_TID + (uint32_t)story->stream_cnt;
	story->streams[story->stream_cnt++] = *found = stream;
	return 0;
}

int ftr_story_add_stream(struct ftr_story *story, uint64_t id, uint64_t name, uint64_t kind)
{
	struct ftr_stream *stream;
	int err = find_stream(story, id, &stream);

	if (err)
		return err;
	stream->name = name;
	stream->kind = kind;
	stream->is_declared = true;
	return 0;
}

int ftr_story_add_generator(struct ftr_story *story, uint64_t id, uint64_t name, uint64_t stream)
{
	struct ftr_generator *generator = id_map_get(&story->generator_of, 0, id);

	if (!generator) {
		if (story->generator_cnt == FTR_GENERATOR_MAX)
			return -E2BIG;
		if (grow(&story->generators, story->generator_cnt))
			return -ENOMEM;
		generator = calloc(1, sizeof(*generator));
		if (!generator || id_map_put(&story->generator_of, 0, id, generator)) {
			free(generator);
			return -ENOMEM;
		}
		story->generators[story->generator_cnt++] = generator;
	}
	*generator = (struct ftr_generator){ .id = id, .name = name, .stream = stream };
	return 0;
}

/* ---- transactions and what stands among them ---- */

static int put(struct ftr_story *story, const struct item *item, const struct ftr_attribute *attributes,
	       size_t attribute_cnt)
{
	size_t length = sizeof(*item) + attribute_cnt * sizeof(*attributes);
	uint8_t *bytes = story->item;

	if (length > story->item_bytes) {
		bytes = realloc(story->item, length);
		if (!bytes)
			return -ENOMEM;
		story->item = bytes;
		story->item_bytes = length;
	}
	memcpy(bytes, item, sizeof(*item));
	if (attribute_cnt > 0)
		memcpy(bytes + sizeof(*item), attributes, attribute_cnt * sizeof(*attributes));
	return spill_sort_add(story->sort, item->end_ps, story->item_cnt++, bytes, (uint32_t)length);
}

int ftr_story_add_transaction(struct ftr_story *story, const struct ftr_transaction *transaction)
{
	struct item item = { FTR_ITEM_TRANSACTION,   transaction->id,	    transaction->stream,
			     transaction->generator, transaction->begin_ps, transaction->end_ps };
	struct ftr_stream *stream;
	int err = find_stream(story, transaction->stream, &stream);

	if (err)
		return err;
	if (item.end_ps < item.begin_ps) {
		story->backward_cnt++;
		item.end_ps = item.begin_ps;
	}
	return put(story, &item, transaction->attributes, transaction->attribute_cnt);
}

int ftr_story_add_relation(struct ftr_story *story, uint64_t name, uint64_t from, uint64_t to)
{
	struct item item = { FTR_ITEM_RELATION, from, to, name, 0, UINT64_MAX };
	struct ftr_relation *relations;

	if (story->relation_cnt == FTR_RELATION_MAX) {
		story->late_relation_cnt++;
		return put(story, &item, NULL, 0);
	}
	relations = array_grow(story->relations, &story->relation_size, story->relation_cnt,
			       sizeof(*relations));
	if (!relations)
		return -ENOMEM;
	story->relations = relations;
	story->relations[story->relation_cnt++] = (struct ftr_relation){ .name = name,
									 .from = from,
									 .to = to };
	return 0;
}

int ftr_story_add_loss(struct ftr_story *story, uint64_t begin_ps, uint64_t end_ps, uint64_t cnt)
{
	struct item item = { FTR_ITEM_LOSS, cnt, 0, 0, begin_ps, end_ps > begin_ps ? end_ps : begin_ps };

	return put(story, &item, NULL, 0);
}

int ftr_story_next(struct ftr_story *story, struct ftr_transaction *transaction, enum ftr_item_kind *kind)
{
	struct spill_item spilled;
	struct item item;
	int result = spill_sort_next(story->sort, &spilled);

	if (result != 1)
		return result;
	memcpy(&item, spilled.bytes, sizeof(item));
	if (spilled.length > story->item_bytes)
		return -EIO;
	/* items lie anywhere, attributes may not */
	memcpy(story->item, (const char *)spilled.bytes + sizeof(item), spilled.length - sizeof(item));
	*kind = (enum ftr_item_kind)item.kind;
	*transaction = (struct ftr_transaction){
		.id = item.id,
		.stream = item.stream,
		.generator = item.generator,
		.begin_ps = item.begin_ps,
		.end_ps = item.end_ps,
		.attribute_cnt = (spilled.length - sizeof(item)) / sizeof(struct ftr_attribute),
		.attributes = (const struct ftr_attribute *)story->item,
	};
	return 1;
}
