/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/span_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/clocks.h"

#define TAG_MAX WIRE_TEXT_MAX
#define TAG_ROOM_MORE 64

_Static_assert(sizeof(struct span) == 192, "three lines of the cache");

void span_table_init(struct span_table *table, struct thread_table *threads)
{
	*table = (struct span_table){ .threads = threads, .seed = (uintptr_t)table * 0x2545f4914f6cdd1dULL };
	pool_init(&table->spans, sizeof(struct span));
	pool_init(&table->stays, sizeof(struct further_stay));
	pool_init(&table->accounts, sizeof(struct span_account));
	pool_init(&table->overlaps, sizeof(struct txtrace_ledger));
	pool_init(&table->covers, sizeof(struct cover));
	hash_index_init(&table->by_id);
	hash_index_init(&table->by_key);
}

static void free_texts(struct span *span)
{
	if (!span_text_is_inside(span))
		free(span->text.outside);
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
	pool_release(&table->accounts);
	pool_release(&table->overlaps);
	pool_release(&table->covers);
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

void span_table_fetch_slot(const struct span_table *table, uint32_t tgid, uint64_t id)
{
	__builtin_prefetch(&table->by_id.slots[hash_of_id(table, tgid, id) & table->by_id.mask]);
}

/* The first with the hash, which is mostly it. */
static const struct span *probably(const struct span_table *table, uint32_t tgid, uint64_t id)
{
	uint32_t hash = hash_of_id(table, tgid, id);

	HASH_INDEX_EACH(&table->by_id, hash, slot, number)
		return pool_item(&table->spans, number);
	return NULL;
}

void span_table_fetch(const struct span_table *table, uint32_t tgid, uint64_t id)
{
	const struct span *span = probably(table, tgid, id);

	if (span) {
		__builtin_prefetch(span);
		__builtin_prefetch(&span->parent);
		__builtin_prefetch(&span->own_stay);
	}
}

void span_table_fetch_reading(const struct span_table *table, uint32_t tgid, uint64_t id)
{
	const struct span *span = probably(table, tgid, id);

	if (span && span->own_stay.reading)
		thread_reading_fetch(span->own_stay.reading);
}

struct span *span_table_get(const struct span_table *table, uint32_t tgid, uint64_t id)
{
	uint32_t hash = hash_of_id(table, tgid, id);

	HASH_INDEX_EACH(&table->by_id, hash, slot, number) {
		struct span *span = pool_item(&table->spans, number);

		__builtin_prefetch(&span->parent);
		__builtin_prefetch(&span->own_stay);
		if (span->id == id && span->pid == tgid)
			return span;
	}
	return NULL;
}

struct span *span_table_get_keyed(const struct span_table *table, const struct event_text *key)
{
	uint32_t hash = hash_of_key(table, key);

	HASH_INDEX_EACH(&table->by_key, hash, slot, number) {
		struct span *span = pool_item(&table->spans, number);

		if (span->key_length == key->length &&
		    (!key->length || !memcmp(span_text(span) + span->label_length, key->bytes, key->length)))
			return span;
	}
	return NULL;
}

struct span *span_table_next(const struct span_table *table, size_t *position)
{
	size_t id_slot_cnt = (size_t)table->by_id.mask + 1, slot_cnt = id_slot_cnt + table->by_key.mask + 1;

	while (*position < slot_cnt) {
		size_t slot = (*position)++;
		uint32_t item = slot < id_slot_cnt ? table->by_id.slots[slot].item
						   : table->by_key.slots[slot - id_slot_cnt].item;

		if (item)
			return pool_item(&table->spans, item - 1);
	}
	return NULL;
}

static int set_text(struct span *span, const struct span_begin *begin)
{
	char *text = span->text.inside;

	span->label_length = begin->label->length < UINT16_MAX ? (uint16_t)begin->label->length : UINT16_MAX;
	span->key_length = begin->key ? (uint16_t)begin->key->length : 0;
	if (!span_text_is_inside(span)) {
		text = span->text.outside = malloc((size_t)span->label_length + span->key_length);
		if (!text)
			return -ENOMEM;
	}
	if (span->label_length)
		memcpy(text, begin->label->bytes, span->label_length);
	if (span->key_length)
		memcpy(text + span->label_length, begin->key->bytes, span->key_length);
	return 0;
}

static struct hash_index *index_of(struct span_table *table, const struct span *span)
{
	return span->flags & TXTRACE_SPAN_KEYED ? &table->by_key : &table->by_id;
}

struct span *span_table_begin(struct span_table *table, const struct span_begin *begin)
{
	uint32_t number;
	struct span *span = pool_take(&table->spans, &number);

	if (!span)
		return NULL;
	span->id = begin->key ? ++table->keyed_cnt : begin->id;
	span->begin_ns = span->detached_since_ns = begin->time_ns;
	span->stays = NULL;
	span->pid = begin->tgid;
	span->tid = begin->tid;
	span->flags = begin->parent_flags | (begin->key ? TXTRACE_SPAN_KEYED : 0);
	span->hash = begin->key ? hash_of_key(table, begin->key) : hash_of_id(table, begin->tgid, begin->id);
	span->number = number;
	span->account = span->overlap = span->own_cover = 0;
	span->stay_cnt = 0;
	span->has_checkpoint = span->has_waiting_marks = false;
	span->is_left_out = begin->is_left_out;
	span->is_unsampled = begin->is_unsampled;
	span->parent = begin->parent;
	span->tag = NULL;
	span->own_stay.thread = NULL;
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
	const struct span *left = *(struct span *const *)a, *right = *(struct span *const *)b;

	if (left->begin_ns != right->begin_ns)
		return left->begin_ns < right->begin_ns ? -1 : 1;
	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if ((left->flags ^ right->flags) & TXTRACE_SPAN_KEYED)
		return left->flags & TXTRACE_SPAN_KEYED ? 1 : -1;
	return left->id < right->id ? -1 : left->id > right->id;
}

int span_table_list(const struct span_table *table, bool (*is_wanted)(const struct span *span, uint32_t tgid),
		    uint32_t tgid, struct span ***list, size_t *cnt)
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
	if (span->account)
		pool_give_back(&table->accounts, span->account - 1);
	if (span->overlap)
		pool_give_back(&table->overlaps, span->overlap - 1);
	pool_give_back(&table->spans, span->number);
}

