/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/trace_ids.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_index.h"
#include "base/id_map.h"
#include "base/pool.h"
#include "base/sha256.h"
#include "base/string_pool.h"

#define NODE_MAX (1u << 22)
/* Spans that were placed are forgotten when there are so many nodes, but for the newest ones. */
#define NODE_TIDY (1u << 19)
#define NODE_KEPT (1u << 18)
#define CAPTURE_SHIFT 33 /* above the pid and OWNER_KEYED */
#define OWNER_KEYED (1ull << 32)

/* A span by whose it is: of a process, or of the recorder, which names the keyed ones. */
struct span_name {
	uint64_t owner; /* with the number of its capture */
	uint64_t id;	/* 0: there is none */
};

/* What decides a trace, or what was said of a span. */
struct trace {
	uint8_t id[TRACE_ID_BYTES]; /* if is_named */
	uint8_t parent_id[TRACE_SPAN_ID_BYTES];
	uint8_t own_id[TRACE_SPAN_ID_BYTES];
	uint8_t flags;
	bool is_named;
	bool is_remote; /* it came in a traceparent, with parent_id and flags */
	bool has_own;	/* own_id is that of the span: it has sent it on */
	bool has_state;
	bool is_placed;	 /* the span that it was said of */
	uint32_t state;	 /* a number of `states` */
	uint32_t number; /* of this one in `traces` */
};

struct node {
	struct span_name name;
	/* its parent, or a span above that, nearer to what decides its trace; id 0: it has no parent */
	struct span_name top;
	uint64_t trace; /* 1 + a number of `traces`; 0: what is above decides */
	bool is_placed;
};

struct trace_ids {
	struct pool nodes;
	struct hash_index by_name; /* of nodes */
	uint64_t seed;
	/* of struct trace in `traces`, by pid and id: what attributes say, before the span comes */
	struct id_map contexts;
	struct pool traces;
	struct string_pool *states;
	struct string_pool *captures;
	uint64_t missed_cnt;
	uint32_t placed_cnt; /* of the nodes */

	/* The last trace that was made of the name of a span: the next span is often of it, too. */
	struct span_name hashed;
	uint8_t hashed_id[TRACE_ID_BYTES];

	/* The capture that is read. */
	uint64_t capture; /* its number in `captures`, shifted */
	uint8_t capture_id[16];
};

/* ---- beginning and end ---- */

struct trace_ids *trace_ids_new(void)
{
	struct trace_ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return NULL;
	ids->seed = (uintptr_t)ids * 0x2545f4914f6cdd1dULL;
	hash_index_init(&ids->by_name);
	id_map_init(&ids->contexts);
	pool_init(&ids->nodes, sizeof(struct node));
	pool_init(&ids->traces, sizeof(struct trace));
	ids->states = string_pool_new();
	ids->captures = string_pool_new();
	if (!ids->states || !ids->captures) {
		trace_ids_free(ids);
		return NULL;
	}
	return ids;
}

void trace_ids_free(struct trace_ids *ids)
{
	if (!ids)
		return;
	hash_index_release(&ids->by_name);
	id_map_release(&ids->contexts);
	pool_release(&ids->nodes);
	pool_release(&ids->traces);
	string_pool_free(ids->states);
	string_pool_free(ids->captures);
	free(ids);
}

int trace_ids_begin_capture(struct trace_ids *ids, const uint8_t capture_id[16])
{
	uint32_t number = 0;
	int err = string_pool_add(ids->captures, (const char *)capture_id, sizeof(ids->capture_id), &number);

	ids->capture = (uint64_t)number << CAPTURE_SHIFT;
	memcpy(ids->capture_id, capture_id, sizeof(ids->capture_id));
	return err;
}

uint64_t trace_ids_missed_cnt(const struct trace_ids *ids)
{
	return ids->missed_cnt;
}

size_t trace_ids_bytes(const struct trace_ids *ids)
{
	return (size_t)ids->nodes.fresh * sizeof(struct node) + hash_index_bytes(&ids->by_name) +
	       (size_t)ids->traces.fresh * sizeof(struct trace) +
	       (ids->contexts.slots ? (ids->contexts.mask + 1) * sizeof(struct id_map_slot) : 0) +
	       string_pool_bytes(ids->states);
}

/* ---- what the first pass notes ---- */

static struct span_name name_of(const struct trace_ids *ids, uint32_t pid, uint64_t id, bool is_keyed)
{
	return (struct span_name){ .owner = ids->capture | (is_keyed ? OWNER_KEYED : pid), .id = id };
}

