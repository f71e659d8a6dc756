/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/tree/span_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tree/child_lanes.h"
#include "analyze/log_census.h"
#include "analyze/root_overlap.h"
#include "base/glob.h"
#include "base/saturating.h"
#include "base/string_pool.h"

#define PATH_MAX_LEVELS 64

#define KEYED (1ull << 32) /* the space of the ids of keyed spans: they belong to no process */

/* A span that has not come yet, and what is known of it and of its children. */
struct awaited {
	uint64_t space; /* in which its id is: pid, or KEYED */
	uint64_t id;
	struct span_stays stays;
	struct tree_node children; /* not a node of the tree: only what is below it */
	struct child_lanes lanes;
	struct awaited *older, *newer;
};

/* One that has come: enough to find its place again. */
struct recent {
	uint32_t tid;
	uint32_t label;
	bool has_threads; /* several; if not, tid worked for it */
	bool is_lower_bound;
	bool is_used;
	uint64_t space;
	uint64_t id;
	uint64_t parent_space;
	uint64_t parent;
	uint64_t end_ns;
};

struct span_tree {
	struct tree_nodes nodes;
	struct tree_node root;
	struct string_pool *labels;
	size_t bytes_max;
	size_t awaited_bytes; /* without their nodes */
	struct id_map awaited; /* (space, id) -> struct awaited */
	struct awaited *oldest, *newest;
	struct id_map recent_by_id;
	struct recent *recent; /* a ring */
	size_t recent_at;
	uint64_t given_up_cnt;
	struct root_overlap overlap;
	bool has_rest;
};

struct span_tree *span_tree_new(uint64_t memory_max_bytes)
{
	struct span_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->bytes_max = memory_max_bytes ? memory_max_bytes : SPAN_TREE_MEMORY_BYTES;
	tree->nodes.bytes_max = tree->bytes_max / 2;
	id_map_init(&tree->awaited);
	id_map_init(&tree->recent_by_id);
	tree->labels = string_pool_new();
	tree->recent = calloc(SPAN_TREE_RECENT, sizeof(*tree->recent));
	if (tree->labels && tree->recent)
		return tree;
	span_tree_free(tree);
	return NULL;
}

/* ---- who is awaited ---- */

static void forget_awaited(struct span_tree *tree, struct awaited *awaited)
{
	*(awaited->older ? &awaited->older->newer : &tree->oldest) = awaited->newer;
	*(awaited->newer ? &awaited->newer->older : &tree->newest) = awaited->older;
	if (id_map_get(&tree->awaited, awaited->space, awaited->id) == awaited)
		id_map_remove(&tree->awaited, awaited->space, awaited->id);
	tree->awaited_bytes -= sizeof(*awaited) + awaited->lanes.bytes;
	child_lanes_release(&awaited->lanes);
	tree_free_children(&tree->nodes, &awaited->children);
	free(awaited);
}

void span_tree_free(struct span_tree *tree)
{
	if (!tree)
		return;
	while (tree->oldest)
		forget_awaited(tree, tree->oldest);
	tree_free_children(&tree->nodes, &tree->root);
	tree_nodes_release(&tree->nodes);
	id_map_release(&tree->awaited);
	id_map_release(&tree->recent_by_id);
	string_pool_free(tree->labels);
	free(tree->recent);
	free(tree);
}

static uint64_t id_space(uint32_t pid, bool is_keyed)
{
	return is_keyed ? KEYED : pid;
}

static uint64_t space_of(const struct txtrace_span *span)
{
	return id_space(span->pid, span->flags & TXTRACE_SPAN_KEYED);
}

static uint64_t parent_space_of(const struct txtrace_span *span)
{
	return id_space(span->pid, span->flags & TXTRACE_SPAN_PARENT_KEYED);
}

static bool is_own_parent(const struct txtrace_span *span)
{
	return span->parent == span->id && parent_space_of(span) == space_of(span);
}

static struct awaited *await(struct span_tree *tree, uint64_t space, uint64_t id)
{
	struct awaited *awaited = id_map_get(&tree->awaited, space, id);

