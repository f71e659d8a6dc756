/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/wait/stay_index.h"

#include <errno.h>
#include <stdlib.h>

#include "base/id_map.h"

#define NO_STAY UINT32_MAX
#define STAY_BYTES (sizeof(struct indexed_stay) + sizeof(uint32_t))
#define ENTRY_BYTES 48 /* in a map, about */

/*
 * Stays of a thread: stays[first] and following, sorted by enter; last_exit_ns of the middle one of a range
 * is the last exit in that range.
 */
struct thread_stays {
	size_t first;
	size_t cnt;
	uint32_t number;
};

struct stay_index {
	struct string_pool *labels;
	size_t max_bytes, used_bytes;
	struct indexed_stay *stays;
	uint32_t *next_of_span; /* of stays[i]: another one of the same span, which has not ended yet */
	size_t cnt, size;
	struct id_map threads; /* of a capture and process, by tid */
	struct id_map open;    /* spans that have stays and no record yet: number of the last stay + 1 */
	uint32_t thread_cnt;
	uint32_t capture;
	bool is_full;
};

struct stay_index *stay_index_new(struct string_pool *labels, size_t max_bytes)
{
	struct stay_index *stays = calloc(1, sizeof(*stays));

	if (!stays)
		return NULL;
	stays->labels = labels;
	stays->max_bytes = max_bytes;
	id_map_init(&stays->threads);
	id_map_init(&stays->open);
	return stays;
}

void stay_index_free(struct stay_index *stays)
{
	struct thread_stays *thread;

	if (!stays)
		return;
	for (size_t i = 0; (thread = id_map_next(&stays->threads, &i));)
		free(thread);
	id_map_release(&stays->threads);
	id_map_release(&stays->open);
	free(stays->stays);
	free(stays->next_of_span);
	free(stays);
}

void stay_index_begin_capture(struct stay_index *stays)
{
	stays->capture++;
}

bool stay_index_is_full(const struct stay_index *stays)
{
	return stays->is_full;
}

static uint64_t in_capture(const struct stay_index *stays, uint32_t number)
{
	return (uint64_t)stays->capture << 32 | number;
}

/* Whether there is room for so much more. */
static bool spend(struct stay_index *stays, size_t bytes)
{
	stays->is_full |= stays->used_bytes + bytes > stays->max_bytes;
	stays->used_bytes += stays->is_full ? 0 : bytes;
	return !stays->is_full;
}

static struct thread_stays *thread_of(struct stay_index *stays, uint32_t pid, uint32_t tid)
{
	struct thread_stays *thread = id_map_get(&stays->threads, in_capture(stays, pid), tid);

	if (thread)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	if (id_map_put(&stays->threads, in_capture(stays, pid), tid, thread)) {
		free(thread);
		return NULL;
	}
	thread->number = stays->thread_cnt++;
	return thread;
}

static int grow(struct stay_index *stays)
{
	size_t size = stays->size ? stays->size * 2 : 1024;
	struct indexed_stay *more = reallocarray(stays->stays, size, sizeof(*more));
	uint32_t *next;

	if (!more)
		return -ENOMEM;
	stays->stays = more;
	next = reallocarray(stays->next_of_span, size, sizeof(*next));
	if (!next)
		return -ENOMEM;
	stays->next_of_span = next;
	stays->size = size;
	return 0;
}

static int append(struct stay_index *stays, const struct indexed_stay *stay, uint32_t pid, uint32_t tid)
{
	struct thread_stays *thread;

	if (stays->cnt >= NO_STAY - 1 || !spend(stays, STAY_BYTES))
		return 0;
	if (stays->cnt == stays->size && grow(stays))
		return -ENOMEM;
	thread = thread_of(stays, pid, tid);
	if (!thread)
		return -ENOMEM;
	thread->cnt++;
	stays->stays[stays->cnt] = *stay;
	stays->stays[stays->cnt].thread = thread->number;
	stays->next_of_span[stays->cnt++] = NO_STAY;
	return 0;
}

/* Keyed spans belong to no process, and have ids of their own. */
static uint64_t span_scope(const struct stay_index *stays, uint32_t pid, bool is_keyed)
{
	return (uint64_t)stays->capture << 33 | (uint64_t)is_keyed << 32 | (is_keyed ? 0 : pid);
}

static int add_stay(struct stay_index *stays, const struct txtrace_stay *record)
{
	struct indexed_stay stay = { .enter_ns = record->enter_ns,
				     .exit_ns = record->exit_ns,
				     .label = STAY_INDEX_NO_LABEL };
	uint64_t scope = span_scope(stays, record->span_pid, record->is_keyed);
	size_t cnt = stays->cnt;
	uintptr_t before = (uintptr_t)id_map_get(&stays->open, scope, record->span);
	int err;

	if (!before && !spend(stays, ENTRY_BYTES))
		return 0;
	err = append(stays, &stay, record->pid, record->tid);
	if (err || stays->cnt == cnt)
		return err;
	stays->next_of_span[cnt] = before ? (uint32_t)(before - 1) : NO_STAY;
	return id_map_put(&stays->open, scope, record->span, (void *)(uintptr_t)(cnt + 1));
}

