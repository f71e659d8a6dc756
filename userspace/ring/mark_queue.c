/* SPDX-License-Identifier: BSD-2-Clause */
#include "ring/mark_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/big_memory.h"

#define BLOCK_BYTES (2u << 20) /* a huge page: small ones cost more than what is put there */
/*
 * Of a slot of 32 bytes a mark has 40 here; a text takes more of a pool than of this. Half of a block can
 * remain empty, because the next text is longer.
 */
#define POOL_ROOM (2 * (MARK_POOL_BYTES / sizeof(struct mark_slot)) * sizeof(struct queued_mark))

struct block {
	struct block *next;
	size_t begin; /* of what is in it */
	size_t end;
	_Alignas(struct queued_mark) unsigned char bytes[BLOCK_BYTES - 3 * sizeof(uint64_t)];
};

struct mark_queue {
	struct block *first;
	struct block *last;
	struct block *spare; /* NULL: none */
	size_t block_cnt;
	struct mark_owner owner; /* of what is taken */
};

_Static_assert(sizeof(struct block) == BLOCK_BYTES, "a block");
_Static_assert(sizeof(struct queued_mark) == 40, "a queue of 512 MiB holds 13.4 million marks");

struct mark_queue *mark_queue_new(void)
{
	return calloc(1, sizeof(struct mark_queue));
}

void mark_queue_free(struct mark_queue *queue)
{
	if (!queue)
		return;
	while (queue->first) {
		struct block *block = queue->first;

		queue->first = block->next;
		free(block);
	}
	free(queue->spare);
	free(queue);
}

bool mark_queue_has_room(const struct mark_queue *queue)
{
	return (queue->block_cnt + 1) * sizeof(struct block) + POOL_ROOM <= MARK_QUEUE_BYTES;
}

static struct block *add_block(struct mark_queue *queue)
{
	struct block *block = queue->spare ? queue->spare : big_memory_new(sizeof(*block));

	if (!block)
		return NULL;
	queue->spare = NULL;
	block->next = NULL;
	block->begin = block->end = 0;
	if (queue->last)
		queue->last->next = block;
	else
		queue->first = block;
	queue->last = block;
	queue->block_cnt++;
	return block;
}

static size_t size_of(uint32_t text_length)
{
	return sizeof(struct queued_mark) + ((size_t)text_length + 7) / 8 * 8;
}

/* Room for one with such a text; NULL: no memory. */
static struct queued_mark *push(struct mark_queue *queue, uint32_t text_length)
{
	size_t size = size_of(text_length);
	struct block *block = queue->last;
	struct queued_mark *mark;

	if (!block || block->end + size > sizeof(block->bytes))
		block = add_block(queue);
	if (!block)
		return NULL;
	mark = (struct queued_mark *)(void *)(block->bytes + block->end);
	block->end += size;
	return mark;
}

int mark_queue_own(struct mark_queue *queue, const struct mark_owner *owner)
{
	struct queued_mark *mark = push(queue, 0);

	if (!mark)
		return -ENOMEM;
	*mark = (struct queued_mark){ .is_owner = true, .value = owner->label_base, .tid = owner->tgid };
	return 0;
}

_Static_assert(MARK_POOL_TEXT_MAX + sizeof(struct queued_mark) <= sizeof(((struct block *)0)->bytes) &&
		       MARK_POOL_TEXT_MAX < 1u << 21,
	       "a text fits");

int mark_queue_add(struct mark_queue *queue, const struct mark *mark, uint64_t time_ns)
{
	uint32_t length = mark->text_length;
	struct queued_mark *queued = push(queue, length);

	if (!queued)
		return -ENOMEM;
	*queued = (struct queued_mark){
		.time_ns = time_ns,
		.id = mark->id,
		.name = mark->name,
		.value = mark->value,
		.tid = mark->tid,
		.text_length = length,
		.kind = mark->kind,
		.is_truncated = mark->is_truncated,
		.is_unreadable = mark->is_unreadable,
	};
	if (length)
		memcpy(queued + 1, mark->text, length);
	return 0;
}

int mark_queue_end_turn(struct mark_queue *queue, uint64_t until_ns)
{
	struct queued_mark *mark = push(queue, 0);

	if (!mark)
		return -ENOMEM;
	*mark = (struct queued_mark){ .time_ns = until_ns };
	return 0;
}

bool mark_queue_is_empty(const struct mark_queue *queue)
{
	return !queue->first || (queue->first == queue->last && queue->first->begin == queue->first->end);
}

/* The one at its front has been taken. */
static void drop_block(struct mark_queue *queue)
{
	struct block *block = queue->first;

	queue->first = block->next;
	queue->block_cnt--;
	if (!queue->first)
		queue->last = NULL;
	free(queue->spare);
	queue->spare = block;
}

static const struct queued_mark *take_next(struct mark_queue *queue)
{
	const struct queued_mark *mark;

	while (queue->first && queue->first->begin == queue->first->end)
		drop_block(queue);
	if (!queue->first)
		return NULL;
	mark = (const struct queued_mark *)(const void *)(queue->first->bytes + queue->first->begin);
	queue->first->begin += size_of(mark->text_length);
	return mark;
}

const struct queued_mark *mark_queue_take(struct mark_queue *queue, struct mark_owner *owner)
{
	const struct queued_mark *mark = take_next(queue);

	while (mark && mark->is_owner) {
		queue->owner = (struct mark_owner){ .label_base = mark->value, .tgid = mark->tid };
		mark = take_next(queue);
	}
	*owner = queue->owner;
	return mark;
}