	if (awaited)
		return awaited;
	awaited = calloc(1, sizeof(*awaited));
	if (!awaited)
		return NULL;
	awaited->space = space;
	awaited->id = id;
	if (id_map_put(&tree->awaited, space, id, awaited)) {
		free(awaited);
		return NULL;
	}
	awaited->older = tree->newest;
	*(tree->newest ? &tree->newest->newer : &tree->oldest) = awaited;
	tree->newest = awaited;
	tree->awaited_bytes += sizeof(*awaited);
	return awaited;
}

/* The account of a lower bound is not in the picture; nor are its stacks. */
static void drop_stacks(struct tree_node *children)
{
	for (struct tree_node *child = children->first_child; child; child = child->next) {
		if (tree_label_is_stack(child->label))
			child->exact = (struct tree_sums){ 0 };
	}
}

static int give_up(struct span_tree *tree, struct awaited *awaited)
{
	struct tree_node *unknown;
	int err;

	if (!awaited->children.first_child) {
		forget_awaited(tree, awaited);
		return 0;
	}
	drop_stacks(&awaited->children);
	unknown = tree_child(&tree->nodes, &tree->root, TREE_LABEL_UNKNOWN_PARENT);

	/* Where they were in respect of a parent that is not there, nobody can say. */
	for (struct tree_node *child = awaited->children.first_child; child; child = child->next)
		memset(child->place_cnt, 0, sizeof(child->place_cnt));
	err = unknown ? tree_move_children(&tree->nodes, unknown, &awaited->children) : -ENOMEM;

	forget_awaited(tree, awaited);
	return err;
}

static size_t used_bytes(const struct span_tree *tree)
{
	return tree->nodes.bytes + tree->awaited_bytes + string_pool_bytes(tree->labels);
}

/*
 * Half of the memory is for the tree; what is awaited may take all that the tree has left, and then the
 * oldest go.
 */
static int keep_budget(struct span_tree *tree)
{
	int err = 0;

	while (!err && used_bytes(tree) > tree->bytes_max && tree->oldest) {
		tree->given_up_cnt += !!tree->oldest->children.first_child;
		err = give_up(tree, tree->oldest);
	}
	return err;
}

/* ---- who has come ---- */

static void add_recent(struct span_tree *tree, const struct txtrace_span *span, uint32_t label,
		       const struct span_stays *stays)
{
	struct recent *recent = &tree->recent[tree->recent_at];

	if (recent->is_used && id_map_get(&tree->recent_by_id, recent->space, recent->id) == recent)
		id_map_remove(&tree->recent_by_id, recent->space, recent->id);
	*recent = (struct recent){
		.tid = stays->tid,
		.label = label,
		.has_threads = stays->has_threads,
		.is_used = true,
		.is_lower_bound = span->flags & TXTRACE_SPAN_LOWER_BOUND,
		.space = space_of(span),
		.id = span->id,
		.parent_space = parent_space_of(span),
		.parent = span->parent,
		.end_ns = span->end_ns,
	};
	/* Without memory, children that come late have an unknown parent. */
	id_map_put(&tree->recent_by_id, recent->space, span->id, recent);
	tree->recent_at = (tree->recent_at + 1) % SPAN_TREE_RECENT;
}

static void raise_height(struct tree_node *node, uint32_t height)
{
	if (node->height < height)
		node->height = height;
}

/*
 * Below which node a child of `parent_id` belongs, that came already: down the path of labels from the first
 * ancestor that is still awaited, or that has no parent. height: that the child will have.
 */
static int find_late_place(struct span_tree *tree, uint64_t space, uint64_t parent_id, uint32_t height,
			   struct tree_node **place)
{
	uint32_t path[PATH_MAX_LEVELS];
	struct recent *recent;
	struct awaited *awaited;
	size_t cnt = 0;

