/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/span/span_window.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/span/window_internal.h"

#define KEYED_SCOPE (1ULL << 32) /* above every pid */

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

bool window_take(struct span_window *window, size_t bytes)
{
	if (window->bytes + bytes + string_pool_bytes(window->strings) >
	    window->max_bytes / FINDER_SHARE * (FINDER_SHARE - 1)) {
		window->is_full = true;
		return false;
	}
	window->bytes += bytes;
	return true;
}

void *window_one_more(void **array, size_t *cnt, size_t *size, size_t bytes)
{
	if (*cnt == *size) {
		size_t grown_size = *size ? *size * 2 : 16;
		void *grown = reallocarray(*array, grown_size, bytes);

		if (!grown)
			return NULL;
		*array = grown;
		*size = grown_size;
	}
	return (char *)*array + (*cnt)++ * bytes;
}

int window_own(struct span_window *window, struct txtrace_string *string)
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
	if (!window_take(window, 2 * sizeof(*kept)) && !is_self(window, span))
		return 0;
	kept = window_one_more((void **)&window->spans, &window->span_cnt, &window->span_size, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = (struct window_span){ .span = *span, .parent = WINDOW_NO_SPAN };
	kept->span.key.length = 0;
	err = window_own(window, &kept->span.label);
	return err ? err : window_own(window, &kept->span.tag);
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
	if (!window_take(window, 4 * sizeof(*kept)))
		return 0;
	kept = window_one_more((void **)&window->stays, &window->stay_cnt, &window->stay_size, sizeof(*kept));
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

	if (!window_take(window, 2 * sizeof(*kept)))
		return 0;
	kept = window_one_more((void **)&window->marks, &window->mark_cnt, &window->mark_size, sizeof(*kept));
	if (!kept)
		return -ENOMEM;
	*kept = *record;
	if (record->kind == TXTRACE_RECORD_INSTANT)
		return window_own(window, &kept->instant.name);
	if (record->kind == TXTRACE_RECORD_LINK)
		return window_own(window, &kept->link.name);
	err = window_own(window, &kept->attribute.name);
	return err ? err : window_own(window, &kept->attribute.string);
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
		    !window_take(window, sizeof(*thread) + 4 * sizeof(struct id_map_slot)))
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