static struct span_name parent_of(const struct trace_ids *ids, const struct txtrace_span *span)
{
	return name_of(ids, span->pid, span->parent, span->flags & TXTRACE_SPAN_PARENT_KEYED);
}

static bool is_same(struct span_name a, struct span_name b)
{
	return a.owner == b.owner && a.id == b.id;
}

static uint32_t hash_of(const struct trace_ids *ids, struct span_name name)
{
	return hash_of_pair(ids->seed, name.owner, name.id);
}

static struct node *find_node(const struct trace_ids *ids, struct span_name name)
{
	HASH_INDEX_EACH(&ids->by_name, hash_of(ids, name), slot, number)
	{
		struct node *node = pool_item(&ids->nodes, number);

		if (is_same(node->name, name))
			return node;
	}
	return NULL;
}

static struct trace *trace_at(const struct trace_ids *ids, uint64_t number)
{
	return pool_item(&ids->traces, (uint32_t)(number - 1));
}

/* What has been said of the span so far, made if it is new. *trace NULL: there is no room. */
static int add_context(struct trace_ids *ids, struct span_name name, struct trace **trace)
{
	uint32_t number;
	int err;

	*trace = id_map_get(&ids->contexts, name.owner, name.id);
	if (*trace)
		return 0;
	if (ids->contexts.cnt >= NODE_MAX) {
		ids->missed_cnt++;
		return 0;
	}
	*trace = pool_take(&ids->traces, &number);
	if (!*trace)
		return -ENOMEM;
	**trace = (struct trace){ .number = number };
	err = id_map_put(&ids->contexts, name.owner, name.id, *trace);
	if (err)
		*trace = NULL;
	return err;
}

static void name_trace(struct trace *trace, const uint8_t id[TRACE_ID_BYTES], uint8_t flags)
{
	memcpy(trace->id, id, sizeof(trace->id));
	trace->flags = flags;
	trace->is_named = true;
}

static void take_parent(struct trace *trace, const struct trace_parent *parent)
{
	name_trace(trace, parent->trace_id, parent->flags);
	memcpy(trace->parent_id, parent->span_id, sizeof(trace->parent_id));
	trace->is_remote = true;
}

/* Of several the first one holds. What came in decides the trace. */
static void take_sent(struct trace *trace, const struct trace_parent *sent)
{
	if (!trace->has_own)
		memcpy(trace->own_id, sent->span_id, sizeof(trace->own_id));
	trace->has_own = true;
	if (!trace->is_named)
		name_trace(trace, sent->trace_id, sent->flags);
}

static int see_attribute(struct trace_ids *ids, const struct txtrace_attribute *attribute)
{
	struct span_name name = name_of(ids, attribute->pid, attribute->span, false);
	bool is_state = trace_header_is(attribute, TRACESTATE_NAME),
	     is_sent = trace_header_is(attribute, TRACE_SENT_NAME);
	struct trace_parent parent;
	struct trace *trace;
	int err;

	if (is_state ? !trace_state_is_valid(attribute->string)
		     : !((is_sent || trace_header_is(attribute, TRACEPARENT_NAME)) &&
			 trace_parent_parse(&parent, attribute->string)))
		return 0;
	err = add_context(ids, name, &trace);
	if (err || !trace)
		return err;
	if (is_state) {
		err = string_pool_add(ids->states, attribute->string.bytes, attribute->string.length,
				      &trace->state);
		trace->has_state = !err;
	} else if (is_sent) {
		take_sent(trace, &parent);
	} else {
		take_parent(trace, &parent);
	}
	return err;
}

/* The first bytes of a hash over the capture and what names the trace in it. Never all 0. */
static void hash_trace(const struct trace_ids *ids, const void *bytes, size_t length,
		       uint8_t id[TRACE_ID_BYTES])
{
	uint8_t digest[SHA256_BYTES];
	struct sha256 sha256;

	sha256_init(&sha256);
	sha256_update(&sha256, ids->capture_id, sizeof(ids->capture_id));
	sha256_update(&sha256, bytes, length);
	sha256_final(&sha256, digest);
	memcpy(id, digest, TRACE_ID_BYTES);
}

static bool is_zero(const void *bytes, size_t length)
{
	static const uint8_t zeros[TRACE_ID_BYTES];

	return !memcmp(bytes, zeros, length);
}