/* *label is STAY_INDEX_NO_LABEL for a new one that there is no room for. 0 or -ENOMEM. */
static int label_of(struct stay_index *stays, const struct txtrace_string *name, uint32_t *label)
{
	int err;

	*label = string_pool_find(stays->labels, name->bytes, name->length);
	if (*label != STRING_POOL_NONE)
		return 0;
	*label = STAY_INDEX_NO_LABEL;
	if (string_pool_bytes(stays->labels) + name->length >= stays->max_bytes) {
		stays->is_full = true;
		return 0;
	}
	err = string_pool_add(stays->labels, name->bytes, name->length, label);
	return err == -E2BIG ? 0 : err;
}

/* A span without stays had one thread in it, from when it was no longer detached. */
static int add_span(struct stay_index *stays, const struct txtrace_span *span)
{
	uint64_t scope = span_scope(stays, span->pid, span->flags & TXTRACE_SPAN_KEYED);
	uintptr_t last = (uintptr_t)id_map_remove(&stays->open, scope, span->id);
	struct indexed_stay stay = { .enter_ns = span->begin_ns + span->ledger.detached_ns,
				     .exit_ns = span->end_ns,
				     .is_exact = !(span->flags & TXTRACE_SPAN_LOWER_BOUND) };
	int err = label_of(stays, &span->label, &stay.label);

	if (err)
		return err;
	if (!last)
		return stay.enter_ns < stay.exit_ns
			       ? append(stays, &stay, span->pid, span->end_tid ? span->end_tid : span->tid)
			       : 0;
	for (uint32_t i = (uint32_t)(last - 1); i != NO_STAY; i = stays->next_of_span[i]) {
		stays->stays[i].label = stay.label;
		stays->stays[i].is_exact = stay.is_exact;
	}
	return 0;
}

int stay_index_add(struct stay_index *stays, const struct txtrace_record *record)
{
	if (record->kind == TXTRACE_RECORD_STAY)
		return add_stay(stays, &record->stay);
	return record->kind == TXTRACE_RECORD_SPAN ? add_span(stays, &record->span) : 0;
}

static int compare(const void *a, const void *b)
{
	const struct indexed_stay *left = a, *right = b;

	if (left->thread != right->thread)
		return left->thread < right->thread ? -1 : 1;
	if (left->enter_ns != right->enter_ns)
		return left->enter_ns < right->enter_ns ? -1 : 1;
	return left->exit_ns > right->exit_ns ? -1 : left->exit_ns < right->exit_ns;
}

/* The last exit in the range, noted at its middle. */
static uint64_t note_last_exits(struct indexed_stay *stays, size_t cnt)
{
	size_t middle = cnt / 2;
	uint64_t before, behind, last;

	if (!cnt)
		return 0;
	before = note_last_exits(stays, middle);
	behind = note_last_exits(stays + middle + 1, cnt - middle - 1);
	last = before > behind ? before : behind;
	stays[middle].last_exit_ns = last > stays[middle].exit_ns ? last : stays[middle].exit_ns;
	return stays[middle].last_exit_ns;
}

void stay_index_finish(struct stay_index *stays)
{
	struct thread_stays *thread;

	if (stays->cnt)
		qsort(stays->stays, stays->cnt, sizeof(*stays->stays), compare);
	for (size_t i = 0; (thread = id_map_next(&stays->threads, &i));) {
		size_t from = 0, to = stays->cnt;

		while (from < to) { /* the first one of this thread */
			size_t middle = from + (to - from) / 2;

			if (stays->stays[middle].thread < thread->number)
				from = middle + 1;
			else
				to = middle;
		}
		thread->first = from;
		note_last_exits(stays->stays + from, thread->cnt);
	}
	stays->capture = 0;
}

struct search {
	uint64_t from_ns, to_ns;
	const struct indexed_stay **found;
	size_t cnt, room;
};

static void search(const struct indexed_stay *stays, size_t cnt, struct search *for_what)
{
	const struct indexed_stay *middle = stays + cnt / 2;

	if (!cnt || middle->last_exit_ns <= for_what->from_ns)
		return;
	search(stays, cnt / 2, for_what);
	if (middle->enter_ns >= for_what->to_ns)
		return;
	if (middle->exit_ns > for_what->from_ns && for_what->cnt < for_what->room)
		for_what->found[for_what->cnt++] = middle;
	search(middle + 1, cnt - cnt / 2 - 1, for_what);
}

size_t stay_index_find(const struct stay_index *stays, uint32_t pid, uint32_t tid, uint64_t from_ns,
		       uint64_t to_ns, const struct indexed_stay **found, size_t cnt)
{
	const struct thread_stays *thread = id_map_get(&stays->threads, in_capture(stays, pid), tid);
	struct search for_what = { .from_ns = from_ns, .to_ns = to_ns, .found = found, .room = cnt };

	if (thread)
		search(stays->stays + thread->first, thread->cnt, &for_what);
	return for_what.cnt;
}