	while (parent_id && cnt < PATH_MAX_LEVELS &&
	       (recent = id_map_get(&tree->recent_by_id, space, parent_id))) {
		path[cnt++] = recent->label;
		space = recent->parent_space;
		parent_id = recent->parent;
	}
	if (cnt == PATH_MAX_LEVELS) { /* most likely a circle */
		*place = tree_child(&tree->nodes, &tree->root, TREE_LABEL_UNKNOWN_PARENT);
		cnt = 0;
	} else if (parent_id) {
		awaited = await(tree, space, parent_id);
		*place = awaited ? &awaited->children : NULL;
	} else {
		*place = &tree->root;
	}
	while (cnt > 0 && *place) {
		raise_height(*place, height + (uint32_t)cnt + 1);
		*place = tree_child(&tree->nodes, *place, path[--cnt]);
	}
	return *place ? 0 : -ENOMEM;
}

/* Its parent has ended. */
static enum tree_place place_of_late(const struct recent *parent, const struct span_stays *stays)
{
	if (stays->enter_ns >= parent->end_ns ||
	    (!parent->has_threads && !stays->has_threads && parent->tid != stays->tid))
		return TREE_APART;
	return TREE_UNSURE;
}

/* ---- a span comes ---- */

static int find_label(struct span_tree *tree, const struct txtrace_string *label, uint32_t *number)
{
	*number = string_pool_find(tree->labels, label->bytes, label->length);
	if (*number != STRING_POOL_NONE)
		return 0;
	if (tree->nodes.bytes + string_pool_bytes(tree->labels) >= tree->nodes.bytes_max) {
		*number = TREE_LABEL_REST;
		return 0;
	}
	return string_pool_add(tree->labels, label->bytes, label->length, number);
}

/* A span on its way into the tree. */
struct arrival {
	const struct txtrace_span *span;
	struct span_stays stays;
	struct awaited *awaited; /* what was known of it; NULL: nothing */
	uint32_t label;
	uint32_t height; /* that its node will have */
};

/* Its node, below what is awaited or where a late child belongs. */
static int find_node(struct span_tree *tree, const struct arrival *arrival, struct tree_node **node)
{
	const struct txtrace_span *span = arrival->span;
	struct recent *parent = span->parent
					? id_map_get(&tree->recent_by_id, parent_space_of(span), span->parent)
					: NULL;
	struct awaited *awaited = NULL;
	struct tree_node *place = NULL;
	int err = 0;

	if (!span->parent) {
		place = &tree->root;
	} else if (is_own_parent(span)) {
		place = tree_child(&tree->nodes, &tree->root, TREE_LABEL_UNKNOWN_PARENT);
	} else if (parent) {
		err = find_late_place(tree, parent_space_of(span), span->parent, arrival->height, &place);
	} else {
		awaited = await(tree, parent_space_of(span), span->parent);
		place = awaited ? &awaited->children : NULL;
	}
	if (err || !place)
		return -ENOMEM;
	raise_height(place, arrival->height + 1);
	*node = tree_child(&tree->nodes, place, arrival->label);
	if (!*node)
		return -ENOMEM;
	if ((*node)->label == TREE_LABEL_REST)
		tree->has_rest = true;
	if (parent && !is_own_parent(span)) {
		enum tree_place late = place_of_late(parent, &arrival->stays);

		(*node)->place_cnt[late]++;
		/* it is the parent's node */
		place->is_at_most |= late == TREE_UNSURE && !parent->is_lower_bound;
	}
	if (!awaited)
		return 0;
	tree->awaited_bytes -= awaited->lanes.bytes;
	err = child_lanes_add(&awaited->lanes, span, &arrival->stays, *node);
	tree->awaited_bytes += awaited->lanes.bytes;
	return err;
}

static bool is_too_deep(const struct awaited *awaited)
{
	return awaited->children.height > TREE_HEIGHT_MAX;
}

/* What waited for the span is below it now. */
static int take_children(struct span_tree *tree, struct tree_node *node, struct awaited *awaited)
{
	if (is_too_deep(awaited))
		node = tree_child(&tree->nodes, &tree->root, TREE_LABEL_TOO_DEEP);
	return node ? tree_move_children(&tree->nodes, node, &awaited->children) : -ENOMEM;
}

