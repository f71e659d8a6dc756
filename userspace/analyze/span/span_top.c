/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/span/span_top.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/span_value.h"
#include "base/array.h"

#define STRING_MAX 4096

/* ---- what to sort by: the larger key comes first ---- */

enum {
	SORT_BEGIN = SPAN_VALUE_COUNT, /* the others are values */
	SORT_CNT,
};

static uint64_t sort_key(const struct txtrace_span *span, unsigned int sort)
{
	return sort == SORT_BEGIN ? UINT64_MAX - span->begin_ns : span_value_ns(span, sort);
}

const char *span_top_sort(size_t sort)
{
	return sort == SORT_BEGIN ? "begin" : sort < SORT_CNT ? span_value_names[sort] : NULL;
}

struct entry {
	uint64_t key;
	struct txtrace_span span;
	struct txtrace_string thread_name;
	char *strings; /* label, tag and key of the span and the name, one behind the other */
};

struct span_top {
	size_t limit;
	unsigned int sort;
	struct entry *entries; /* a heap: the one that goes next is [0]. After finish: in order. */
	size_t cnt;
	size_t size;
};

/*
 * Does a come before b in the result? Total, so that the result does not depend on the order in which spans
 * came.
 */
static bool is_before(const struct entry *a, const struct entry *b)
{
	if (a->key != b->key)
		return a->key > b->key;
	if (a->span.begin_ns != b->span.begin_ns)
		return a->span.begin_ns < b->span.begin_ns;
	if (a->span.pid != b->span.pid)
		return a->span.pid < b->span.pid;
	return a->span.id < b->span.id;
}

struct span_top *span_top_new(size_t limit, unsigned int sort)
{
	struct span_top *top = sort < SORT_CNT ? calloc(1, sizeof(*top)) : NULL;

	if (!top)
		return NULL;
	top->limit = limit;
	top->sort = sort;
	return top;
}

void span_top_free(struct span_top *top)
{
	if (!top)
		return;
	for (size_t i = 0; i < top->cnt; i++)
		free(top->entries[i].strings);
	free(top->entries);
	free(top);
}

static void swap(struct span_top *top, size_t a, size_t b)
{
	struct entry entry = top->entries[a];

	top->entries[a] = top->entries[b];
	top->entries[b] = entry;
}

static void sift_up(struct span_top *top, size_t idx)
{
	while (idx > 0 && is_before(&top->entries[(idx - 1) / 2], &top->entries[idx])) {
		swap(top, (idx - 1) / 2, idx);
		idx = (idx - 1) / 2;
	}
}

static void sift_down(struct span_top *top, size_t idx)
{
	for (;;) {
		size_t last = idx, child = 2 * idx + 1;

		for (size_t i = child; i < child + 2 && i < top->cnt; i++) {
			if (is_before(&top->entries[last], &top->entries[i]))
				last = i;
		}
		if (last == idx)
			return;
		swap(top, idx, last);
		idx = last;
	}
}

static size_t copy_string(char *to, struct txtrace_string *string)
{
	if (string->length > 0)
		memcpy(to, string->bytes, string->length);
	string->bytes = to;
	return string->length;
}

static void clip(struct txtrace_string *string)
{
	if (string->length > STRING_MAX)
		string->length = STRING_MAX;
}

/* Makes the entry own its strings. */
static int own_strings(struct entry *entry)
{
	struct txtrace_span *span = &entry->span;
	size_t used;

	clip(&span->label);
	clip(&span->tag);
	clip(&span->key);
	clip(&entry->thread_name);
	entry->strings = malloc(span->label.length + span->tag.length + span->key.length +
				entry->thread_name.length + 1);
	if (!entry->strings)
		return -ENOMEM;
	used = copy_string(entry->strings, &span->label);
	used += copy_string(entry->strings + used, &span->tag);
	used += copy_string(entry->strings + used, &span->key);
	copy_string(entry->strings + used, &entry->thread_name);
	return 0;
}

static int grow(struct span_top *top)
{
	struct entry *grown = array_grow(top->entries, &top->size, top->cnt, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	top->entries = grown;
	return 0;
}

int span_top_add(struct span_top *top, const struct txtrace_span *span, struct txtrace_string thread_name)
{
	struct entry entry = { .key = sort_key(span, top->sort), .span = *span, .thread_name = thread_name };
	int err;

	if (top->limit == 0 || (top->cnt == top->limit && !is_before(&entry, &top->entries[0])))
		return 0;
	if (top->cnt < top->limit) {
		err = grow(top);
		if (err)
			return err;
	}
	err = own_strings(&entry);
	if (err)
		return err;
	if (top->cnt < top->limit) {
		top->entries[top->cnt++] = entry;
		sift_up(top, top->cnt - 1);
	} else {
		free(top->entries[0].strings);
		top->entries[0] = entry;
		sift_down(top, 0);
	}
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	return is_before(a, b) ? -1 : is_before(b, a);
}

void span_top_finish(struct span_top *top)
{
	if (top->cnt > 0)
		qsort(top->entries, top->cnt, sizeof(*top->entries), compare_entries);
}

size_t span_top_count(const struct span_top *top)
{
	return top->cnt;
}

const struct txtrace_span *span_top_get(const struct span_top *top, size_t idx)
{
	return &top->entries[idx].span;
}

struct txtrace_string span_top_thread_name(const struct span_top *top, size_t idx)
{
	return top->entries[idx].thread_name;
}
