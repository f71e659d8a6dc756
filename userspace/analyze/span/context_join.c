/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/span/context_join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/trace_context.h"
#include "base/array.h"
#include "base/id_map.h"
#include "base/key_map.h"
#include "base/saturating.h"

#define DEPTH_MAX 1000	 /* of spans within each other: what is above that gets nothing of those below */
#define NEXT_NS 1000000u /* a stay that begins where the one before ended begins within that */

struct interval {
	uint64_t begin_ns;
	uint64_t end_ns;
};

/* A span of the traces, or that a stay is in. */
struct node {
	uint8_t ids[CONTEXT_TRACE_BYTES + CONTEXT_SPAN_BYTES];
	uint8_t parent_id[CONTEXT_SPAN_BYTES];
	bool is_known;	     /* among the traces */
	bool has_looked;     /* for its parent */
	struct node *parent; /* of the same process; NULL: none */
	bool has_stays;	     /* of its own */
	uint64_t process;
	uint64_t begin_ns;
	uint64_t end_ns;
	struct context_sums sums;
	struct interval *intervals; /* of all stays that it has */
	size_t interval_cnt;
	/* the number of the last stay that was for it or a span below it, as was the next or previous one */
	size_t of_stay, of_next, of_previous;
};

struct stay {
	struct node *node;
	struct txtrace_ledger ledger;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t before_ns; /* see txtrace/otel.h */
	uint64_t after_ns;
	size_t next;	 /* of the thread, without a pause: its number + 1; 0: none */
	size_t previous; /* likewise */
	bool is_lower_bound;
};

/* What was said of a span that has not ended. */
struct pending {
	uint64_t span;
	uint32_t pid;
	bool has_context;
	bool has_before; /* only contexts have it */
	struct trace_parent context;
	uint64_t before_ns;
	uint64_t after_ns;
};

struct context_join {
	struct key_map nodes;  /* trace and span id -> struct node */
	struct key_map traces; /* ids of those that the log has -> nothing */
	struct id_map pending; /* pid, span -> struct pending */
	struct id_map last;    /* pid, tid -> the number of its last stay + 1, as a pointer */
	struct stay *stays;
	size_t stay_cnt;
	size_t stay_room;
	uint64_t context_cnt;
	uint64_t known_cnt; /* of them: among the traces */
};

static void release_node(void *value)
{
	free(((struct node *)value)->intervals);
}

struct context_join *context_join_new(void)
{
	struct context_join *join = calloc(1, sizeof(*join));

	if (!join)
		return NULL;
	key_map_init(&join->nodes, sizeof(struct node), release_node);
	key_map_init(&join->traces, 1, NULL);
	id_map_init(&join->pending);
	id_map_init(&join->last);
	return join;
}

void context_join_free(struct context_join *join)
{
	struct pending *pending;

	if (!join)
		return;
	for (size_t i = 0; (pending = id_map_next(&join->pending, &i));)
		free(pending);
	id_map_release(&join->pending);
	id_map_release(&join->last);
	key_map_release(&join->nodes);
	key_map_release(&join->traces);
	free(join->stays);
	free(join);
}

/* ---- the log ---- */

static struct node *node_add(struct context_join *join, const uint8_t *trace_id, const uint8_t *span_id)
{
	uint8_t ids[sizeof(((struct node *)0)->ids)];
	struct node *node;
	bool is_new;

	memcpy(ids, trace_id, CONTEXT_TRACE_BYTES);
	memcpy(ids + CONTEXT_TRACE_BYTES, span_id, CONTEXT_SPAN_BYTES);
	node = key_map_add(&join->nodes, ids, sizeof(ids), &is_new);
	if (node && is_new)
		memcpy(node->ids, ids, sizeof(ids));
	return node;
}

static bool is_number(const struct txtrace_attribute *attribute, const char *name)
{
	return attribute->type == TXTRACE_ATTRIBUTE_UINT && attribute->name.length == strlen(name) &&
	       memcmp(attribute->name.bytes, name, attribute->name.length) == 0;
}

static struct pending *pending_add(struct context_join *join, const struct txtrace_attribute *attribute)
{
	struct pending *pending = id_map_get(&join->pending, attribute->pid, attribute->span);

	if (pending)
		return pending;
	pending = calloc(1, sizeof(*pending));
	if (pending && id_map_put(&join->pending, attribute->pid, attribute->span, pending)) {
		free(pending);
		return NULL;
	}
	if (pending) {
		pending->span = attribute->span;
		pending->pid = attribute->pid;
	}
	return pending;
}

