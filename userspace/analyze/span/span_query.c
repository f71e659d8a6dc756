/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "analyze/span/span_window.h"

int span_query_init(struct span_query *query)
{
	query->match_cnt = 0;
	query->is_found = query->is_open = false;
	query->strings = string_pool_new();
	return query->strings ? 0 : -ENOMEM;
}

void span_query_release(struct span_query *query)
{
	string_pool_free(query->strings);
	query->strings = NULL;
}

static int own(struct string_pool *pool, struct txtrace_string *string)
{
	uint32_t number;
	int err = string_pool_add(pool, string->bytes, string->length, &number);

	if (!err)
		string->bytes = string_pool_get(pool, number, &string->length);
	return err;
}

static int keep(struct span_query *query, const struct txtrace_span *span)
{
	int err;

	query->span = *span;
	err = own(query->strings, &query->span.label);
	err = err ? err : own(query->strings, &query->span.tag);
	return err ? err : own(query->strings, &query->span.key);
}

static bool is_match(const struct span_query *query, uint64_t id, uint32_t pid, bool is_keyed)
{
	return id == query->id && is_keyed == query->is_keyed && (!query->pid || pid == query->pid);
}

int span_query_add(struct span_query *query, const struct txtrace_record *record)
{
	const struct txtrace_open_span *open = &record->open_span;
	const struct txtrace_span *span = &record->span;

	if (record->kind == TXTRACE_RECORD_SPAN &&
	    is_match(query, span->id, span->pid, span->flags & TXTRACE_SPAN_KEYED)) {
		if (++query->match_cnt != query->nth)
			return 0;
		query->is_found = true;
		query->is_open = false;
		return keep(query, span);
	}
	if (record->kind == TXTRACE_RECORD_OPEN_SPAN && !query->is_found &&
	    is_match(query, open->id, open->pid, open->key.length > 0)) {
		struct txtrace_span unfinished = { .id = open->id,
						   .parent = open->parent,
						   .pid = open->pid,
						   .tid = open->tid,
						   .begin_ns = open->begin_ns,
						   .label = open->label,
						   .key = open->key,
						   .flags = TXTRACE_SPAN_LOWER_BOUND |
							    TXTRACE_SPAN_UNFINISHED | open->flags |
							    (open->key.length > 0 ? TXTRACE_SPAN_KEYED : 0) };

		query->is_open = true;
		return keep(query, &unfinished);
	}
	return 0;
}

bool span_query_found(struct span_query *query, uint64_t last_ns)
{
	if (query->is_found || !query->is_open || query->match_cnt > 0)
		return query->is_found;
	query->span.end_ns = last_ns > query->span.begin_ns ? last_ns : query->span.begin_ns;
	query->span.work_ns = query->span.ledger.unknown_ns = query->span.end_ns - query->span.begin_ns;
	query->is_found = true;
	return true;
}