static int put_sums(struct span_tree *tree, struct arrival *arrival, struct tree_node *node)
{
	const struct txtrace_span *span = arrival->span;
	struct tree_sums *sums = tree_sums_of(&tree->nodes, node, span->flags & TXTRACE_SPAN_LOWER_BOUND);
	struct child_lanes *lanes = arrival->awaited ? &arrival->awaited->lanes : NULL;
	int err = 0;

	if (!sums)
		return -ENOMEM;
	increase(&sums->cnt, 1);
	increase(&sums->wall_ns, span_wall_ns(span));
	increase(&sums->work_ns, span->work_ns);
	ledger_add(&sums->ledger, &span->ledger);
	if (!lanes)
		return 0;
	tree->awaited_bytes -= lanes->bytes;
	if (arrival->awaited->stays.cnt == 0)
		err = child_lanes_stay(lanes, arrival->stays.pid, arrival->stays.tid, arrival->stays.enter_ns,
				       arrival->stays.exit_ns);
	tree->awaited_bytes += lanes->bytes;
	if (err)
		return err;
	child_lanes_judge(lanes, span, &sums->shared);
	node->is_at_most |= lanes->has_doubt && !(span->flags & TXTRACE_SPAN_LOWER_BOUND);
	return 0;
}

static int add_span(struct span_tree *tree, const struct txtrace_span *span)
{
	struct arrival arrival = { .span = span };
	struct tree_node *node = NULL;
	int err;

	/* Out of the map at once: in a circle of parents it must not become its own ancestor. */
	arrival.awaited = id_map_remove(&tree->awaited, space_of(span), span->id);
	if (arrival.awaited) {
		arrival.stays = arrival.awaited->stays;
		arrival.height = is_too_deep(arrival.awaited) ? 0 : arrival.awaited->children.height;
	}
	span_stays_complete(&arrival.stays, span);
	err = find_label(tree, &span->label, &arrival.label);
	if (!err)
		err = find_node(tree, &arrival, &node);
	if (!err)
		err = put_sums(tree, &arrival, node);
	if (arrival.awaited && span->flags & TXTRACE_SPAN_LOWER_BOUND)
		drop_stacks(&arrival.awaited->children);
	if (!err && arrival.awaited)
		err = take_children(tree, node, arrival.awaited);
	if (arrival.awaited)
		forget_awaited(tree, arrival.awaited);
	add_recent(tree, span, arrival.label, &arrival.stays);
	return err;
}

static int add_stay(struct span_tree *tree, const struct txtrace_stay *stay)
{
	struct awaited *awaited = await(tree, id_space(stay->span_pid, stay->is_keyed), stay->span);
	int err;

	if (!awaited)
		return -ENOMEM;
	span_stays_add(&awaited->stays, stay);
	tree->awaited_bytes -= awaited->lanes.bytes;
	err = child_lanes_stay(&awaited->lanes, stay->pid, stay->tid, stay->enter_ns, stay->exit_ns);
	tree->awaited_bytes += awaited->lanes.bytes;
	return err;
}

int span_tree_add(struct span_tree *tree, const struct txtrace_record *record)
{
	struct txtrace_span alone;
	int err = 0;

	root_overlap_see(&tree->overlap, record);
	if (record->kind == TXTRACE_RECORD_SPAN)
		err = add_span(tree, root_overlap_take_off(&tree->overlap, &record->span, &alone));
	else if (record->kind == TXTRACE_RECORD_STAY)
		err = add_stay(tree, &record->stay);
	return err ? err : keep_budget(tree);
}

int span_tree_add_stack(struct span_tree *tree, const struct txtrace_stack *stack, uint32_t number)
{
	struct awaited *awaited = await(tree, id_space(stack->span_pid, stack->is_keyed), stack->span);
	struct tree_node *node = NULL;

	if (awaited)
		node = tree_child(&tree->nodes, &awaited->children, TREE_LABEL_STACK + number);
	if (!node)
		return -ENOMEM;
	increase(&node->exact.cnt, 1);
	increase(&node->exact.work_ns, stack->weight_ns);
	return keep_budget(tree);
}