static int take_attribute(struct context_join *join, const struct txtrace_attribute *attribute)
{
	bool is_context = trace_header_is(attribute, TRACEPARENT_NAME);
	bool is_before = is_number(attribute, "otel.before_ns"),
	     is_after = is_number(attribute, "otel.after_ns");
	struct pending *pending;

	if (!is_context && !is_before && !is_after)
		return 0;
	pending = pending_add(join, attribute);
	if (!pending)
		return -ENOMEM;
	if (is_context)
		pending->has_context = trace_parent_parse(&pending->context, attribute->string);
	if (is_before) {
		pending->has_before = true;
		pending->before_ns = attribute->value;
	}
	if (is_after)
		pending->after_ns = attribute->value;
	return 0;
}

/* The stay follows the one before without a pause: the same look has ended the one and begun the other. */
static bool follows(const struct stay *stay, const struct stay *before)
{
	return stay->before_ns == before->after_ns && stay->begin_ns >= before->end_ns &&
	       stay->begin_ns - before->end_ns < NEXT_NS;
}

static int link_stay(struct context_join *join, const struct txtrace_span *span)
{
	struct stay *stay = &join->stays[join->stay_cnt - 1];
	size_t before = (size_t)(uintptr_t)id_map_get(&join->last, span->pid, span->tid);

	if (before && before < join->stay_cnt && follows(stay, &join->stays[before - 1])) {
		stay->previous = before;
		join->stays[before - 1].next = join->stay_cnt;
	}
	return id_map_put(&join->last, span->pid, span->tid, (void *)(uintptr_t)join->stay_cnt);
}

static int add_stay(struct context_join *join, const struct txtrace_span *span, const struct pending *pending)
{
	struct node *node = node_add(join, pending->context.trace_id, pending->context.span_id);
	struct stay *grown = array_grow(join->stays, &join->stay_room, join->stay_cnt, sizeof(*grown));
	bool is_new;

	if (!node || !grown)
		return -ENOMEM;
	join->stays = grown;
	if (!key_map_add(&join->traces, pending->context.trace_id, CONTEXT_TRACE_BYTES, &is_new))
		return -ENOMEM;
	join->context_cnt += !node->has_stays;
	node->has_stays = true;
	join->stays[join->stay_cnt++] = (struct stay){
		.node = node,
		.ledger = span->ledger,
		.begin_ns = span->begin_ns,
		.end_ns = span->end_ns,
		.before_ns = pending->before_ns,
		.after_ns = pending->after_ns,
		.is_lower_bound = span->flags & TXTRACE_SPAN_LOWER_BOUND,
	};
	return link_stay(join, span);
}

static int take_span(struct context_join *join, const struct txtrace_span *span)
{
	struct pending *pending = id_map_remove(&join->pending, span->pid, span->id);
	bool is_otel = span->label.length == 4 && memcmp(span->label.bytes, "otel", 4) == 0;
	int err = 0;

	if (pending && pending->has_context && pending->has_before && is_otel)
		err = add_stay(join, span, pending);
	free(pending);
	return err;
}

int context_join_record(struct context_join *join, const struct txtrace_record *record)
{
	if (record->kind == TXTRACE_RECORD_ATTRIBUTE)
		return take_attribute(join, &record->attribute);
	return record->kind == TXTRACE_RECORD_SPAN ? take_span(join, &record->span) : 0;
}

/* ---- the traces ---- */

int context_join_span(struct context_join *join, const struct context_span *span)
{
	struct node *node;

	if (!key_map_find(&join->traces, span->trace_id, CONTEXT_TRACE_BYTES))
		return 0;
	node = node_add(join, span->trace_id, span->span_id);
	if (!node)
		return -ENOMEM;
	if (node->is_known)
		return 0;
	node->is_known = true;
	join->known_cnt += node->has_stays;
	memcpy(node->parent_id, span->parent_id, sizeof(node->parent_id));
	node->process = span->process;
	node->begin_ns = span->begin_ns;
	node->end_ns = span->end_ns;
	return 0;
}

/* In the same process, once all spans are there; NULL: there is none. */
static struct node *parent_of(const struct context_join *join, struct node *node)
{
	uint8_t ids[sizeof(node->ids)];
	struct node *parent;

	if (node->has_looked || !node->is_known)
		return node->parent;
	node->has_looked = true;
	memcpy(ids, node->ids, CONTEXT_TRACE_BYTES);
	memcpy(ids + CONTEXT_TRACE_BYTES, node->parent_id, CONTEXT_SPAN_BYTES);
	parent = key_map_find(&join->nodes, ids, sizeof(ids));
	if (parent && parent->is_known && parent->process == node->process)
		node->parent = parent;
	return node->parent;
}

/* Whom the stay with that number was for; NULL: there is none. */
static struct node *node_of(const struct context_join *join, size_t number)
{
	return number ? join->stays[number - 1].node : NULL;
}

