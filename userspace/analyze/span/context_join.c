/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/span/context_join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/trace_context.h"
#include "base/array.h"
#include "base/key_map.h"
#include "base/saturating.h"
#include "log/format/record_table.h"

#define DEPTH_MAX 1000	 /* of spans within each other: what is below that is not counted */
#define NEXT_NS 1000000u /* a stay that begins where the one before ended begins within that */

#define PRUNE_NS 10000000000u
#define DOUBT_NS 50000u /* of clocks that are read one after the other */

struct node;

struct stay {
	struct stay *next; /* of the same span */
	struct txtrace_ledger ledger;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t before_ns; /* see txtrace/otel.h */
	uint64_t after_ns;
	/* whom the thread worked for before and after it, without a pause; NULL: no span of this trace */
	const struct node *before;
	const struct node *after;
	bool is_lower_bound;
};

/* A span of the traces, or that a stay is in, or that is the parent of one. */
struct node {
	struct trace *trace;
	struct node *next;    /* of the same trace */
	struct node *child;   /* the first one that names it as its parent */
	struct node *sibling; /* the next one that names the same parent */
	struct stay *stays;   /* of its own */
	uint8_t ids[CONTEXT_TRACE_BYTES + CONTEXT_SPAN_BYTES];
	bool is_known; /* among the traces */
	bool is_given; /* somebody has asked for it */
	uint64_t process;
	uint64_t begin_ns;
	uint64_t end_ns;
	uint64_t visit; /* the last one that found it */
	unsigned int depth;
};

/* One that the log has. */
struct trace {
	struct trace *older, *newer; /* by the time that something was heard of it */
	struct node *nodes;
	uint64_t number; /* no two of them ever have the same */
	uint64_t heard_ns;
	uint64_t complete_ns; /* what was before that may have been forgotten */
	uint8_t id[CONTEXT_TRACE_BYTES];
};

/* What was said of a span that has not ended. */
struct pending {
	bool has_context;
	bool has_before; /* only contexts have it */
	struct trace_parent context;
	uint64_t before_ns;
	uint64_t after_ns;
	uint64_t said_ns;
};

/* The last stay of a thread. */
struct last {
	struct stay *stay; /* which is there if the trace with that number is */
	const struct node *node;
	uint64_t trace;
	uint64_t end_ns;
	uint64_t after_ns;
};

struct thread_key {
	uint64_t pid;
	uint64_t number; /* of the thread, or of its span */
};

struct context_join {
	struct key_map nodes;	/* trace and span id -> struct node */
	struct key_map traces;	/* id -> struct trace */
	struct key_map pending; /* struct thread_key -> struct pending */
	struct key_map last;	/* struct thread_key -> struct last */
	struct trace *oldest, *newest;
	uint64_t trace_cnt;    /* that ever were */
	uint64_t from_ns;      /* the log begins there */
	uint64_t until_ns;     /* and was read so far */
	uint64_t forgotten_ns; /* of traces that were heard of then, or before, some were forgotten */
	uint64_t pruned_ns;    /* what was before that in pending and last is not there any more */
	size_t held_cnt;       /* stays and spans that are there */
	uint64_t known_cnt;    /* spans with stays that are among the traces */
	struct context_join_stats stats;

	/* of a visit: the span that is asked for and those below it, and the times of all their stays */
	uint64_t visit;
	struct node **found;
	size_t found_cnt, found_room;
	struct interval *intervals;
	size_t interval_cnt, interval_room;
};

struct interval {
	uint64_t begin_ns;
	uint64_t end_ns;
};

struct context_join *context_join_new(void)
{
	struct context_join *join = calloc(1, sizeof(*join));

	if (!join)
		return NULL;
	key_map_init(&join->nodes, sizeof(struct node), NULL);
	key_map_init(&join->traces, sizeof(struct trace), NULL);
	key_map_init(&join->pending, sizeof(struct pending), NULL);
	key_map_init(&join->last, sizeof(struct last), NULL);
	return join;
}

void context_join_begin(struct context_join *join, uint64_t start_ns)
{
	join->from_ns = start_ns;
	join->until_ns = start_ns;
	key_map_prune(&join->pending, NULL, NULL);
	key_map_prune(&join->last, NULL, NULL);
}

/* ---- traces ---- */