/* ---- reading ---- */

/* Work of all spans at the node, exact or not: what children are in the order of. */
static uint64_t tree_work_ns(const struct tree_node *node)
{
	return add_saturating(node->exact.work_ns, node->lower_bounds ? node->lower_bounds->work_ns : 0);
}

struct txtrace_string span_tree_label(const struct span_tree *tree, const struct tree_node *node)
{
	struct txtrace_string label = { NULL, 0 };

	if (node->label < string_pool_count(tree->labels))
		label.bytes = string_pool_get(tree->labels, node->label, &label.length);
	return label;
}

struct txtrace_string span_tree_name(const struct span_tree *tree, const struct tree_node *node)
{
	struct txtrace_string label = span_tree_label(tree, node);
	const char *name = "(unknown label)";

	if (label.length > 0)
		return label;
	if (node->label == TREE_LABEL_REST)
		name = "(all other labels)";
	else if (node->label == TREE_LABEL_UNKNOWN_PARENT)
		name = "(unknown parent)";
	else if (node->label == TREE_LABEL_TOO_DEEP)
		name = "(too deep)";
	return (struct txtrace_string){ name, strlen(name) };
}

/* What is no span comes last, then the most work first, then by label. */
static int compare_nodes(const struct tree_node *a, const struct tree_node *b, const void *context)
{
	struct txtrace_string x = span_tree_label(context, a), y = span_tree_label(context, b);
	uint64_t x_ns = tree_work_ns(a), y_ns = tree_work_ns(b);
	size_t shorter = x.length < y.length ? x.length : y.length;
	bool is_x_special = a->label >= TREE_LABEL_TOO_DEEP, is_y_special = b->label >= TREE_LABEL_TOO_DEEP;
	int order;

	if (is_x_special != is_y_special)
		return is_x_special - is_y_special;
	if (x_ns != y_ns)
		return (x_ns < y_ns) - (x_ns > y_ns);
	order = shorter ? memcmp(x.bytes, y.bytes, shorter) : 0;
	if (order)
		return order;
	return x.length != y.length ? (x.length > y.length) - (x.length < y.length)
				    : (a->label > b->label) - (a->label < b->label);
}

/* Takes out of `from` what matches, and puts it below `into`. */
static int pick(struct span_tree *tree, struct tree_node *into, struct tree_node *from, const char *glob)
{
	struct tree_node *child = from->first_child, *next;
	int err = 0;

	for (; child && !err; child = next) {
		struct txtrace_string label = span_tree_label(tree, child);

		next = child->next;
		if (child->label < TREE_LABEL_STACK && glob_matches(glob, label.bytes, label.length))
			err = tree_move_child(&tree->nodes, into, from, child);
		else
			err = pick(tree, into, child, glob);
	}
	return err;
}

int span_tree_begin_capture(struct span_tree *tree)
{
	int err = 0;

	while (!err && tree->oldest)
		err = give_up(tree, tree->oldest);
	id_map_release(&tree->recent_by_id);
	memset(tree->recent, 0, SPAN_TREE_RECENT * sizeof(*tree->recent));
	return err;
}

int span_tree_finish(struct span_tree *tree, const char *label_glob)
{
	struct tree_node picked = { 0 };
	int err = 0;

	while (!err && tree->oldest)
		err = give_up(tree, tree->oldest);
	if (!err && label_glob) {
		err = pick(tree, &picked, &tree->root, label_glob);
		tree_free_children(&tree->nodes, &tree->root);
		tree->root = picked;
	}
	if (!err)
		tree_sort(&tree->root, compare_nodes, tree);
	return err;
}

const struct tree_node *span_tree_root(const struct span_tree *tree)
{
	return &tree->root;
}

uint64_t span_tree_given_up_count(const struct span_tree *tree)
{
	return tree->given_up_cnt;
}

bool span_tree_has_rest(const struct span_tree *tree)
{
	return tree->has_rest;
}
