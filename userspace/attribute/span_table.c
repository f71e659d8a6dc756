/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/span_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/clocks.h"

#define TAG_MAX 4096

void span_table_init(struct span_table *table, struct thread_table *threads)
{
	*table = (struct span_table){ .threads = threads, .seed = (uintptr_t)table * 0x2545f4914f6cdd1dULL };
	pool_init(&table->spans, sizeof(struct span));
	pool_init(&table->stays, sizeof(struct stay));
	hash_index_init(&table->by_id);
	hash_index_init(&table->by_key);
}

static void free_texts(struct span *span)
{
	if (!span->is_text_inside)
		free((char *)span->record.label.bytes);
	free(span->tag);
}

void span_table_release(struct span_table *table)
{
	struct span *span;

	for (size_t i = 0; (span = span_table_next(table, &i));)
		free_texts(span);
	hash_index_release(&table->by_id);
	hash_index_release(&table->by_key);
	pool_release(&table->spans);
	pool_release(&table->stays);
}

static uint32_t hash_of_id(const struct span_table *table, uint32_t tgid, uint64_t id)
{
	return hash_of_pair(table->seed, tgid, id);
}

static uint32_t hash_of_key(const struct span_table *table, const struct event_text *key)
{
	uint64_t hash = table->seed ^ key->length;

	for (uint32_t i = 0; i < key->length; i++)
		hash = (hash ^ (unsigned char)key->bytes[i]) * 0x100000001b3ULL;
	return hash_of_pair(table->seed, 0, hash);
}

struct span *span_table_get(const struct span_table *table, uint32_t tgid, uint64_t id)
{
	uint32_t hash = hash_of_id(table, tgid, id);

	HASH_INDEX_EACH(&table->by_id, hash, slot, number) {
		struct span *span = pool_item(&table->spans, number);

		if (span->record.id == id && span->record.pid == tgid)
			return span;
	}
	return NULL;
}

struct span *span_table_get_keyed(const struct span_table *table, const struct event_text *key)
{
	uint32_t hash = hash_of_key(table, key);

	HASH_INDEX_EACH(&table->by_key, hash, slot, number) {
		struct span *span = pool_item(&table->spans, number);

		if (span->record.key.length == key->length && (!key->length || !memcmp(span->record.key.bytes, key->bytes, key->length)))
			return span;
	}
	return NULL;
}

struct span *span_table_next(const struct span_table *table, size_t *position)
{
	size_t id_slot_cnt = (size_t)table->by_id.mask + 1, slot_cnt = id_slot_cnt + table->by_key.mask + 1;

	while (*position < slot_cnt) {
		size_t slot = (*position)++;
		uint32_t item = slot < id_slot_cnt ? table->by_id.slots[slot].item : table->by_key.slots[slot - id_slot_cnt].item;

		if (item)
			return pool_item(&table->spans, item - 1);
	}
	return NULL;
}

static int set_text(struct span *span, const struct span_begin *begin)
{
	size_t label_length = begin->label->length, key_length = begin->key ? begin->key->length : 0;
	char *text = span->text;

	span->is_text_inside = label_length + key_length <= sizeof(span->text);
	if (!span->is_text_inside)
		text = malloc(label_length + key_length);
	if (!text)
		return -ENOMEM;
	if (label_length)
		memcpy(text, begin->label->bytes, label_length);
	if (key_length)
		memcpy(text + label_length, begin->key->bytes, key_length);
	span->record.label = (struct txtrace_string){ text, label_length };
	span->record.key = (struct txtrace_string){ text + label_length, key_length };
	return 0;
}

static void begin_record(struct span_table *table, struct span *span, const struct span_begin *begin)
{
	memset(span, 0, offsetof(struct span, text));
	span->record.id = begin->key ? ++table->keyed_cnt : begin->id;
	span->record.parent = begin->parent;
	span->record.pid = begin->tgid;
	span->record.tid = begin->tid;
	span->record.begin_ns = span->detached_since_ns = begin->time_ns;
	span->record.flags = begin->key ? TXTRACE_SPAN_KEYED : 0;
}

static struct hash_index *index_of(struct span_table *table, const struct span *span)
{
	return span->record.flags & TXTRACE_SPAN_KEYED ? &table->by_key : &table->by_id;
}

struct span *span_table_begin(struct span_table *table, const struct span_begin *begin)
{
	uint32_t number;
	struct span *span = pool_take(&table->spans, &number);

	if (!span)
		return NULL;
	begin_record(table, span, begin);
	span->number = number;
	span->hash = begin->key ? hash_of_key(table, begin->key) : hash_of_id(table, begin->tgid, begin->id);
	if (set_text(span, begin))
		goto give_back;
	if (hash_index_put(index_of(table, span), span->hash, number))
		goto free_texts;
	table->open_cnt++;
	return span;
free_texts:
	free_texts(span);
give_back:
	pool_give_back(&table->spans, number);
	return NULL;
}

