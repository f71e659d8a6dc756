/* SPDX-License-Identifier: BSD-2-Clause */
#include "ring/mark_join.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/id_map.h"
#include "txtrace/state_clock.h"

#define KEEP_NS 1000000000u /* a thread that has ended: what it told last comes behind that */

struct waiting {
	uint64_t number;      /* in the order in which they were added */
	struct wire_key *key; /* NULL: it is a span named by its id */
	union {
		struct wire_header header;
		struct wire_span span;
	};
};

struct thread {
	uint32_t tid;
	bool is_unsorted;      /* several lanes are read one after the other */
	uint64_t gone_ns;      /* 0: it has not ended */
	struct waiting *marks; /* those that wait, the first one at `first` */
	size_t first;
	size_t cnt;
	size_t room;
	struct wire_stay *stays; /* in their order */
	size_t stay_cnt;
	size_t stay_room;
	/* the stay that had its clocks sent: since when, and what interrupts took before; 0: none */
	uint64_t reported_ns;
	uint64_t reported_interrupt_ns;
};

struct mark_join {
	mark_join_push push;
	void *context;
	struct id_map threads; /* tid, 0 -> struct thread */
	struct thread *last;   /* that was asked for; NULL: none, or it is gone */
	uint64_t added_cnt;
	size_t waiting_cnt;
	size_t ended_cnt; /* threads that have ended and are not forgotten yet */
};

struct mark_join *mark_join_new(mark_join_push push, void *context)
{
	struct mark_join *join = calloc(1, sizeof(*join));

	if (!join)
		return NULL;
	join->push = push;
	join->context = context;
	id_map_init(&join->threads);
	return join;
}

static void free_thread(struct thread *thread)
{
	for (size_t i = 0; i < thread->cnt; i++)
		free(thread->marks[thread->first + i].key);
	free(thread->marks);
	free(thread->stays);
	free(thread);
}

void mark_join_free(struct mark_join *join)
{
	struct thread *thread;

	if (!join)
		return;
	for (size_t i = 0; (thread = id_map_next(&join->threads, &i));)
		free_thread(thread);
	id_map_release(&join->threads);
	free(join);
}

/* It is made if it is not there; NULL: no memory. */
static struct thread *get_thread(struct mark_join *join, uint32_t tid)
{
	struct thread *thread = join->last;

	if (thread && thread->tid == tid)
		return thread;
	thread = id_map_get(&join->threads, tid, 0);
	if (thread) {
		join->last = thread;
		return thread;
	}
	thread = calloc(1, sizeof(*thread));
	if (thread && id_map_put(&join->threads, tid, 0, thread)) {
		free(thread);
		return NULL;
	}
	if (thread)
		thread->tid = tid;
	return thread;
}

static bool is_keyed(const struct wire_header *record)
{
	return record->kind >= WIRE_KEY_BEGIN && record->kind <= WIRE_KEY_INSTANT;
}

/*
 * As the kernel side reads a thread's clocks (bpf/thread_clock.h); nothing that was stolen is known. Where
 * the kernel hid that it came onto its CPU, what goes by is unknown.
 */
static struct wire_clocks clocks_at(const struct wire_stay *stay, uint64_t time_ns)
{
	const struct state_clock now = { .since_ns = stay->since_ns, .state = stay->state };
	struct wire_clocks clocks = stay->clocks;

	state_clock_settle(&now, time_ns, 0, &clocks);
	return clocks;
}

/* header: of the whole record. stay: NULL, if it is not known. */
static int push(struct mark_join *join, struct thread *thread, struct wire_header *header,
		const struct wire_stay *stay)
{
	unsigned char record[sizeof(struct wire_key) + sizeof(struct wire_clocks)];
	size_t size = is_keyed(header) ? sizeof(struct wire_key) : sizeof(struct wire_span);
	struct wire_clocks clocks;

	bool is_hidden = stay && stay->state != WIRE_THREAD_ON_CPU; /* when it came is not known */

	if (!stay) {
		header->flags |= WIRE_NO_CLOCKS;
		header->size = (uint16_t)size;
		return join->push(join->context, header, size);
	}
	if (header->time_ns < stay->since_ns)
		header->time_ns = stay->since_ns;
	if (header->time_ns > stay->header.time_ns && !stay->is_still_on_cpu)
		header->time_ns = stay->header.time_ns;
	header->cpu = stay->header.cpu;
	if (!is_hidden && stay->since_ns == thread->reported_ns &&
	    stay->clocks.interrupt_ns == thread->reported_interrupt_ns && !is_keyed(header))
		return join->push(join->context, header, size);
	header->flags |= is_hidden ? WIRE_HAS_CLOCKS | WIRE_NOT_ARRIVED : WIRE_HAS_CLOCKS;
	thread->reported_ns = is_hidden ? 0 : stay->since_ns;
	thread->reported_interrupt_ns = stay->clocks.interrupt_ns;
	clocks = clocks_at(stay, header->time_ns);
	header->size = (uint16_t)(size + sizeof(clocks));
	memcpy(record, header, size);
	memcpy(record + size, &clocks, sizeof(clocks));
	return join->push(join->context, record, size + sizeof(clocks));
}

static int push_waiting(struct mark_join *join, struct thread *thread, struct waiting *waiting,
			const struct wire_stay *stay)
{
	int err;

	if (!waiting->key)
		return push(join, thread, &waiting->header, stay);
	err = push(join, thread, &waiting->key->header, stay);
	free(waiting->key);
	return err;
}

