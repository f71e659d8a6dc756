/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/span_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attribute/clocks.h"

#define TAG_MAX 4096

void span_table_init(struct span_table *table)
{
	*table = (struct span_table){ 0 };
	id_map_init(&table->by_id);
	id_map_init(&table->by_key);
}

static void span_free(struct span *span)
{
	while (span->stays) {
		struct stay *next = span->stays->next_of_span;

		free(span->stays);
		span->stays = next;
	}
	free(span->text);
	free(span->tag);
	free(span);
}

void span_table_release(struct span_table *table)
{
	struct span *span;

	for (size_t i = 0; (span = id_map_next(&table->by_id, &i));)
		span_free(span);
	for (size_t i = 0; (span = id_map_next(&table->by_key, &i));) {
		while (span) {
			struct span *next = span->next_of_hash;

			span_free(span);
			span = next;
		}
	}
	while (table->free_stays) {
		struct stay *next = table->free_stays->next_of_span;

		free(table->free_stays);
		table->free_stays = next;
	}
	id_map_release(&table->by_id);
	id_map_release(&table->by_key);
}

struct span *span_table_get(const struct span_table *table, uint32_t tgid, uint64_t id)
{
	return id_map_get(&table->by_id, tgid, id);
}

static uint64_t hash_of(const struct event_text *key)
{
	uint64_t hash = 0xcbf29ce484222325ULL ^ key->length;

	for (uint32_t i = 0; i < key->length; i++)
		hash = (hash ^ (unsigned char)key->bytes[i]) * 0x100000001b3ULL;
	return hash;
}

struct span *span_table_get_keyed(const struct span_table *table, const struct event_text *key)
{
	struct span *span = id_map_get(&table->by_key, 0, hash_of(key));

	while (span && (span->record.key.length != key->length || (key->length && memcmp(span->record.key.bytes, key->bytes, key->length))))
		span = span->next_of_hash;
	return span;
}

static int set_text(struct span *span, const struct span_begin *begin)
{
	size_t label_length = begin->label->length, key_length = begin->key ? begin->key->length : 0;

	span->text = malloc(label_length + key_length + 1);
	if (!span->text)
		return -ENOMEM;
	if (label_length)
		memcpy(span->text, begin->label->bytes, label_length);
	if (key_length)
		memcpy(span->text + label_length, begin->key->bytes, key_length);
	span->record.label = (struct txtrace_string){ span->text, label_length };
	span->record.key = (struct txtrace_string){ span->text + label_length, key_length };
	return 0;
}

static int insert(struct span_table *table, struct span *span, const struct span_begin *begin)
{
	if (!begin->key)
		return id_map_put(&table->by_id, begin->tgid, begin->id, span);
	span->key_hash = hash_of(begin->key);
	span->next_of_hash = id_map_get(&table->by_key, 0, span->key_hash);
	span->record.id = ++table->keyed_cnt;
	return id_map_put(&table->by_key, 0, span->key_hash, span);
}

struct span *span_table_begin(struct span_table *table, const struct span_begin *begin)
{
	struct span *span = calloc(1, sizeof(*span));

	if (!span)
		return NULL;
	span->record.id = begin->id;
	span->record.parent = begin->parent;
	span->record.pid = begin->tgid;
	span->record.tid = begin->tid;
	span->record.begin_ns = span->detached_since_ns = begin->time_ns;
	span->record.flags = begin->key ? TXTRACE_SPAN_KEYED : 0;
	if (set_text(span, begin) || insert(table, span, begin)) {
		span_free(span);
		return NULL;
	}
	table->open_cnt++;
	return span;
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
	for (size_t i = 0; (span = id_map_next(&table->by_id, &i));)
		if (is_wanted(span, tgid))
			(*list)[(*cnt)++] = span;
	for (size_t i = 0; (span = id_map_next(&table->by_key, &i));)
		for (; span; span = span->next_of_hash)
			if (is_wanted(span, tgid))
				(*list)[(*cnt)++] = span;
	qsort(*list, *cnt, sizeof(**list), compare_begin);
	return 0;
}

static void remove_keyed(struct span_table *table, struct span *span)
{
	struct span *first = id_map_get(&table->by_key, 0, span->key_hash);

	if (first == span) {
		if (span->next_of_hash)
			id_map_put(&table->by_key, 0, span->key_hash, span->next_of_hash); /* replaces: needs no memory */
		else
			id_map_remove(&table->by_key, 0, span->key_hash);
		return;
	}
	while (first->next_of_hash != span)
		first = first->next_of_hash;
	first->next_of_hash = span->next_of_hash;
}

void span_table_end(struct span_table *table, struct span *span)
{
	if (span->record.flags & TXTRACE_SPAN_KEYED)
		remove_keyed(table, span);
	else
		id_map_remove(&table->by_id, span->record.pid, span->record.id);
	table->open_cnt--;
	span_free(span);
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
	struct stay *stay = table->free_stays;

	if (stay)
		table->free_stays = stay->next_of_span;
	else if (!(stay = malloc(sizeof(*stay))))
		return -ENOMEM;
	if (!span->stays)
		span_charge_detached(span, time_ns);
	if (thread->tid != span->record.tid)
		span->record.flags |= TXTRACE_SPAN_MOVED;
	stay->thread = thread;
	stay->span = span;
	stay->enter_ns = time_ns;
	stay->depth = 1;
	stay->is_unknown = !clocks;
	if (clocks)
		stay->clocks = *clocks;
	stay->next_of_thread = thread->stays;
	stay->link_of_thread = &thread->stays;
	if (thread->stays)
		thread->stays->link_of_thread = &stay->next_of_thread;
	thread->stays = stay;
	stay->next_of_span = span->stays;
	span->stays = stay;
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
	bool is_sane = true;

	if (clocks && !stay->is_unknown)
		is_sane = ledger_add_clocks(&span->record.ledger, &stay->clocks, clocks, stayed_ns);
	else
		span->record.ledger.unknown_ns += stayed_ns;
	span->record.work_ns += stayed_ns;
	unlink_stay(stay);
	stay->next_of_span = table->free_stays;
	table->free_stays = stay;
	if (!span->stays)
		span->detached_since_ns = time_ns;
	return is_sane;
}