static void link_newest(struct context_join *join, struct trace *trace)
{
	trace->older = join->newest;
	trace->newer = NULL;
	*(join->newest ? &join->newest->newer : &join->oldest) = trace;
	join->newest = trace;
}

static void unlink_trace(struct context_join *join, struct trace *trace)
{
	*(trace->older ? &trace->older->newer : &join->oldest) = trace->newer;
	*(trace->newer ? &trace->newer->older : &join->newest) = trace->older;
}

static void hear(struct context_join *join, struct trace *trace)
{
	trace->heard_ns = join->until_ns;
	if (trace == join->newest)
		return;
	unlink_trace(join, trace);
	link_newest(join, trace);
}

static struct trace *trace_add(struct context_join *join, const uint8_t *id)
{
	bool is_new;
	struct trace *trace = key_map_add(&join->traces, id, CONTEXT_TRACE_BYTES, &is_new);

	if (trace && is_new) {
		memcpy(trace->id, id, sizeof(trace->id));
		trace->number = ++join->trace_cnt;
		trace->complete_ns = join->forgotten_ns;
		link_newest(join, trace);
	}
	if (trace)
		hear(join, trace);
	return trace;
}

static struct node *node_add(struct context_join *join, struct trace *trace, const uint8_t *span_id)
{
	uint8_t ids[sizeof(((struct node *)0)->ids)];
	struct node *node;
	bool is_new;

	memcpy(ids, trace->id, CONTEXT_TRACE_BYTES);
	memcpy(ids + CONTEXT_TRACE_BYTES, span_id, CONTEXT_SPAN_BYTES);
	node = key_map_add(&join->nodes, ids, sizeof(ids), &is_new);
	if (node && is_new) {
		memcpy(node->ids, ids, sizeof(ids));
		node->trace = trace;
		node->next = trace->nodes;
		trace->nodes = node;
		join->held_cnt++;
	}
	return node;
}

static void forget_stays(struct context_join *join, struct node *node)
{
	struct stay *next;

	for (struct stay *stay = node->stays; stay; stay = next) {
		next = stay->next;
		free(stay);
		join->held_cnt--;
	}
}

static void forget_trace(struct context_join *join, struct trace *trace)
{
	uint8_t id[CONTEXT_TRACE_BYTES], ids[sizeof(((struct node *)0)->ids)];
	struct node *next;

	for (struct node *node = trace->nodes; node; node = next) {
		next = node->next;
		forget_stays(join, node);
		join->held_cnt--;
		memcpy(ids, node->ids, sizeof(ids));
		key_map_remove(&join->nodes, ids, sizeof(ids));
	}
	if (trace->heard_ns > join->forgotten_ns)
		join->forgotten_ns = trace->heard_ns;
	unlink_trace(join, trace);
	memcpy(id, trace->id, sizeof(id));
	key_map_remove(&join->traces, id, sizeof(id));
}

void context_join_free(struct context_join *join)
{
	if (!join)
		return;
	while (join->oldest)
		forget_trace(join, join->oldest);
	key_map_release(&join->nodes);
	key_map_release(&join->traces);
	key_map_release(&join->pending);
	key_map_release(&join->last);
	free(join->found);
	free(join->intervals);
	free(join);
}

static bool was_said_before(void *context, const void *value)
{
	return ((const struct pending *)value)->said_ns < *(const uint64_t *)context;
}

static bool has_ended_before(void *context, const void *value)
{
	return ((const struct last *)value)->end_ns < *(const uint64_t *)context;
}

void context_join_forget(struct context_join *join, uint64_t before_ns, size_t max_cnt)
{
	while (join->oldest && join->oldest->heard_ns < before_ns)
		forget_trace(join, join->oldest);
	for (; join->oldest && join->held_cnt > max_cnt; join->stats.crowded_cnt++)
		forget_trace(join, join->oldest);
	if (before_ns < join->pruned_ns + PRUNE_NS)
		return;
	join->pruned_ns = before_ns;
	key_map_prune(&join->pending, was_said_before, &before_ns);
	key_map_prune(&join->last, has_ended_before, &before_ns);
}

/* ---- the log ---- */

static bool is_number(const struct txtrace_attribute *attribute, const char *name)
{
	return attribute->type == TXTRACE_ATTRIBUTE_UINT && attribute->name.length == strlen(name) &&
	       memcmp(attribute->name.bytes, name, attribute->name.length) == 0;
}