/* How long the tag is with the text, after a comma: none for the comma alone. */
static size_t longer_tag(const struct span *span, const struct event_text *text)
{
	size_t length = span->tag ? span->tag->length : 0, longer = length + (length ? 1 : 0) + text->length;

	if (length >= TAG_MAX - 1)
		return length;
	return longer < TAG_MAX ? longer : TAG_MAX;
}

/* The room that it needs; 0: it has enough. */
static size_t larger_room(const struct span *span, size_t length)
{
	if (span->tag && length <= span->tag->room)
		return 0;
	return length + TAG_ROOM_MORE + (length < 4096 ? 0 : length / 2); /* long ones grow in few steps */
}

size_t span_tag_growth(const struct span *span, const struct event_text *text)
{
	size_t room = larger_room(span, longer_tag(span, text));

	return room ? sizeof(*span->tag) + room + SPAN_HEAP_BYTES - span_tag_bytes(span) : 0;
}

int span_add_tag(struct span *span, const struct event_text *text)
{
	size_t length = span->tag ? span->tag->length : 0, longer = longer_tag(span, text),
	       room = larger_room(span, longer);
	struct span_tag *tag = span->tag;

	if (room) {
		tag = realloc(tag, sizeof(*tag) + room);
		if (!tag)
			return -ENOMEM;
		tag->room = (uint32_t)room;
		span->tag = tag;
	}
	if (length && length < longer)
		tag->bytes[length++] = ',';
	if (length < longer)
		memcpy(tag->bytes + length, text->bytes, longer - length);
	tag->length = (uint32_t)longer;
	return 0;
}

struct span_account *span_account(struct span_table *table, struct span *span)
{
	struct span_account *account;
	uint32_t number;

	if (span->account)
		return pool_item(&table->accounts, span->account - 1);
	account = pool_take(&table->accounts, &number);
	if (!account)
		return NULL;
	*account = (struct span_account){ 0 };
	span->account = number + 1;
	return account;
}

void span_read_account(const struct span_table *table, const struct span *span, struct span_account *account)
{
	if (span->account)
		*account = *(const struct span_account *)pool_item(&table->accounts, span->account - 1);
	else
		*account = (struct span_account){ 0 };
}

/* One of the two lists may be very long. */
struct stay *span_stay_of(const struct span *span, const struct thread *thread)
{
	struct stay *of_span = span->stays, *of_thread = thread->stays;

	while (of_span && of_thread) {
		if (of_span->thread == thread)
			return of_span;
		if (of_thread->span == span)
			return of_thread;
		of_span = of_span->next_of_span;
		of_thread = of_thread->next_of_thread;
	}
	return NULL;
}

