/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/thread_nest.h"

#include <errno.h>
#include <stdlib.h>

#include "base/id_map.h"

#define NO_ITEM UINT32_MAX
#define KEYED_SCOPE (UINT64_C(1) << 32) /* above every pid */

/* The span says itself where it belongs. */
#define SPANS_OWN_PARENT_FLAGS \
	(TXTRACE_SPAN_KEYED | TXTRACE_SPAN_ROOT | TXTRACE_SPAN_NESTED | TXTRACE_SPAN_PARENT_LOST)

/* A thread was in a span; or, with is_begin, a span began that asks for its parent, which is then `to_ns`. */
struct item {
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t id;
	uint32_t pid; /* of the thread */
	uint32_t tid;
	uint32_t capture;
	uint32_t before; /* the item before of the same span, until the span is told */
	bool is_begin;
	bool is_keyed; /* is_begin, when settled: the parent */
	bool is_doubtful;
};

/* A span of which stays were told, and not yet itself. */
struct pending {
	uint32_t last_item;
};

struct thread_nest {
	struct item *items;
	uint32_t cnt, room;
	uint32_t item_max;
	uint32_t capture;
	struct id_map pending;
};

struct thread_nest *thread_nest_new(uint64_t memory_max_bytes)
{
	struct thread_nest *nest = calloc(1, sizeof(*nest));
	uint64_t item_max = (memory_max_bytes ? memory_max_bytes : THREAD_NEST_BYTES) / sizeof(struct item);

	if (!nest)
		return NULL;
	nest->item_max = item_max < NO_ITEM ? (uint32_t)item_max : NO_ITEM - 1;
	id_map_init(&nest->pending);
	return nest;
}

static void forget_pending(struct thread_nest *nest)
{
	struct pending *pending;

	for (size_t i = 0; (pending = id_map_next(&nest->pending, &i));)
		free(pending);
	id_map_release(&nest->pending);
	id_map_init(&nest->pending);
}

void thread_nest_free(struct thread_nest *nest)
{
	if (!nest)
		return;
	forget_pending(nest);
	id_map_release(&nest->pending);
	free(nest->items);
	free(nest);
}

static int add_item(struct thread_nest *nest, const struct item *item)
{
	uint32_t room = nest->room ? nest->room < nest->item_max / 2 ? nest->room * 2 : nest->item_max : 1024;
	struct item *grown;

	if (nest->cnt >= nest->item_max)
		return -ENOMEM;
	if (nest->cnt == nest->room) {
		grown = reallocarray(nest->items, room, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		nest->items = grown;
		nest->room = room;
	}
	nest->items[nest->cnt] = *item;
	nest->items[nest->cnt++].capture = nest->capture;
	return 0;
}

static uint64_t scope_of(bool is_keyed, uint32_t pid)
{
	return is_keyed ? KEYED_SCOPE : pid;
}

static int learn_stay(struct thread_nest *nest, const struct txtrace_stay *stay)
{
	uint64_t scope = scope_of(stay->is_keyed, stay->span_pid);
	struct pending *pending = id_map_get(&nest->pending, scope, stay->span);
	struct item item = { .from_ns = stay->enter_ns,
			     .to_ns = stay->exit_ns,
			     .id = stay->span,
			     .pid = stay->pid,
			     .tid = stay->tid,
			     .before = pending ? pending->last_item : NO_ITEM,
			     .is_keyed = stay->is_keyed };

	if (!pending) {
		pending = malloc(sizeof(*pending));
		if (!pending || id_map_put(&nest->pending, scope, stay->span, pending)) {
			free(pending);
			return -ENOMEM;
		}
	}
	pending->last_item = nest->cnt;
	return add_item(nest, &item);
}

/* Its stays are all known: marks them if they are in doubt. Whether its own thread entered it as it began. */
static bool see_stays(struct thread_nest *nest, const struct txtrace_span *span, uint32_t last_item)
{
	bool has_entered = false;

	for (uint32_t i = last_item; i != NO_ITEM; i = nest->items[i].before) {
		struct item *item = &nest->items[i];

		item->is_doubtful = span->flags & TXTRACE_SPAN_LOSS;
		has_entered |= item->from_ns == span->begin_ns && item->tid == span->tid &&
			       item->pid == span->pid;
	}
	return has_entered;
}

/* The one stay of a span that needs no record of it. */
static int learn_only_stay(struct thread_nest *nest, const struct txtrace_span *span)
{
	struct item item = { .from_ns = span->begin_ns + span->ledger.detached_ns,
			     .to_ns = span->end_ns,
			     .id = span->id,
			     .pid = span->pid,
			     .tid = span->end_tid ? span->end_tid : span->tid,
			     .before = NO_ITEM,
			     .is_keyed = span->flags & TXTRACE_SPAN_KEYED,
			     .is_doubtful = span->flags & TXTRACE_SPAN_LOSS };

	return add_item(nest, &item);
}

static bool asks(const struct txtrace_span *span)
{
	return !span->parent && !(span->flags & SPANS_OWN_PARENT_FLAGS);
}

static int learn_span(struct thread_nest *nest, const struct txtrace_span *span)
{
	struct pending *pending = id_map_remove(&nest->pending,
						scope_of(span->flags & TXTRACE_SPAN_KEYED, span->pid),
						span->id);
	struct item begin = { .from_ns = span->begin_ns,
			      .id = span->id,
			      .pid = span->pid,
			      .tid = span->tid,
			      .is_begin = true };
	bool is_alone = !span->end_tid || span->end_tid == span->tid;
	bool has_entered = pending ? see_stays(nest, span, pending->last_item)
				   : is_alone && !span->ledger.detached_ns;
	int err = 0;

	if (!pending)
		err = learn_only_stay(nest, span);
	free(pending);
	return !err && has_entered && asks(span) ? add_item(nest, &begin) : err;
}

int thread_nest_learn(struct thread_nest *nest, const struct txtrace_record *record, bool begins_capture)
{
	if (begins_capture) {
		nest->capture++;
		forget_pending(nest);
	}
	if (record->kind == TXTRACE_RECORD_STAY)
		return learn_stay(nest, &record->stay);
	return record->kind == TXTRACE_RECORD_SPAN ? learn_span(nest, &record->span) : 0;
}

#define ORDER(a, b) ((a) < (b) ? -1 : 1)

/* Thread by thread, in the order of time: a begin comes before the stay that it begins with. */
static int compare_moments(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->capture != y->capture)
		return ORDER(x->capture, y->capture);
	if (x->pid != y->pid)
		return ORDER(x->pid, y->pid);
	if (x->tid != y->tid)
		return ORDER(x->tid, y->tid);
	if (x->from_ns != y->from_ns)
		return ORDER(x->from_ns, y->from_ns);
	if (x->is_begin != y->is_begin)
		return x->is_begin ? -1 : 1;
	return x->to_ns == y->to_ns ? 0 : ORDER(y->to_ns, x->to_ns);
}

