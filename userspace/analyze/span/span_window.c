/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/span/span_window.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define KEYED_SCOPE (1ULL << 32) /* above every pid */
#define FINDER_SHARE 4		 /* a quarter of the budget is the finder's */

static uint64_t scope_of(bool is_keyed, uint32_t pid)
{
	return is_keyed ? KEYED_SCOPE : pid;
}

static uint64_t scope_of_span(const struct txtrace_span *span)
{
	return scope_of(span->flags & TXTRACE_SPAN_KEYED, span->pid);
}

int span_window_init(struct span_window *window, const struct span_query *query, bool wants_all_threads,
		     size_t max_bytes, const char *kernel)
{
	*window = (struct span_window){ .span = query->span,
					.begin_ns = query->span.begin_ns,
					.end_ns = query->span.end_ns,
					.wants_all_threads = wants_all_threads,
					.max_bytes = max_bytes };
	id_map_init(&window->threads);
	id_map_init(&window->open);
	syscall_table_init(&window->syscalls, kernel);
	if (window->end_ns < window->begin_ns)
		window->end_ns = window->begin_ns;
	window->strings = string_pool_new();
	window->finder = wait_finder_new(max_bytes / FINDER_SHARE, NULL);
	return !fd_names_init(&window->names, max_bytes / 16) && window->strings && window->finder ? 0
												   : -ENOMEM;
}

void span_window_release(struct span_window *window)
{
	struct window_thread *thread;

	for (size_t i = 0; (thread = id_map_next(&window->threads, &i));) {
		free(thread->segments);
		free(thread);
	}
	id_map_release(&window->threads);
	id_map_release(&window->open);
	wait_finder_free(window->finder);
	string_pool_free(window->strings);
	fd_names_release(&window->names);
	free(window->spans);
	free(window->stays);
	free(window->places);
	free(window->marks);
}

/* Counts what is about to be kept; false: there is no room for it. */
static bool take(struct span_window *window, size_t bytes)
{
	if (window->bytes + bytes + string_pool_bytes(window->strings) >
	    window->max_bytes / FINDER_SHARE * (FINDER_SHARE - 1)) {
		window->is_full = true;
		return false;
	}
	window->bytes += bytes;
	return true;
}

/* Room for one more in an array; returns where it is, or NULL: no memory. */
static void *one_more(void **array, size_t *cnt, size_t *size, size_t bytes)
{
	void *grown = array_grow(*array, size, *cnt, bytes);

	if (!grown)
		return NULL;
	*array = grown;
	return (char *)*array + (*cnt)++ * bytes;
}

/* Puts the string into the window's pool. 0 or -ENOMEM. */
static int own(struct span_window *window, struct txtrace_string *string)
{
	uint32_t number;
	int err = string_pool_add(window->strings, string->bytes, string->length, &number);

	if (!err)
		string->bytes = string_pool_get(window->strings, number, &string->length);
	return err;
}

/* ---- pass 2 ---- */

static bool is_self(const struct span_window *window, const struct txtrace_span *span)
{
	return span->id == window->span.id && scope_of_span(span) == scope_of_span(&window->span) &&
	       span->begin_ns == window->span.begin_ns;
}