/* A total order, so that the same stream always makes the same log. */
static int compare_begin(const void *a, const void *b)
{
	const struct txtrace_span *left = &(*(struct span *const *)a)->record, *right = &(*(struct span *const *)b)->record;

	if (left->begin_ns != right->begin_ns)
		return left->begin_ns < right->begin_ns ? -1 : 1;
	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if ((left->flags ^ right->flags) & TXTRACE_SPAN_KEYED)
		return left->flags & TXTRACE_SPAN_KEYED ? 1 : -1;
	return left->id < right->id ? -1 : left->id > right->id;
}

int span_table_list(const struct span_table *table, bool (*is_wanted)(const struct span *span, uint32_t tgid), uint32_t tgid,
		    struct span ***list, size_t *cnt)
{
	struct span *span;

	*cnt = 0;
	*list = malloc((table->open_cnt + 1) * sizeof(**list));
	if (!*list)
		return -ENOMEM;
	for (size_t i = 0; (span = span_table_next(table, &i));)
		if (is_wanted(span, tgid))
			(*list)[(*cnt)++] = span;
	qsort(*list, *cnt, sizeof(**list), compare_begin);
	return 0;
}

void span_table_end(struct span_table *table, struct span *span)
{
	hash_index_remove(index_of(table, span), span->hash, span->number);
	table->open_cnt--;
	free_texts(span);
	pool_give_back(&table->spans, span->number);
}

int span_add_tag(struct span *span, const struct event_text *text)
{
	size_t length = span->record.tag.length, comma = length ? 1 : 0, added = text->length;

	if (length + comma >= TAG_MAX)
		return 0;
	if (added > TAG_MAX - length - comma)
		added = TAG_MAX - length - comma;
	if (length + comma + added > span->tag_room) {
		size_t room = length + comma + added + 64;
		char *bigger = realloc(span->tag, room);

		if (!bigger)
			return -ENOMEM;
		span->tag = bigger;
		span->tag_room = room;
	}
	if (comma)
		span->tag[length] = ',';
	if (added)
		memcpy(span->tag + length + comma, text->bytes, added);
	span->record.tag = (struct txtrace_string){ span->tag, length + comma + added };
	return 0;
}

struct stay *span_stay_of(const struct span *span, const struct thread *thread)
{
	struct stay *stay = span->stays;

	while (stay && stay->thread != thread)
		stay = stay->next_of_span;
	return stay;
}

void span_charge_detached(struct span *span, uint64_t time_ns)
{
	uint64_t waited_ns = elapsed_ns(span->detached_since_ns, time_ns);

	span->record.ledger.detached_ns += waited_ns;
	span->record.work_ns += waited_ns;
	span->detached_since_ns = time_ns;
}

int span_enter(struct span_table *table, struct span *span, struct thread *thread, uint64_t time_ns, const struct wire_clocks *clocks)
{
	uint32_t number;
	struct stay *stay = pool_take(&table->stays, &number);

	if (!stay)
		return -ENOMEM;
	if (!span->stays)
		span_charge_detached(span, time_ns);
	if (thread->tid != span->record.tid)
		span->record.flags |= TXTRACE_SPAN_MOVED;
	*stay = (struct stay){
		.thread = thread,
		.span = span,
		.reading = clocks ? thread_hold_reading(thread) : NULL,
		.enter_ns = time_ns,
		.depth = 1,
		.number = number,
		.next_of_thread = thread->stays,
		.link_of_thread = &thread->stays,
		.next_of_span = span->stays,
	};
	if (thread->stays)
		thread->stays->link_of_thread = &stay->next_of_thread;
	thread->stays = span->stays = stay;
	span->stay_cnt++;
	return 0;
}

static void unlink_stay(struct stay *stay)
{
	struct stay **link = &stay->span->stays;

	*stay->link_of_thread = stay->next_of_thread;
	if (stay->next_of_thread)
		stay->next_of_thread->link_of_thread = stay->link_of_thread;
	while (*link != stay)
		link = &(*link)->next_of_span;
	*link = stay->next_of_span;
}

bool span_leave(struct span_table *table, struct stay *stay, uint64_t time_ns, const struct wire_clocks *clocks)
{
	struct span *span = stay->span;
	uint64_t stayed_ns = elapsed_ns(stay->enter_ns, time_ns);
	struct wire_clocks entered;
	bool is_sane = true;

	if (clocks && stay->reading) {
		thread_reading_at(stay->reading, stay->enter_ns, &entered);
		is_sane = ledger_add_clocks(&span->record.ledger, &entered, clocks, stayed_ns);
	} else {
		span->record.ledger.unknown_ns += stayed_ns;
	}
	span->record.work_ns += stayed_ns;
	unlink_stay(stay);
	if (stay->reading)
		thread_table_let_go(table->threads, stay->reading);
	pool_give_back(&table->stays, stay->number);
	if (!span->stays)
		span->detached_since_ns = time_ns;
	return is_sane;
}