static int compare(const void *left, const void *right)
{
	const struct waiting *a = left, *b = right;

	if (a->header.time_ns != b->header.time_ns)
		return a->header.time_ns < b->header.time_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* The marks that lie in the stays that are known, and, up to told_ns, those that lie in none. */
static int match(struct mark_join *join, struct thread *thread, uint64_t told_ns)
{
	size_t at = 0;
	int err = 0;

	if (thread->is_unsorted)
		qsort(thread->marks + thread->first, thread->cnt, sizeof(*thread->marks), compare);
	thread->is_unsorted = false;
	while (!err && thread->cnt) {
		struct waiting *waiting = &thread->marks[thread->first];
		uint64_t time_ns = waiting->header.time_ns;
		const struct wire_stay *stay = NULL;

		while (at < thread->stay_cnt &&
		       thread->stays[at].header.time_ns + MARK_JOIN_JITTER_NS < time_ns)
			at++;
		if (at < thread->stay_cnt && time_ns + MARK_JOIN_JITTER_NS >= thread->stays[at].since_ns)
			stay = &thread->stays[at];
		if (!stay && time_ns > told_ns)
			break;
		thread->first++;
		thread->cnt--;
		join->waiting_cnt--;
		err = push_waiting(join, thread, waiting, stay);
	}
	if (!thread->cnt)
		thread->first = 0;
	/* marks of a stay may be read after it was told: the last one is kept */
	if (at == thread->stay_cnt && at)
		at--;
	thread->stay_cnt -= at;
	if (at)
		memmove(thread->stays, thread->stays + at, thread->stay_cnt * sizeof(*thread->stays));
	return err;
}

int mark_join_add(struct mark_join *join, const struct wire_header *record)
{
	struct thread *thread = get_thread(join, record->tid);
	struct waiting *waiting;

	if (!thread)
		return -ENOMEM;
	if (thread->first && thread->first + thread->cnt == thread->room) {
		memmove(thread->marks, thread->marks + thread->first, thread->cnt * sizeof(*thread->marks));
		thread->first = 0;
	}
	waiting = array_grow(thread->marks, &thread->room, thread->first + thread->cnt, sizeof(*waiting));
	if (!waiting)
		return -ENOMEM;
	thread->marks = waiting;
	waiting += thread->first + thread->cnt;
	if (thread->cnt && (waiting - 1)->header.time_ns > record->time_ns)
		thread->is_unsorted = true;
	waiting->key = NULL;
	if (is_keyed(record)) {
		waiting->key = malloc(sizeof(*waiting->key));
		if (!waiting->key)
			return -ENOMEM;
		memcpy(waiting->key, record, sizeof(*waiting->key));
		waiting->header = *record;
	} else {
		memcpy(&waiting->span, record, sizeof(waiting->span));
	}
	thread->cnt++;
	join->waiting_cnt++;
	waiting->number = join->added_cnt++;
	return 0;
}

int mark_join_stay(struct mark_join *join, const struct wire_stay *stay)
{
	struct thread *thread = get_thread(join, stay->header.tid);
	struct wire_stay *stays;
	size_t at;

	if (!thread)
		return -ENOMEM;
	stays = array_grow(thread->stays, &thread->stay_room, thread->stay_cnt, sizeof(*stays));
	if (!stays)
		return -ENOMEM;
	thread->stays = stays;
	/* a thread that was moved has told them to several CPUs' rings, which are read one after the other */
	for (at = thread->stay_cnt++; at > 0 && thread->stays[at - 1].header.time_ns > stay->header.time_ns;
	     at--)
		thread->stays[at] = thread->stays[at - 1];
	thread->stays[at] = *stay;
	return 0;
}

/* Not if there are stays since then: of another thread with its number. */
static bool is_over(struct mark_join *join, struct thread *thread, uint64_t done_ns)
{
	if (!thread->gone_ns || thread->cnt || done_ns < thread->gone_ns + KEEP_NS)
		return false;
	if (!thread->stay_cnt ||
	    thread->stays[thread->stay_cnt - 1].header.time_ns < thread->gone_ns + KEEP_NS / 2)
		return true;
	thread->gone_ns = 0;
	join->ended_cnt--;
	return false;
}

int mark_join_settle(struct mark_join *join, uint64_t told_ns, uint64_t added_ns)
{
	uint64_t done_ns = told_ns < added_ns ? told_ns : added_ns;
	struct thread *thread;
	int err = 0;

	for (size_t i = 0; !err && (thread = id_map_next(&join->threads, &i));) {
		err = match(join, thread, told_ns);
		if (!err && is_over(join, thread, done_ns)) {
			id_map_remove(&join->threads, thread->tid, 0);
			join->last = NULL;
			join->ended_cnt--;
			free_thread(thread);
			i = 0; /* what is removed may have moved others */
		}
	}
	return err;
}

uint64_t mark_join_waits_since_ns(const struct mark_join *join)
{
	uint64_t first_ns = UINT64_MAX;
	const struct thread *thread;

	for (size_t i = 0; (thread = id_map_next(&join->threads, &i));)
		if (thread->cnt && thread->marks[thread->first].header.time_ns < first_ns)
			first_ns = thread->marks[thread->first].header.time_ns;
	return first_ns;
}

size_t mark_join_waiting_cnt(const struct mark_join *join)
{
	return join->waiting_cnt;
}

size_t mark_join_ended_cnt(const struct mark_join *join)
{
	return join->ended_cnt;
}

void mark_join_forget(struct mark_join *join, uint32_t tid, uint64_t time_ns)
{
	struct thread *thread = id_map_get(&join->threads, tid, 0);

	if (!thread)
		return;
	join->ended_cnt += !thread->gone_ns;
	thread->gone_ns = time_ns;
}