static int add_span(struct span_window *window, const struct txtrace_span *span)
{
	struct window_span *kept;
	int err;

	if (span->end_ns < window->begin_ns || span->begin_ns > window->end_ns ||
	    span->end_ns < span->begin_ns)
		return 0;
	if (!take(window, 2 * sizeof(*kept)) && !is_self(window, span))
		return 0;
	kept = one_more((void **)&window->spans, &window->span_cnt, &window->span_size, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = (struct window_span){ .span = *span, .parent = WINDOW_NO_SPAN };
	kept->span.key.length = 0;
	err = own(window, &kept->span.label);
	return err ? err : own(window, &kept->span.tag);
}

/* A span that may never end: it is there until its own record comes, or the log ends. */
static int add_open_span(struct span_window *window, const struct txtrace_open_span *open)
{
	struct txtrace_span span = { .id = open->id,
				     .parent = open->parent,
				     .pid = open->pid,
				     .tid = open->tid,
				     .begin_ns = open->begin_ns,
				     .end_ns = window->end_ns,
				     .label = open->label,
				     .flags = TXTRACE_SPAN_LOWER_BOUND | TXTRACE_SPAN_UNFINISHED |
					      open->flags | (open->key.length > 0 ? TXTRACE_SPAN_KEYED : 0) };
	size_t cnt = window->span_cnt;
	/* each file tells it again */
	bool is_there = is_self(window, &span) || id_map_get(&window->open, scope_of_span(&span), span.id);
	int err = is_there ? 0 : add_span(window, &span);

	if (err || window->span_cnt == cnt)
		return err;
	return id_map_put(&window->open, scope_of_span(&span), span.id, (void *)(uintptr_t)window->span_cnt);
}

static int add_ended_span(struct span_window *window, const struct txtrace_span *span)
{
	size_t open = (size_t)(uintptr_t)id_map_remove(&window->open, scope_of_span(span), span->id);

	if (open)
		window->spans[open - 1].is_replaced = true;
	return add_span(window, span);
}

static int add_stay(struct span_window *window, const struct txtrace_stay *stay)
{
	struct window_stay *kept;

	if (stay->exit_ns < window->begin_ns || stay->enter_ns > window->end_ns ||
	    stay->exit_ns < stay->enter_ns)
		return 0;
	if (!take(window, 4 * sizeof(*kept)))
		return 0;
	kept = one_more((void **)&window->stays, &window->stay_cnt, &window->stay_size, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = (struct window_stay){ .pid = stay->pid,
				      .tid = stay->tid,
				      .enter_ns = stay->enter_ns,
				      .exit_ns = stay->exit_ns,
				      .scope = scope_of(stay->is_keyed, stay->span_pid),
				      .id = stay->span,
				      .span = WINDOW_NO_SPAN };
	return 0;
}

static int add_mark(struct span_window *window, const struct txtrace_record *record)
{
	struct txtrace_record *kept;
	int err;

	if (!take(window, 2 * sizeof(*kept)))
		return 0;
	kept = one_more((void **)&window->marks, &window->mark_cnt, &window->mark_size, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = *record;
	if (record->kind == TXTRACE_RECORD_INSTANT)
		return own(window, &kept->instant.name);
	if (record->kind == TXTRACE_RECORD_LINK)
		return own(window, &kept->link.name);
	err = own(window, &kept->attribute.name);
	return err ? err : own(window, &kept->attribute.string);
}

static bool is_in_time(const struct span_window *window, uint64_t time_ns)
{
	return time_ns >= window->begin_ns && time_ns <= window->end_ns;
}

int span_window_add_spans(struct span_window *window, const struct txtrace_record *record)
{
	const struct txtrace_link *link = &record->link;

	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
		return add_ended_span(window, &record->span);
	case TXTRACE_RECORD_OPEN_SPAN:
		return add_open_span(window, &record->open_span);
	case TXTRACE_RECORD_STAY:
		return add_stay(window, &record->stay);
	case TXTRACE_RECORD_ATTRIBUTE:
		return record->attribute.pid == window->span.pid &&
				       is_in_time(window, record->attribute.time_ns)
			       ? add_mark(window, record)
			       : 0;
	case TXTRACE_RECORD_INSTANT:
		return record->instant.span && is_in_time(window, record->instant.time_ns)
			       ? add_mark(window, record)
			       : 0;
	case TXTRACE_RECORD_LINK:
		return link->pid == window->span.pid &&
				       (link->from == window->span.id || link->to == window->span.id)
			       ? add_mark(window, record)
			       : 0;
	default:
		return 0;
	}
}

/* ---- how they belong together ---- */

static int compare_spans(const void *a, const void *b)
{
	const struct txtrace_span *x = &((const struct window_span *)a)->span,
				  *y = &((const struct window_span *)b)->span;
	uint64_t x_scope = scope_of_span(x), y_scope = scope_of_span(y);

	if (x_scope != y_scope)
		return x_scope < y_scope ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

/* The one of these that has the id and begins last, not after time_ns. */
static size_t find_span(const struct span_window *window, uint64_t scope, uint64_t id, uint64_t time_ns)
{
	size_t low = 0, high = window->span_cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct txtrace_span *span = &window->spans[middle].span;
		uint64_t its_scope = scope_of_span(span);

		if (its_scope < scope ||
		    (its_scope == scope && (span->id < id || (span->id == id && span->begin_ns <= time_ns))))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || window->spans[low - 1].span.id != id ||
	    scope_of_span(&window->spans[low - 1].span) != scope)
		return WINDOW_NO_SPAN;
	return window->spans[low - 1].span.end_ns >= time_ns ? low - 1 : WINDOW_NO_SPAN;
}

size_t span_window_find(const struct span_window *window, bool is_keyed, uint32_t pid, uint64_t id,
			uint64_t time_ns)
{
	return find_span(window, scope_of(is_keyed, pid), id, time_ns);
}

static int link_stays(struct span_window *window)
{
	size_t told_cnt = window->stay_cnt;

	for (size_t i = 0; i < told_cnt; i++) {
		struct window_stay *stay = &window->stays[i];

		stay->span = find_span(window, stay->scope, stay->id, stay->enter_ns);
		if (stay->span != WINDOW_NO_SPAN)
			window->spans[stay->span].has_stays = true;
	}
	/* The others had one thread in them, until their end. */
	for (size_t i = 0; i < window->span_cnt; i++) {
		const struct txtrace_span *span = &window->spans[i].span;
		struct txtrace_stay stay = { .enter_ns = span->begin_ns + span->ledger.detached_ns,
					     .exit_ns = span->end_ns,
					     .span = span->id,
					     .span_pid = span->pid,
					     .pid = span->pid,
					     .tid = span->end_tid ? span->end_tid : span->tid,
					     .is_keyed = span->flags & TXTRACE_SPAN_KEYED };
		size_t cnt = window->stay_cnt;
		int err = window->spans[i].has_stays ? 0 : add_stay(window, &stay);

		if (err)
			return err;
		if (window->stay_cnt > cnt)
			window->stays[cnt].span = i;
	}
	return 0;
}

static uint64_t parent_scope(const struct txtrace_span *span)
{
	return scope_of(span->flags & TXTRACE_SPAN_PARENT_KEYED, span->pid);
}

/* Children of a span, in one list. */
static int compare_parents(const void *a, const void *b)
{
	const struct window_span *x = *(const struct window_span *const *)a,
				 *y = *(const struct window_span *const *)b;

	if (parent_scope(&x->span) != parent_scope(&y->span))
		return parent_scope(&x->span) < parent_scope(&y->span) ? -1 : 1;
	return x->span.parent < y->span.parent ? -1 : x->span.parent > y->span.parent;
}

static size_t first_child(struct window_span *const *by_parent, size_t cnt, const struct txtrace_span *parent)
{
	uint64_t scope = scope_of(parent->flags & TXTRACE_SPAN_KEYED, parent->pid);
	size_t low = 0;

	while (low < cnt) {
		size_t middle = low + (cnt - low) / 2;
		const struct txtrace_span *span = &by_parent[middle]->span;

		if (parent_scope(span) < scope || (parent_scope(span) == scope && span->parent < parent->id))
			low = middle + 1;
		else
			cnt = middle;
	}
	return low;
}

/* Each span is visited once, so parents that go in a circle end. */
static int link_children(struct span_window *window)
{
	struct window_span **by_parent = calloc(2 * window->span_cnt + 1, sizeof(struct window_span *)),
			   **queue;
	size_t done = 0, cnt = 0;

	if (!by_parent)
		return -ENOMEM;
	queue = by_parent + window->span_cnt;
	for (size_t i = 0; i < window->span_cnt; i++)
		by_parent[i] = &window->spans[i];
	qsort(by_parent, window->span_cnt, sizeof(*by_parent), compare_parents);
	queue[cnt++] = &window->spans[window->self];
	queue[0]->is_inside = true;
	while (done < cnt) {
		struct window_span *parent = queue[done++];
		uint64_t scope = scope_of(parent->span.flags & TXTRACE_SPAN_KEYED, parent->span.pid);
		size_t i = first_child(by_parent, window->span_cnt, &parent->span);

		for (; i < window->span_cnt && by_parent[i]->span.parent == parent->span.id &&
		       parent_scope(&by_parent[i]->span) == scope;
		     i++) {
			struct window_span *child = by_parent[i];

			/* Begun while the parent was open: ids are used again. */
			if (child->is_inside || !child->span.parent ||
			    child->span.begin_ns < parent->span.begin_ns ||
			    child->span.begin_ns > parent->span.end_ns)
				continue;
			child->is_inside = true;
			child->parent = (size_t)(parent - window->spans);
			child->depth = parent->depth + 1;
			queue[cnt++] = child;
		}
	}
	free(by_parent);
	return 0;
}

static bool is_mark_inside(const struct span_window *window, const struct txtrace_record *mark)
{
	size_t span;

	if (mark->kind == TXTRACE_RECORD_LINK)
		return true;
	if (mark->kind == TXTRACE_RECORD_INSTANT) {
		span = find_span(window, mark->instant.pid, mark->instant.span, mark->instant.time_ns);
		/* An instant of a keyed span names it by id, too. */
		if (window->span.flags & TXTRACE_SPAN_KEYED)
			return mark->instant.span == window->span.id && span == WINDOW_NO_SPAN;
	} else {
		span = find_span(window, mark->attribute.pid, mark->attribute.span, mark->attribute.time_ns);
	}
	return span != WINDOW_NO_SPAN && window->spans[span].is_inside;
}

static int link_threads(struct span_window *window)
{
	int err = 0;

	for (size_t i = 0; i < window->stay_cnt && !err; i++) {
		const struct window_stay *stay = &window->stays[i];
		struct window_thread *thread;

		if (stay->span == WINDOW_NO_SPAN || !window->spans[stay->span].is_inside ||
		    id_map_get(&window->threads, stay->pid, stay->tid) ||
		    !take(window, sizeof(*thread) + 4 * sizeof(struct id_map_slot)))
			continue;
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return -ENOMEM;
		thread->pid = stay->pid;
		thread->tid = stay->tid;
		err = id_map_put(&window->threads, stay->pid, stay->tid, thread);
		if (err)
			free(thread);
	}
	return err;
}

static void drop_replaced(struct span_window *window)
{
	size_t kept = 0;

	for (size_t i = 0; i < window->span_cnt; i++) {
		if (!window->spans[i].is_replaced)
			window->spans[kept++] = window->spans[i];
	}
	window->span_cnt = kept;
}

int span_window_link(struct span_window *window)
{
	size_t kept = 0;
	int err = 0;

	drop_replaced(window);
	qsort(window->spans, window->span_cnt, sizeof(*window->spans), compare_spans);
	window->self = find_span(window, scope_of_span(&window->span), window->span.id, window->begin_ns);
	if (window->self == WINDOW_NO_SPAN) { /* an open one, or one that ends before it begins */
		struct txtrace_span self = window->span;

		self.end_ns = window->end_ns;
		err = add_span(window, &self);
		if (err || !window->span_cnt)
			return err ? err : -ENOMEM;
		qsort(window->spans, window->span_cnt, sizeof(*window->spans), compare_spans);
		window->self = find_span(window, scope_of_span(&self), self.id, self.begin_ns);
	}
	if (window->self == WINDOW_NO_SPAN)
		return -ENOMEM;
	err = link_stays(window);
	err = err ? err : link_children(window);
	err = err ? err : link_threads(window);
	for (size_t i = 0; i < window->mark_cnt; i++) {
		if (is_mark_inside(window, &window->marks[i]))
			window->marks[kept++] = window->marks[i];
	}
	window->mark_cnt = kept;
	return err;
}

/* ---- the span that each thread is in at any time: the one entered last ---- */

static int compare_stays(const void *a, const void *b)
{
	const struct window_stay *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	return x->exit_ns > y->exit_ns ? -1 : x->exit_ns < y->exit_ns; /* the outer one first */
}

/* A stack of stays in the order of their enters; those below the top may have ended already. */
struct stack {
	const struct window_stay **stays;
	size_t cnt;
};

static void put_place(struct span_window *window, const struct window_stay *of, uint64_t from_ns, size_t span)
{
	struct window_place *last = window->place_cnt > 0 ? &window->places[window->place_cnt - 1] : NULL;

	if (last && last->pid == of->pid && last->tid == of->tid && last->from_ns == from_ns)
		last->span = span;
	else
		window->places[window->place_cnt++] = (struct window_place){ of->pid, of->tid, from_ns,
									     span };
}

/*
 * Leaves all that have ended by until_ns, from the top: each uncovers the last one below that is still there.
 */
static void leave(struct span_window *window, struct stack *stack, uint64_t until_ns)
{
	while (stack->cnt > 0 && stack->stays[stack->cnt - 1]->exit_ns <= until_ns) {
		const struct window_stay *left = stack->stays[--stack->cnt];

		while (stack->cnt > 0 && stack->stays[stack->cnt - 1]->exit_ns <= left->exit_ns)
			stack->cnt--;
		put_place(window, left, left->exit_ns,
			  stack->cnt > 0 ? stack->stays[stack->cnt - 1]->span : WINDOW_NO_SPAN);
	}
}

/* From the linked stays to the places. 0 or -ENOMEM. */
static int make_places(struct span_window *window)
{
	struct stack stack = { calloc(window->stay_cnt + 1, sizeof(const struct window_stay *)), 0 };

	window->places = calloc(2 * window->stay_cnt + 1, sizeof(*window->places));
	if (!stack.stays || !window->places) {
		free(stack.stays);
		return -ENOMEM;
	}
	qsort(window->stays, window->stay_cnt, sizeof(*window->stays), compare_stays);
	for (size_t i = 0; i < window->stay_cnt; i++) {
		const struct window_stay *stay = &window->stays[i];

		if (stack.cnt > 0 && (stack.stays[0]->pid != stay->pid || stack.stays[0]->tid != stay->tid))
			leave(window, &stack, UINT64_MAX);
		leave(window, &stack, stay->enter_ns);
		if (stay->span == WINDOW_NO_SPAN || stay->exit_ns <= stay->enter_ns)
			continue;
		put_place(window, stay, stay->enter_ns, stay->span);
		stack.stays[stack.cnt++] = stay;
	}
	leave(window, &stack, UINT64_MAX);
	free(stack.stays);
	return 0;
}

size_t span_window_place(const struct span_window *window, uint32_t pid, uint32_t tid, uint64_t time_ns,
			 uint64_t *since_ns)
{
	size_t low = 0, high = window->place_cnt;
	const struct window_place *place;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		place = &window->places[middle];
		if (place->pid < pid ||
		    (place->pid == pid &&
		     (place->tid < tid || (place->tid == tid && place->from_ns < time_ns))))
			low = middle + 1;
		else
			high = middle;
	}
	place = low > 0 ? &window->places[low - 1] : NULL;
	*since_ns = 0;
	if (!place || place->pid != pid || place->tid != tid)
		return WINDOW_NO_SPAN;
	*since_ns = place->from_ns;
	return place->span;
}

/* ---- pass 3: what threads did ---- */

static int thread_of(struct span_window *window, uint32_t pid, uint32_t tid, struct window_thread **thread)
{
	int err;

	*thread = id_map_get(&window->threads, pid, tid);
	if (*thread || !window->wants_all_threads ||
	    !take(window, sizeof(**thread) + 4 * sizeof(struct id_map_slot)))
		return 0;
	*thread = calloc(1, sizeof(**thread));
	if (!*thread)
		return -ENOMEM;
	(*thread)->pid = pid;
	(*thread)->tid = tid;
	err = id_map_put(&window->threads, pid, tid, *thread);
	if (err) {
		free(*thread);
		*thread = NULL;
	}
	return err;
}

/* Clipped to the window and to what is there already: a forged log may say anything. */
static int add_segment(struct span_window *window, struct window_thread *thread,
		       const struct window_segment *segment)
{
	uint64_t done_ns = thread->cnt > 0 ? thread->segments[thread->cnt - 1].to_ns : 0;
	struct window_segment clipped = *segment, *kept;

	clipped.from_ns = clipped.from_ns < window->begin_ns ? window->begin_ns : clipped.from_ns;
	clipped.from_ns = clipped.from_ns < done_ns ? done_ns : clipped.from_ns;
	clipped.to_ns = clipped.to_ns > window->end_ns ? window->end_ns : clipped.to_ns;
	if (clipped.from_ns >= clipped.to_ns || !take(window, 2 * sizeof(clipped)))
		return 0;
	kept = one_more((void **)&thread->segments, &thread->cnt, &thread->size, sizeof(clipped));
	if (!kept)
		return -ENOMEM;
	*kept = clipped;
	return clipped.has_wake ? own(window, &kept->wake.waker_comm) : 0;
}

static struct wait_object object_of(const struct span_window *window, const struct wait *wait)
{
	struct wait_object object = wait_object_of(&window->syscalls, wait);

	if (object.kind == WAIT_OBJECT_FD)
		object.name = fd_names_get(&window->names,
					   fd_names_find(&window->names, object.pid, object.value));
	return object;
}

static int add_wait(struct span_window *window, struct window_thread *thread, const struct wait *wait)
{
	struct window_segment segment = { .from_ns = wait->begin_ns,
					  .to_ns = wait->end_ns,
					  .state = WINDOW_BLOCKED,
					  .object = object_of(window, wait),
					  .has_wake = wait->wake };

	if (wait->wake)
		segment.wake = wait->wake->wake;
	return add_segment(window, thread, &segment);
}

static int add_run(struct span_window *window, struct window_thread *thread, const struct txtrace_run *run,
		   const struct wait *wait)
{
	struct window_segment segment = { .from_ns = run->begin_ns - run->runnable_ns,
					  .to_ns = run->begin_ns,
					  .state = WINDOW_RUNNABLE };
	int err = wait ? add_wait(window, thread, wait) : 0;

	if (!err && run->runnable_ns <= run->begin_ns)
		err = add_segment(window, thread, &segment);
	segment = (struct window_segment){
		.from_ns = run->begin_ns, .to_ns = run->end_ns, .state = WINDOW_ON_CPU, .cpu = run->cpu
	};
	if (!err)
		err = add_segment(window, thread, &segment);
	thread->last = *run;
	thread->woken_ns = 0;
	return err;
}

int span_window_add_threads(struct span_window *window, const struct txtrace_record *record)
{
	struct window_thread *thread;
	struct wait wait;
	int result = wait_finder_add(window->finder, record, &wait), err;

	if (result < 0)
		return result;
	if (record->kind == TXTRACE_RECORD_OBJECT)
		return fd_names_add(&window->names, &record->object);
	if (record->kind == TXTRACE_RECORD_WAKE) {
		thread = id_map_get(&window->threads, record->wake.pid, record->wake.tid);
		if (thread && !thread->woken_ns && record->wake.time_ns > thread->last.end_ns)
			thread->woken_ns = record->wake.time_ns;
		return 0;
	}
	if (record->kind != TXTRACE_RECORD_RUN)
		return 0;
	err = thread_of(window, record->run.pid, record->run.tid, &thread);
	return err || !thread ? err : add_run(window, thread, &record->run, result > 0 ? &wait : NULL);
}

/* It left its last CPU blocked, and no stay on one follows: it slept until it was woken, or the log ended. */
static int add_open_end(struct span_window *window, struct window_thread *thread)
{
	const struct txtrace_run *last = &thread->last;
	struct wait wait = { .pid = thread->pid,
			     .tid = thread->tid,
			     .begin_ns = last->end_ns,
			     .reason = last->reason,
			     .syscall_nr = last->syscall_nr,
			     .object = last->object };
	struct window_segment segment = { .from_ns = last->end_ns, .state = WINDOW_BLOCKED, .is_open = true };
	int err;

	if (last->left_as != TXTRACE_LEFT_BLOCKED || last->reason >= TXTRACE_BLOCK_REASON_COUNT)
		return 0;
	segment.object = object_of(window, &wait);
	segment.to_ns = thread->woken_ns ? thread->woken_ns : window->end_ns;
	err = add_segment(window, thread, &segment);
	if (err || !thread->woken_ns)
		return err;
	segment = (struct window_segment){ .from_ns = thread->woken_ns,
					   .to_ns = window->end_ns,
					   .state = WINDOW_RUNNABLE };
	return add_segment(window, thread, &segment);
}

/* The first wait for a futex may be told of behind waits for it. */
static void name_futexes(const struct span_window *window, struct window_thread *thread)
{
	for (size_t i = 0; i < thread->cnt; i++) {
		struct wait_object *object = &thread->segments[i].object;

		if (thread->segments[i].state == WINDOW_BLOCKED && object->kind == WAIT_OBJECT_FUTEX)
			object->name = fd_names_get(&window->names, fd_names_find(&window->names, object->pid,
										  object->value));
	}
}

int span_window_finish(struct span_window *window)
{
	struct window_thread *thread;
	int err = 0;

	for (size_t i = 0; !err && (thread = id_map_next(&window->threads, &i));) {
		err = add_open_end(window, thread);
		name_futexes(window, thread);
	}
	return err ? err : make_places(window);
}

const struct window_thread *span_window_thread(const struct span_window *window, uint32_t pid, uint32_t tid)
{
	return id_map_get(&window->threads, pid, tid);
}

const struct window_segment *window_thread_before(const struct window_thread *thread, uint64_t time_ns)
{
	size_t low = 0, high = thread->cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (thread->segments[middle].from_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &thread->segments[low - 1] : NULL;
}