static int add_to(const struct stay *stay, size_t number, struct node *node)
{
	struct interval *grown = array_grow_unnoted(node->intervals, node->interval_cnt, sizeof(*grown));
	struct txtrace_ledger *ledger = &node->sums.ledger;
	uint64_t after_ns = node->of_next == number ? 0 : stay->after_ns;

	if (!grown)
		return -ENOMEM;
	node->intervals = grown;
	node->intervals[node->interval_cnt++] = (struct interval){ stay->begin_ns, stay->end_ns };
	if (after_ns > stay->ledger.on_cpu_ns)
		after_ns = stay->ledger.on_cpu_ns;
	increase(&ledger->on_cpu_ns, stay->ledger.on_cpu_ns - after_ns);
	increase(&node->sums.between_ns, after_ns);
	if (node->of_previous != number)
		increase(&node->sums.between_ns, stay->before_ns);
	increase(&ledger->runnable_ns, stay->ledger.runnable_ns);
	for (int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++)
		increase(&ledger->blocked_ns[reason], stay->ledger.blocked_ns[reason]);
	increase(&ledger->unknown_ns, stay->ledger.unknown_ns);
	increase(&ledger->interrupt_ns, stay->ledger.interrupt_ns);
	increase(&ledger->stolen_ns, stay->ledger.stolen_ns);
	increase(&node->sums.work_ns, stay->end_ns > stay->begin_ns ? stay->end_ns - stay->begin_ns : 0);
	node->sums.stay_cnt++;
	node->sums.is_lower_bound |= stay->is_lower_bound;
	return 0;
}

static int compare_intervals(const void *a, const void *b)
{
	const struct interval *left = a, *right = b;

	return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

/* Of the span's time, what no thread worked for it. */
static uint64_t detached_ns(const struct node *node)
{
	uint64_t free_ns = 0, at_ns = node->begin_ns;

	if (!node->is_known || node->end_ns <= node->begin_ns)
		return 0;
	for (size_t i = 0; i < node->interval_cnt && at_ns < node->end_ns; i++) {
		const struct interval *interval = &node->intervals[i];
		uint64_t begin_ns = interval->begin_ns < node->end_ns ? interval->begin_ns : node->end_ns;

		if (begin_ns > at_ns)
			free_ns += begin_ns - at_ns;
		if (interval->end_ns > at_ns)
			at_ns = interval->end_ns;
	}
	return free_ns + (at_ns < node->end_ns ? node->end_ns - at_ns : 0);
}

/* Nothing counts twice, also where a hostile file has spans above each other in a circle. */
static int add_stay_to_all(struct context_join *join, size_t number)
{
	const struct stay *stay = &join->stays[number - 1];
	struct node *node = node_of(join, stay->next);

	for (int depth = 0; node && node->of_next != number && depth < DEPTH_MAX; depth++) {
		node->of_next = number;
		node = parent_of(join, node);
	}
	node = node_of(join, stay->previous);
	for (int depth = 0; node && node->of_previous != number && depth < DEPTH_MAX; depth++) {
		node->of_previous = number;
		node = parent_of(join, node);
	}
	node = stay->node;
	for (int depth = 0; node && node->of_stay != number && depth < DEPTH_MAX; depth++) {
		node->of_stay = number;
		if (add_to(stay, number, node))
			return -ENOMEM;
		node = parent_of(join, node);
	}
	return 0;
}

int context_join_sum(struct context_join *join)
{
	for (size_t number = 1; number <= join->stay_cnt; number++)
		if (add_stay_to_all(join, number))
			return -ENOMEM;
	return 0;
}

bool context_join_get(const struct context_join *join, const struct context_span *span,
		      struct context_sums *sums)
{
	uint8_t ids[sizeof(((struct node *)0)->ids)];
	struct node *node;
	uint64_t free_ns;

	memcpy(ids, span->trace_id, CONTEXT_TRACE_BYTES);
	memcpy(ids + CONTEXT_TRACE_BYTES, span->span_id, CONTEXT_SPAN_BYTES);
	node = key_map_find(&join->nodes, ids, sizeof(ids));
	if (!node || !node->interval_cnt)
		return false;
	qsort(node->intervals, node->interval_cnt, sizeof(*node->intervals), compare_intervals);
	*sums = node->sums;
	/* CPU time that may be its own is no time in which nobody worked for it */
	free_ns = detached_ns(node);
	sums->ledger.detached_ns = free_ns > sums->between_ns ? free_ns - sums->between_ns : 0;
	return true;
}

void context_join_stats(const struct context_join *join, struct context_join_stats *stats)
{
	*stats = (struct context_join_stats){
		.stay_cnt = join->stay_cnt,
		.context_cnt = join->context_cnt,
		.unknown_cnt = join->context_cnt - join->known_cnt,
	};
}