/* The trace that a key names: itself, if it has the length of a trace id. */
static void trace_of_key(const struct trace_ids *ids, struct txtrace_string key, uint8_t id[TRACE_ID_BYTES])
{
	if (key.length == TRACE_ID_BYTES && !is_zero(key.bytes, TRACE_ID_BYTES))
		memcpy(id, key.bytes, TRACE_ID_BYTES);
	else
		hash_trace(ids, key.bytes, key.length, id);
}

/* A span has sent on a trace that nothing has decided yet: it is that of the spans above, too. */
static int tell_parent(struct trace_ids *ids, const struct txtrace_span *span, const struct trace *trace)
{
	struct trace *above;
	int err;

	if (span->flags & TXTRACE_SPAN_PARENT_KEYED)
		return 0;
	err = add_context(ids, parent_of(ids, span), &above);
	if (!err && above && !above->is_named)
		name_trace(above, trace->id, trace->flags);
	return err;
}

/* What decides the span's trace, if the span itself does. */
static int own_trace(struct trace_ids *ids, const struct txtrace_span *span, uint64_t *number)
{
	struct trace *trace = id_map_get(&ids->contexts, ids->capture | span->pid, span->id);
	bool has_named = trace && trace->is_named;
	uint32_t fresh;

	*number = 0;
	if (has_named && (trace->is_remote || span->parent == 0)) {
		*number = (uint64_t)trace->number + 1;
	} else if (has_named) {
		return tell_parent(ids, span, trace);
	} else if (span->parent == 0 && span->key.length > 0) {
		trace = pool_take(&ids->traces, &fresh);
		if (!trace)
			return -ENOMEM;
		*trace = (struct trace){ .number = fresh, .flags = TRACE_FLAG_SAMPLED, .is_named = true };
		trace_of_key(ids, span->key, trace->id);
		*number = (uint64_t)fresh + 1;
	}
	return 0;
}

/* ---- forgetting ---- */

/* A trace of `from`, if there is one there, that ids has not got yet. 1 + its number, or 0: no memory. */
static uint64_t keep_trace(struct trace_ids *ids, const struct trace_ids *from, const struct trace *trace)
{
	struct trace *kept;
	uint32_t number;
	size_t length;
	const char *state = trace->has_state ? string_pool_get(from->states, trace->state, &length) : NULL;

	kept = pool_take(&ids->traces, &number);
	if (!kept)
		return 0;
	*kept = *trace;
	kept->number = number;
	return state && string_pool_add(ids->states, state, length, &kept->state) ? 0 : (uint64_t)number + 1;
}

static int keep_context(struct trace_ids *ids, const struct trace_ids *from, const struct id_map_slot *slot)
{
	uint64_t number = keep_trace(ids, from, slot->value);

	return number ? id_map_put(&ids->contexts, slot->high, slot->low, trace_at(ids, number)) : -ENOMEM;
}

/* Its trace may be what was said of it, which is kept already. */
static int keep_node(struct trace_ids *ids, const struct trace_ids *from, const struct node *node)
{
	const struct trace *trace = node->trace ? trace_at(from, node->trace) : NULL, *said;
	struct node *kept;
	uint32_t number;

	kept = pool_take(&ids->nodes, &number);
	if (!kept)
		return -ENOMEM;
	*kept = *node;
	ids->placed_cnt += node->is_placed;
	if (trace && id_map_get(&from->contexts, node->name.owner, node->name.id) == trace) {
		said = id_map_get(&ids->contexts, node->name.owner, node->name.id);
		kept->trace = (uint64_t)said->number + 1;
	} else if (trace) {
		kept->trace = keep_trace(ids, from, trace);
		if (!kept->trace)
			return -ENOMEM;
	}
	return hash_index_put(&ids->by_name, hash_of(ids, node->name), number);
}

static bool is_kept(const struct trace_ids *ids, uint32_t number)
{
	const struct node *node = pool_item(&ids->nodes, number);

	return !node->is_placed || number + NODE_KEPT >= ids->nodes.cnt;
}

static bool is_context_kept(const struct trace_ids *ids, const struct id_map_slot *slot)
{
	const struct trace *trace = slot->value;
	HASH_INDEX_EACH(&ids->by_name, hash_of(ids, (struct span_name){ slot->high, slot->low }), at, number)
	{
		const struct node *node = pool_item(&ids->nodes, number);

		if (is_same(node->name, (struct span_name){ slot->high, slot->low }))
			return is_kept(ids, number);
	}
	return !trace->is_placed;
}

