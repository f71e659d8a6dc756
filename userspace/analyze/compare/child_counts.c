/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/compare/child_counts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/id_map.h"
#include "base/saturating.h"

#define KEYED_SCOPE (1ULL << 32) /* above every pid */
#define THREADS 3                /* of a span's children; those of more are not taken off */

struct thread_sum {
	uint32_t tid;
	uint64_t work_ns;
	uint64_t on_cpu_ns;
};

struct pending {
	struct child_entry *entries;
	uint16_t entry_cnt, entry_size;
	uint16_t thread_cnt;
	struct thread_sum threads[THREADS];
};

struct child_counts {
	struct id_map pending;
	struct pending *told; /* what the last *below points into */
	uint64_t left_out_cnt;
};

struct child_counts *child_counts_new(void)
{
	struct child_counts *counts = calloc(1, sizeof(*counts));

	if (counts)
		id_map_init(&counts->pending);
	return counts;
}

static void free_pending(struct pending *pending)
{
	if (!pending)
		return;
	free(pending->entries);
	free(pending);
}

void child_counts_free(struct child_counts *counts)
{
	struct pending *pending;

	if (!counts)
		return;
	for (size_t i = 0; (pending = id_map_next(&counts->pending, &i));)
		free_pending(pending);
	id_map_release(&counts->pending);
	free_pending(counts->told);
	free(counts);
}

static void forget_all(struct child_counts *counts)
{
	struct pending *pending;

	increase(&counts->left_out_cnt, counts->pending.cnt);
	for (size_t i = 0; (pending = id_map_next(&counts->pending, &i));)
		free_pending(pending);
	id_map_release(&counts->pending);
	id_map_init(&counts->pending);
}

static int find(struct child_counts *counts, uint64_t scope, uint64_t id, struct pending **found)
{
	int err;

	*found = id_map_get(&counts->pending, scope, id);
	if (*found)
		return 0;
	if (counts->pending.cnt >= PENDING_MAX)
		forget_all(counts);
	*found = calloc(1, sizeof(**found));
	err = *found ? id_map_put(&counts->pending, scope, id, *found) : -ENOMEM;
	if (err) {
		free(*found);
		*found = NULL;
	}
	return err;
}

static int grow(struct pending *pending)
{
	uint16_t size = pending->entry_size ? (uint16_t)(pending->entry_size * 2) : 4;
	struct child_entry *grown = reallocarray(pending->entries, size, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	pending->entries = grown;
	pending->entry_size = size;
	return 0;
}

static int increase_key(struct child_counts *counts, struct pending *pending, uint32_t key, bool is_direct,
			uint32_t by)
{
	int err = 0;

	for (uint16_t i = 0; i < pending->entry_cnt; i++) {
		if (pending->entries[i].key == key) {
			pending->entries[i].cnt = pending->entries[i].cnt > UINT32_MAX - by
							  ? UINT32_MAX
							  : pending->entries[i].cnt + by;
			return 0;
		}
	}
	if (pending->entry_cnt == PENDING_ENTRIES_MAX) {
		increase(&counts->left_out_cnt, by);
		return 0;
	}
	if (pending->entry_cnt == pending->entry_size)
		err = grow(pending);
	if (!err)
		pending->entries[pending->entry_cnt++] = (struct child_entry){ key, is_direct, by };
	return err;
}

int child_counts_add(struct child_counts *counts, bool is_keyed, uint32_t pid, uint64_t id,
		     const uint32_t *keys, size_t key_cnt)
{
	struct pending *pending;
	int err = find(counts, is_keyed ? KEYED_SCOPE : pid, id, &pending);

	for (size_t i = 0; !err && i < key_cnt; i++)
		err = increase_key(counts, pending, keys[i], false, 1);
	return err;
}

static void add_thread(struct pending *parent, const struct txtrace_span *child)
{
	uint16_t i = 0;

	if (child->flags & TXTRACE_SPAN_MOVED)
		return;
	while (i < parent->thread_cnt && parent->threads[i].tid != child->end_tid)
		i++;
	if (i == THREADS)
		return;
	if (i == parent->thread_cnt)
		parent->threads[parent->thread_cnt++] = (struct thread_sum){ .tid = child->end_tid };
	increase(&parent->threads[i].work_ns,
		 txtrace_ledger_sum_ns(&child->ledger) - child->ledger.detached_ns);
	increase(&parent->threads[i].on_cpu_ns, child->ledger.on_cpu_ns);
}

static int hand_up(struct child_counts *counts, const struct txtrace_span *span,
		   const struct pending *pending, uint32_t call_key, uint32_t child_key)
{
	struct pending *parent;
	int err = find(counts, span->flags & TXTRACE_SPAN_PARENT_KEYED ? KEYED_SCOPE : span->pid,
		       span->parent, &parent);

	err = err ? err : increase_key(counts, parent, call_key, false, 1);
	err = err ? err : increase_key(counts, parent, child_key, true, 1);
	for (uint16_t i = 0; pending && !err && i < pending->entry_cnt; i++) {
		if (!pending->entries[i].is_direct)
			err = increase_key(counts, parent, pending->entries[i].key, false,
					   pending->entries[i].cnt);
	}
	if (!err)
		add_thread(parent, span);
	return err;
}

static void sum_threads(const struct pending *pending, const struct txtrace_span *span,
			struct child_sum *below)
{
	for (uint16_t i = 0; i < pending->thread_cnt; i++) {
		const struct thread_sum *thread = &pending->threads[i];

		if (thread->tid != span->tid && thread->tid != span->end_tid)
			continue;
		increase(&below->work_ns, thread->work_ns);
		increase(&below->on_cpu_ns, thread->on_cpu_ns);
	}
}

int child_counts_end(struct child_counts *counts, const struct txtrace_span *span, uint32_t call_key,
		     uint32_t child_key, struct child_sum *below)
{
	bool is_keyed = span->flags & TXTRACE_SPAN_KEYED,
	     is_own_parent = span->parent == span->id && !is_keyed &&
			     !(span->flags & TXTRACE_SPAN_PARENT_KEYED);
	struct pending *pending = id_map_remove(&counts->pending, is_keyed ? KEYED_SCOPE : span->pid,
						span->id);
	int err = 0;

	*below = (struct child_sum){ 0 };
	free_pending(counts->told);
	counts->told = pending;
	if (span->parent && !is_own_parent)
		err = hand_up(counts, span, pending, call_key, child_key);
	if (!pending)
		return err;
	below->entries = pending->entries;
	below->entry_cnt = pending->entry_cnt;
	sum_threads(pending, span, below);
	return err;
}

uint64_t child_counts_left_out(const struct child_counts *counts)
{
	return counts->left_out_cnt;
}