void span_charge_detached(struct span *span, uint64_t time_ns, struct span_account *account)
{
	uint64_t waited_ns = elapsed_ns(span->detached_since_ns, time_ns);

	account->ledger.detached_ns += waited_ns;
	account->work_ns += waited_ns;
	span->detached_since_ns = time_ns;
}

/* Charges what the span waited for the thread that comes now. 0 or -ENOMEM. */
static int end_detached(struct span_table *table, struct span *span, uint64_t time_ns)
{
	struct span_account *account;

	if (span->stays || span->detached_since_ns >= time_ns)
		return 0;
	account = span_account(table, span);
	if (!account)
		return -ENOMEM;
	span_charge_detached(span, time_ns, account);
	return 0;
}

static struct stay *new_stay(struct span_table *table, struct span *span, uint32_t *number)
{
	*number = 0;
	return span->own_stay.thread ? pool_take(&table->stays, number) : &span->own_stay;
}

static void see_top_span(struct thread *thread)
{
	const struct stay *stay = thread->stays;
	const struct span *span;

	thread->is_top_hidden = stay && stay->span->is_left_out;
	while (stay && stay->span->is_left_out)
		stay = stay->next_of_thread;
	span = stay ? stay->span : NULL;
	thread->top_span = span ? span->id : 0;
	thread->is_top_span_keyed = span && span->flags & TXTRACE_SPAN_KEYED;
}

int span_enter(struct span_table *table, struct span *span, struct thread *thread, uint64_t time_ns,
	       struct thread_reading *reading)
{
	uint32_t number;
	struct stay *stay;

	if (end_detached(table, span, time_ns))
		return -ENOMEM;
	stay = new_stay(table, span, &number);
	if (!stay)
		return -ENOMEM;
	if (thread->tid != span->tid)
		span->flags |= TXTRACE_SPAN_MOVED;
	*stay = (struct stay){
		.thread = thread,
		.span = span,
		.next_of_thread = thread->stays,
		.link_of_thread = &thread->stays,
		.next_of_span = span->stays,
		.link_of_span = &span->stays,
		.reading = reading,
		.enter_ns = time_ns,
		.depth = 1,
		.number = number,
	};
	*stay_cover(stay) = 0;
	if (reading)
		reading->user_cnt++;
	if (thread->stays)
		thread->stays->link_of_thread = &stay->next_of_thread;
	if (span->stays)
		span->stays->link_of_span = &stay->next_of_span;
	thread->stays = span->stays = stay;
	see_top_span(thread);
	if (span->stay_cnt < 2)
		span->stay_cnt++;
	return 0;
}

static void free_stay(struct span_table *table, struct stay *stay)
{
	*stay->link_of_thread = stay->next_of_thread;
	if (stay->next_of_thread)
		stay->next_of_thread->link_of_thread = stay->link_of_thread;
	if (stay->link_of_thread == &stay->thread->stays || stay->thread->is_top_hidden)
		see_top_span(stay->thread);
	*stay->link_of_span = stay->next_of_span;
	if (stay->next_of_span)
		stay->next_of_span->link_of_span = stay->link_of_span;
	if (stay->reading)
		thread_table_let_go(table->threads, stay->reading);
	if (stay == &stay->span->own_stay)
		stay->thread = NULL;
	else
		pool_give_back(&table->stays, stay->number);
}

bool charge_between(struct txtrace_ledger *ledger, const struct thread_reading *from, uint64_t from_ns,
		    const struct thread_reading *to, uint64_t to_ns)
{
	uint64_t passed_ns = elapsed_ns(from_ns, to_ns);

	if (!from || !to) {
		ledger->unknown_ns += passed_ns;
	} else if (from == to) {
		ledger->on_cpu_ns += passed_ns;
	} else {
		return ledger_add_clocks(ledger, &from->clocks, elapsed_ns(from->time_ns, from_ns),
					 &to->clocks, elapsed_ns(to->time_ns, to_ns), passed_ns);
	}
	return true;
}

bool span_leave(struct span_table *table, struct stay *stay, uint64_t time_ns,
		const struct thread_reading *reading, struct span_account *account)
{
	struct span *span = stay->span;
	uint64_t before_ns = account->ledger.on_cpu_ns;
	bool is_sane = charge_between(&account->ledger, stay->reading, stay->enter_ns, reading, time_ns);

	account->stolen_doubt_ns += thread_stolen_doubt(table->threads, stay->reading, reading, time_ns,
							account->ledger.on_cpu_ns - before_ns);
	account->work_ns += elapsed_ns(stay->enter_ns, time_ns);
	free_stay(table, stay);
	if (!span->stays)
		span->detached_since_ns = time_ns;
	return is_sane;
}