static int keep_all(struct trace_ids *ids, const struct trace_ids *from)
{
	int err = 0;

	for (size_t i = 0; i <= from->contexts.mask && from->contexts.slots && !err; i++)
		if (from->contexts.slots[i].value && is_context_kept(from, &from->contexts.slots[i]))
			err = keep_context(ids, from, &from->contexts.slots[i]);
	for (uint32_t number = 0; number < from->nodes.cnt && !err; number++)
		if (is_kept(from, number))
			err = keep_node(ids, from, pool_item(&from->nodes, number));
	return err;
}

/* Where both passes advance together: what a later span can still belong to stays. */
static int forget_placed(struct trace_ids *ids)
{
	struct trace_ids *fresh = trace_ids_new(), before = *ids;
	int err = fresh ? keep_all(fresh, ids) : -ENOMEM;

	if (err) {
		trace_ids_free(fresh);
		return err;
	}
	*ids = *fresh;
	ids->captures = before.captures;
	ids->missed_cnt = before.missed_cnt;
	ids->capture = before.capture;
	memcpy(ids->capture_id, before.capture_id, sizeof(ids->capture_id));
	before.captures = fresh->captures;
	*fresh = before;
	trace_ids_free(fresh);
	return 0;
}

/* ---- spans of the first pass ---- */

static int make_node(struct trace_ids *ids, const struct txtrace_span *span, struct span_name name,
		     uint64_t trace)
{
	struct node *node;
	uint32_t number;

	node = pool_take(&ids->nodes, &number);
	if (!node)
		return -ENOMEM;
	*node = (struct node){ .name = name, .trace = trace };
	if (span->parent)
		node->top = parent_of(ids, span);
	return hash_index_put(&ids->by_name, hash_of(ids, name), number);
}

static bool has_header(const struct trace_ids *ids, struct span_name name)
{
	const struct trace *said = id_map_get(&ids->contexts, name.owner, name.id);

	return said && said->is_named;
}

/* A span may come several times: checkpoints tell of it, before all that decides its trace is known. */
static int see_span(struct trace_ids *ids, const struct txtrace_span *span)
{
	struct span_name name = name_of(ids, span->pid, span->id, span->flags & TXTRACE_SPAN_KEYED);
	struct node *node = find_node(ids, name);
	uint64_t trace;
	int err;

	if (!node && ids->nodes.cnt >= NODE_MAX) {
		ids->missed_cnt += span->parent != 0 || span->key.length > 0;
		return 0;
	}
	if (node && node->trace && !has_header(ids, name))
		return 0;
	err = own_trace(ids, span, &trace);
	if (err || (span->parent == 0 && !trace))
		return err;
	if (!node)
		return make_node(ids, span, name, trace);
	if (trace)
		node->trace = trace;
	return 0;
}

/* What a checkpoint tells of a span, which its record will repeat, if one comes. */
static int see_open_span(struct trace_ids *ids, const struct txtrace_open_span *open)
{
	const struct txtrace_span span = { .id = open->id,
					   .parent = open->parent,
					   .pid = open->pid,
					   .flags = open->flags,
					   .key = open->key };

	return see_span(ids, &span);
}

int trace_ids_see(struct trace_ids *ids, const struct txtrace_record *record)
{
	int err = 0;

	switch (record->kind) {
	case TXTRACE_RECORD_ATTRIBUTE:
		return see_attribute(ids, &record->attribute);
	case TXTRACE_RECORD_SPAN:
		if (ids->nodes.cnt >= NODE_TIDY && ids->placed_cnt > ids->nodes.cnt / 2 + NODE_KEPT / 2)
			err = forget_placed(ids);
		return err ? err : see_span(ids, &record->span);
	case TXTRACE_RECORD_OPEN_SPAN:
		return see_open_span(ids, &record->open_span);
	default:
		return 0;
	}
}

/* ---- the second pass ---- */

/* Nothing above the span decides its trace. */
static bool is_top(struct span_name name, const struct node *node)
{
	return !node || node->trace || node->top.id == 0 || is_same(node->top, name);
}

/*
 * The span that decides the trace of this one, and its node. Every second span on the way is half as far
 * from it afterwards, so that no chain is walked often. Parents that go in a circle, which only a forged log
 * has, shrink to one that is its own.
 */