static int take_attribute(struct context_join *join, const struct txtrace_attribute *attribute)
{
	const struct thread_key key = { attribute->pid, attribute->span };
	bool is_context = trace_header_is(attribute, TRACEPARENT_NAME);
	bool is_before = is_number(attribute, "otel.before_ns"),
	     is_after = is_number(attribute, "otel.after_ns"), is_new;
	struct pending *pending;

	if (!is_context && !is_before && !is_after)
		return 0;
	pending = key_map_add(&join->pending, &key, sizeof(key), &is_new);
	if (!pending)
		return -ENOMEM;
	pending->said_ns = join->until_ns;
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
static bool follows(const struct stay *stay, const struct last *before)
{
	return stay->before_ns == before->after_ns && stay->begin_ns >= before->end_ns &&
	       stay->begin_ns - before->end_ns < NEXT_NS;
}

static int link_stay(struct context_join *join, const struct txtrace_span *span, struct node *node,
		     struct stay *stay)
{
	const struct thread_key key = { span->pid, span->tid };
	bool is_new;
	struct last *last = key_map_add(&join->last, &key, sizeof(key), &is_new);

	if (!last)
		return -ENOMEM;
	if (!is_new && last->trace == node->trace->number && follows(stay, last)) {
		stay->before = last->node;
		last->stay->after = node;
	}
	*last = (struct last){ stay, node, node->trace->number, stay->end_ns, stay->after_ns };
	return 0;
}

static int add_stay(struct context_join *join, const struct txtrace_span *span, const struct pending *pending,
		    int64_t to_unix_ns)
{
	struct trace *trace = trace_add(join, pending->context.trace_id);
	struct node *node = trace ? node_add(join, trace, pending->context.span_id) : NULL;
	struct stay *stay = node ? malloc(sizeof(*stay)) : NULL;

	if (!stay)
		return -ENOMEM;
	*stay = (struct stay){
		.next = node->stays,
		.ledger = span->ledger,
		.begin_ns = span->begin_ns + (uint64_t)to_unix_ns,
		.end_ns = span->end_ns + (uint64_t)to_unix_ns,
		.before_ns = pending->before_ns,
		.after_ns = pending->after_ns,
		.is_lower_bound = span->flags & TXTRACE_SPAN_LOWER_BOUND,
	};
	if (!node->stays) {
		join->stats.context_cnt++;
		join->known_cnt += node->is_known;
	}
	node->stays = stay;
	join->held_cnt++;
	join->stats.stay_cnt++;
	join->stats.late_cnt += node->is_given;
	return link_stay(join, span, node, stay);
}

static int take_span(struct context_join *join, const struct txtrace_span *span, int64_t to_unix_ns)
{
	const struct thread_key key = { span->pid, span->id };
	const struct pending *pending = key_map_find(&join->pending, &key, sizeof(key));
	bool is_otel = span->label.length == 4 && memcmp(span->label.bytes, "otel", 4) == 0;
	int err = 0;

	if (!pending)
		return 0;
	if (pending->has_context && pending->has_before && is_otel)
		err = add_stay(join, span, pending, to_unix_ns);
	key_map_remove(&join->pending, &key, sizeof(key));
	return err;
}

/* What these say came when they say: older spans may stand behind a checkpoint, a loss or a cost. */
static bool is_in_order(const struct txtrace_record *record)
{
	switch (record->kind) {
	case TXTRACE_RECORD_SPAN:
	case TXTRACE_RECORD_RUN:
	case TXTRACE_RECORD_WAKE:
	case TXTRACE_RECORD_ATTRIBUTE:
	case TXTRACE_RECORD_SUMMARY:
		return true;
	default:
		return false;
	}
}

int context_join_record(struct context_join *join, const struct txtrace_record *record, int64_t to_unix_ns)
{
	uint64_t begin_ns, end_ns;

	if (is_in_order(record) && record_times(record, &begin_ns, &end_ns) &&
	    end_ns + (uint64_t)to_unix_ns > join->until_ns)
		join->until_ns = end_ns + (uint64_t)to_unix_ns;
	if (record->kind == TXTRACE_RECORD_ATTRIBUTE)
		return take_attribute(join, &record->attribute);
	return record->kind == TXTRACE_RECORD_SPAN ? take_span(join, &record->span, to_unix_ns) : 0;
}

uint64_t context_join_until_ns(const struct context_join *join)
{
	return join->until_ns;
}

/* ---- the traces ---- */

static bool is_none(const uint8_t *span_id)
{
	static const uint8_t none[CONTEXT_SPAN_BYTES];

	return memcmp(span_id, none, sizeof(none)) == 0;
}

int context_join_span(struct context_join *join, const struct context_span *span)
{
	struct trace *trace = key_map_find(&join->traces, span->trace_id, CONTEXT_TRACE_BYTES);
	struct node *node, *parent;

	if (!trace)
		return 0;
	hear(join, trace);
	node = node_add(join, trace, span->span_id);
	if (!node)
		return -ENOMEM;
	if (node->is_known)
		return 0;
	node->is_known = true;
	join->known_cnt += node->stays != NULL;
	node->process = span->process;
	node->begin_ns = span->begin_ns;
	node->end_ns = span->end_ns;
	if (is_none(span->parent_id))
		return 0;
	parent = node_add(join, trace, span->parent_id);
	if (!parent)
		return -ENOMEM;
	node->sibling = parent->child;
	parent->child = node;
	return 0;
}

static int find(struct context_join *join, struct node *node, unsigned int depth)
{
	struct node **grown = array_grow(join->found, &join->found_room, join->found_cnt, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	join->found = grown;
	join->found[join->found_cnt++] = node;
	node->visit = join->visit;
	node->depth = depth;
	return 0;
}

/*
 * The node and all below it of the same process: each once, also where a hostile
 * file has spans above each other in a circle.
 */
static int find_below(struct context_join *join, struct node *top)
{
	int err;

	join->visit++;
	join->found_cnt = 0;
	err = find(join, top, 0);
	for (size_t i = 0; i < join->found_cnt && !err; i++) {
		const struct node *node = join->found[i];

		if (node->depth == DEPTH_MAX)
			break;
		for (struct node *child = node->child; child && !err; child = child->sibling)
			if (child->visit != join->visit && child->process == top->process)
				err = find(join, child, node->depth + 1);
	}
	return err;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* What the span's own times may be wrong by: tracers of JavaScript have the begin in whole milliseconds. */
static uint64_t doubt_ns(const struct node *top)
{
	return top->begin_ns % 1000000 ? DOUBT_NS : 1000000;
}

/*
 * Of the CPU time before the stay, what may be the span's: if it began meanwhile, no more than was since
 * then. That time may be of several pieces, so nothing of it is certain.
 */
static uint64_t most_before_ns(const struct stay *stay, const struct node *top)
{
	if (!top->is_known || top->begin_ns > stay->begin_ns)
		return stay->before_ns;
	return least(stay->before_ns, stay->begin_ns - top->begin_ns + doubt_ns(top));
}

/*
 * Takes back the CPU time at the stay's end, one piece, which may be another span's. If the span ended
 * meanwhile, what was until then is its own. What was stolen of that piece came at any time.
 */
static void take_after(const struct stay *stay, const struct node *top, struct context_sums *sums)
{
	uint64_t after_ns = least(stay->after_ns, stay->ledger.on_cpu_ns), from_ns = stay->end_ns - after_ns;
	uint64_t own_ns = 0, most_ns = after_ns;

	if (top->is_known && top->end_ns >= from_ns && top->end_ns <= stay->end_ns) {
		uint64_t passed_ns = top->end_ns - from_ns, doubt = doubt_ns(top);

		own_ns = passed_ns > doubt ? passed_ns - doubt : 0;
		most_ns = least(after_ns, passed_ns + doubt + stay->ledger.stolen_ns);
	}
	sums->ledger.on_cpu_ns -= after_ns - own_ns;
	increase(&sums->between_ns, most_ns - own_ns);
}

static int add_stay_to(struct context_join *join, const struct stay *stay, const struct node *top,
		       struct context_sums *sums)
{
	struct interval *grown = array_grow(join->intervals, &join->interval_room, join->interval_cnt,
					    sizeof(*grown));
	bool goes_on = stay->after && stay->after->visit == join->visit;
	bool went_on = stay->before && stay->before->visit == join->visit;

	if (!grown)
		return -ENOMEM;
	join->intervals = grown;
	join->intervals[join->interval_cnt++] = (struct interval){ stay->begin_ns, stay->end_ns };
	increase(&sums->ledger.on_cpu_ns, stay->ledger.on_cpu_ns);
	if (!goes_on)
		take_after(stay, top, sums);
	if (!went_on)
		increase(&sums->between_ns, most_before_ns(stay, top));
	increase(&sums->ledger.runnable_ns, stay->ledger.runnable_ns);
	for (int reason = 0; reason < TXTRACE_BLOCK_REASON_COUNT; reason++)
		increase(&sums->ledger.blocked_ns[reason], stay->ledger.blocked_ns[reason]);
	increase(&sums->ledger.unknown_ns, stay->ledger.unknown_ns);
	increase(&sums->ledger.interrupt_ns, stay->ledger.interrupt_ns);
	increase(&sums->ledger.stolen_ns, stay->ledger.stolen_ns);
	increase(&sums->work_ns, stay->end_ns > stay->begin_ns ? stay->end_ns - stay->begin_ns : 0);
	sums->stay_cnt++;
	sums->is_lower_bound |= stay->is_lower_bound;
	return 0;
}

static int compare_intervals(const void *a, const void *b)
{
	const struct interval *left = a, *right = b;

	return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

/* Of this time, what no thread worked for it. */
static uint64_t free_ns(const struct context_join *join, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t sum_ns = 0, at_ns = begin_ns;

	for (size_t i = 0; i < join->interval_cnt && at_ns < end_ns; i++) {
		const struct interval *interval = &join->intervals[i];
		uint64_t until_ns = interval->begin_ns < end_ns ? interval->begin_ns : end_ns;

		if (until_ns > at_ns)
			sum_ns += until_ns - at_ns;
		if (interval->end_ns > at_ns)
			at_ns = interval->end_ns;
	}
	return sum_ns + (at_ns < end_ns ? end_ns - at_ns : 0);
}

/* Of the span's own time: what nobody worked for it, and what the log does not have. */
static void add_rest(const struct context_join *join, const struct node *node, struct context_sums *sums)
{
	uint64_t complete_ns = node->trace->complete_ns > join->from_ns ? node->trace->complete_ns
									: join->from_ns;
	uint64_t begin_ns = node->begin_ns > complete_ns ? node->begin_ns : complete_ns;
	uint64_t end_ns = node->end_ns < join->until_ns ? node->end_ns : join->until_ns;
	uint64_t detached_ns, all_ns;

	if (!node->is_known || node->end_ns <= node->begin_ns)
		return;
	qsort(join->intervals, join->interval_cnt, sizeof(*join->intervals), compare_intervals);
	detached_ns = free_ns(join, begin_ns, end_ns);
	all_ns = free_ns(join, node->begin_ns, node->end_ns);
	if (begin_ns > node->begin_ns || end_ns < node->end_ns) {
		increase(&sums->ledger.unknown_ns, all_ns > detached_ns ? all_ns - detached_ns : 0);
		sums->is_lower_bound = true;
	}
	/* CPU time that may be its own is no time in which nobody worked for it */
	sums->ledger.detached_ns = detached_ns > sums->between_ns ? detached_ns - sums->between_ns : 0;
}

int context_join_get(struct context_join *join, const struct context_span *span, struct context_sums *sums)
{
	uint8_t ids[sizeof(((struct node *)0)->ids)];
	struct node *node;
	int err;

	memcpy(ids, span->trace_id, CONTEXT_TRACE_BYTES);
	memcpy(ids + CONTEXT_TRACE_BYTES, span->span_id, CONTEXT_SPAN_BYTES);
	node = key_map_find(&join->nodes, ids, sizeof(ids));
	if (!node)
		return 0;
	node->is_given = true;
	*sums = (struct context_sums){ 0 };
	join->interval_cnt = 0;
	err = find_below(join, node);
	for (size_t i = 0; i < join->found_cnt && !err; i++)
		for (const struct stay *stay = join->found[i]->stays; stay && !err; stay = stay->next)
			err = add_stay_to(join, stay, node, sums);
	if (err || !sums->stay_cnt)
		return err;
	add_rest(join, node, sums);
	return 1;
}

void context_join_stats(const struct context_join *join, struct context_join_stats *stats)
{
	*stats = join->stats;
	stats->unknown_cnt = join->stats.context_cnt - join->known_cnt;
}