static int compare_ids(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->capture != y->capture)
		return ORDER(x->capture, y->capture);
	if (x->pid != y->pid)
		return ORDER(x->pid, y->pid);
	if (x->id != y->id)
		return ORDER(x->id, y->id);
	return x->from_ns == y->from_ns ? 0 : ORDER(x->from_ns, y->from_ns);
}

static bool is_of_thread(const struct item *item, const struct item *other)
{
	return item->capture == other->capture && item->pid == other->pid && item->tid == other->tid;
}

/*
 * The stays of a thread that are not over yet lie on a stack, linked by `before`; one that is over, and not
 * on top, goes when it comes to be. *begin is answered, if there is an answer.
 */
static bool answer(struct item *items, uint32_t *top, struct item *begin)
{
	const struct item *parent;

	while (*top != NO_ITEM && (items[*top].to_ns <= begin->from_ns || !is_of_thread(&items[*top], begin)))
		*top = items[*top].before;
	if (*top == NO_ITEM || !begin->is_begin)
		return false;
	parent = &items[*top];
	begin->to_ns = parent->id;
	begin->is_keyed = parent->is_keyed;
	return !parent->is_doubtful && parent->id;
}

void thread_nest_settle(struct thread_nest *nest)
{
	struct item *items = nest->items;
	uint32_t top = NO_ITEM, kept = 0;

	forget_pending(nest);
	if (!nest->cnt)
		return;
	qsort(items, nest->cnt, sizeof(*items), compare_moments);
	for (uint32_t i = 0; i < nest->cnt; i++) {
		bool is_answered = answer(items, &top, &items[i]);

		if (items[i].is_begin) {
			items[i].is_doubtful = !is_answered;
			continue;
		}
		items[i].before = top;
		top = i;
	}
	for (uint32_t i = 0; i < nest->cnt; i++)
		if (items[i].is_begin && !items[i].is_doubtful)
			items[kept++] = items[i];
	nest->cnt = kept;
	nest->capture = 0;
	if (kept)
		qsort(items, kept, sizeof(*items), compare_ids);
}

static void take_parent(const struct thread_nest *nest, uint32_t pid, uint64_t id, uint64_t begin_ns,
			uint64_t *parent, uint32_t *flags)
{
	const struct item wanted = { .capture = nest->capture, .pid = pid, .id = id, .from_ns = begin_ns };
	const struct item *found = nest->cnt ? bsearch(&wanted, nest->items, nest->cnt, sizeof(wanted),
						       compare_ids)
					     : NULL;

	if (!found)
		return;
	*parent = found->to_ns;
	*flags |= TXTRACE_SPAN_NESTED | (found->is_keyed ? TXTRACE_SPAN_PARENT_KEYED : 0);
}

void thread_nest_apply(struct thread_nest *nest, struct txtrace_record *record, bool begins_capture)
{
	struct txtrace_open_span *open = &record->open_span;
	struct txtrace_span *span = &record->span;

	nest->capture += begins_capture;
	if (record->kind == TXTRACE_RECORD_SPAN && asks(span))
		take_parent(nest, span->pid, span->id, span->begin_ns, &span->parent, &span->flags);
	else if (record->kind == TXTRACE_RECORD_OPEN_SPAN && !open->parent && !open->flags &&
		 !open->key.length)
		take_parent(nest, open->pid, open->id, open->begin_ns, &open->parent, &open->flags);
}