static struct span_name find_top(const struct trace_ids *ids, struct span_name name, struct node **node)
{
	while (!is_top(name, *node)) {
		struct span_name next = (*node)->top;
		struct node *above = find_node(ids, next);

		if (is_top(next, above)) {
			*node = above;
			return next;
		}
		(*node)->top = name = above->top;
		*node = find_node(ids, name);
	}
	return name;
}

static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ value >> 27) * 0x94d049bb133111ebULL;
	return value ^ value >> 31;
}

/* docs/formats.md, "Ids", has the same in words. */
static void put_span_id(const struct trace_ids *ids, struct trace_span_id *found, struct span_name name)
{
	uint64_t owner = name.owner & ((1ull << CAPTURE_SHIFT) - 1), trace[2], hash;
	const struct trace *said = id_map_get(&ids->contexts, name.owner, name.id);

	if (said && said->has_own) {
		memcpy(found->span_id, said->own_id, sizeof(found->span_id));
		return;
	}
	memcpy(trace, found->trace_id, sizeof(trace));
	hash = mix(be64toh(trace[0]) ^ mix(be64toh(trace[1]) ^ mix(owner ^ mix(name.id))));
	hash = htobe64(hash ? hash : 1);
	memcpy(found->span_id, &hash, sizeof(found->span_id));
}

/* The trace of a span that has nothing to name it but itself. */
static void trace_of_name(struct trace_ids *ids, struct span_name name, uint8_t id[TRACE_ID_BYTES])
{
	uint64_t words[2] = { htole64(name.owner & ((1ull << CAPTURE_SHIFT) - 1)), htole64(name.id) };

	if (!is_same(name, ids->hashed) || name.id == 0) { /* 0: of a forged log */
		hash_trace(ids, words, sizeof(words), ids->hashed_id);
		ids->hashed = name;
	}
	memcpy(id, ids->hashed_id, TRACE_ID_BYTES);
}

/* What decides the trace of this span, which has that node; NULL: only the name of the top does. */
static const struct trace *find_trace(struct trace_ids *ids, struct span_name name, struct node *node,
				      uint8_t trace_id[TRACE_ID_BYTES])
{
	struct span_name top = find_top(ids, name, &node);
	const struct trace *trace = node && node->trace ? trace_at(ids, node->trace) : NULL;

	if (trace)
		memcpy(trace_id, trace->id, TRACE_ID_BYTES);
	else
		trace_of_name(ids, top, trace_id);
	return trace;
}

void trace_ids_find(struct trace_ids *ids, uint32_t pid, uint64_t id, bool is_keyed,
		    struct trace_span_id *found)
{
	struct span_name name = name_of(ids, pid, id, is_keyed);

	find_trace(ids, name, find_node(ids, name), found->trace_id);
	put_span_id(ids, found, name);
}

static void note_placed(struct trace_ids *ids, const struct txtrace_span *span, struct node *node)
{
	struct trace *said = id_map_get(&ids->contexts, ids->capture | span->pid, span->id);

	if (said)
		said->is_placed = true;
	if (!node || node->is_placed)
		return;
	node->is_placed = true;
	ids->placed_cnt++;
}

void trace_ids_place(struct trace_ids *ids, const struct txtrace_span *span, struct trace_place *place)
{
	struct span_name name = name_of(ids, span->pid, span->id, span->flags & TXTRACE_SPAN_KEYED);
	struct node *node = find_node(ids, name);
	/* without a first pass, or beyond what that had room for, the parent is the top */
	const struct trace *trace = node || span->parent == 0
					    ? find_trace(ids, name, node, place->own.trace_id)
					    : find_trace(ids, parent_of(ids, span), NULL,
							 place->own.trace_id);
	struct trace_span_id parent;

	*place = (struct trace_place){ .own = place->own,
				       .flags = trace ? trace->flags : TRACE_FLAG_SAMPLED };
	put_span_id(ids, &place->own, name);
	note_placed(ids, span, node);
	if (trace && trace->has_state)
		place->state.bytes = string_pool_get(ids->states, trace->state, &place->state.length);
	if (node && node->trace && trace->is_remote) {
		place->has_parent = place->is_remote = true;
		memcpy(place->parent_id, trace->parent_id, sizeof(place->parent_id));
	} else if (span->parent) {
		parent = place->own;
		put_span_id(ids, &parent, parent_of(ids, span));
		place->has_parent = true;
		memcpy(place->parent_id, parent.span_id, sizeof(place->parent_id));
	}
}
