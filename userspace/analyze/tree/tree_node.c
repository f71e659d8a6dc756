/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/tree/tree_node.h"

#include <errno.h>
#include <stdlib.h>

#include "base/saturating.h"

#define LIST_MAX 12 /* children that are looked for one by one */

/* ---- ledgers ---- */

void ledger_add(struct txtrace_ledger *sum, const struct txtrace_ledger *ledger)
{
	increase(&sum->on_cpu_ns, ledger->on_cpu_ns);
	increase(&sum->runnable_ns, ledger->runnable_ns);
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		increase(&sum->blocked_ns[i], ledger->blocked_ns[i]);
	increase(&sum->detached_ns, ledger->detached_ns);
	increase(&sum->unknown_ns, ledger->unknown_ns);
	increase(&sum->interrupt_ns, ledger->interrupt_ns);
	increase(&sum->stolen_ns, ledger->stolen_ns);
}

static void decrease(uint64_t *from, uint64_t by)
{
	*from -= by < *from ? by : *from;
}

void ledger_subtract(struct txtrace_ledger *sum, const struct txtrace_ledger *ledger)
{
	decrease(&sum->on_cpu_ns, ledger->on_cpu_ns);
	decrease(&sum->runnable_ns, ledger->runnable_ns);
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++)
		decrease(&sum->blocked_ns[i], ledger->blocked_ns[i]);
	decrease(&sum->detached_ns, ledger->detached_ns);
	decrease(&sum->unknown_ns, ledger->unknown_ns);
	decrease(&sum->interrupt_ns, ledger->interrupt_ns);
	decrease(&sum->stolen_ns, ledger->stolen_ns);
}

bool ledger_fits(const struct txtrace_ledger *part, const struct txtrace_ledger *whole)
{
	for (unsigned int i = 0; i < TXTRACE_BLOCK_REASON_COUNT; i++) {
		if (part->blocked_ns[i] > whole->blocked_ns[i])
			return false;
	}
	return part->on_cpu_ns <= whole->on_cpu_ns && part->runnable_ns <= whole->runnable_ns &&
	       part->detached_ns <= whole->detached_ns && part->unknown_ns <= whole->unknown_ns &&
	       part->interrupt_ns <= whole->interrupt_ns && part->stolen_ns <= whole->stolen_ns;
}

struct txtrace_ledger tree_self(const struct tree_sums *sums)
{
	struct txtrace_ledger self = sums->ledger;

	ledger_subtract(&self, &sums->shared);
	return self;
}

/* ---- nodes ---- */

static void count_map(struct tree_nodes *nodes, const struct id_map *map, bool is_taken)
{
	size_t bytes = sizeof(*map) + (map->slots ? (map->mask + 1) * sizeof(*map->slots) : 0);

	nodes->bytes += is_taken ? bytes : -bytes;
}

static struct tree_node *make_node(struct tree_nodes *nodes, uint32_t label)
{
	struct tree_node *node = nodes->free;

	if (node)
		nodes->free = node->next;
	else
		node = malloc(sizeof(*node));
	if (!node)
		return NULL;
	*node = (struct tree_node){ .label = label };
	nodes->bytes += sizeof(*node) + 16;
	return node;
}

static void free_map(struct tree_nodes *nodes, struct tree_node *node)
{
	if (!node->by_label)
		return;
	count_map(nodes, node->by_label, false);
	id_map_release(node->by_label);
	free(node->by_label);
	node->by_label = NULL;
}

static void free_node(struct tree_nodes *nodes, struct tree_node *node)
{
	free_map(nodes, node);
	if (node->lower_bounds)
		nodes->bytes -= sizeof(*node->lower_bounds);
	free(node->lower_bounds);
	nodes->bytes -= sizeof(*node) + 16;
	node->next = nodes->free;
	nodes->free = node;
}

void tree_nodes_release(struct tree_nodes *nodes)
{
	while (nodes->free) {
		struct tree_node *node = nodes->free;

		nodes->free = node->next;
		free(node);
	}
}

/* Below a node there may be TREE_HEIGHT_MAX levels and a path that was looked up: depth is bounded. */
void tree_free_children(struct tree_nodes *nodes, struct tree_node *node)
{
	while (node->first_child) {
		struct tree_node *child = node->first_child;

		node->first_child = child->next;
		tree_free_children(nodes, child);
		free_node(nodes, child);
	}
	node->child_cnt = 0;
	node->height = 0;
	free_map(nodes, node);
}

static struct tree_node *find(const struct tree_node *parent, uint32_t label)
{
	struct tree_node *child = parent->first_child;

	if (parent->by_label)
		return id_map_get(parent->by_label, 0, label);
	while (child && child->label != label)
		child = child->next;
	return child;
}

static int put_in_map(struct tree_nodes *nodes, struct tree_node *parent, struct tree_node *child)
{
	int err = 0;

	if (parent->by_label)
		count_map(nodes, parent->by_label, false);
	if (!parent->by_label && parent->child_cnt == LIST_MAX) {
		parent->by_label = malloc(sizeof(*parent->by_label));
		if (!parent->by_label)
			return -ENOMEM;
		id_map_init(parent->by_label);
		for (struct tree_node *other = parent->first_child; other && !err; other = other->next)
			err = id_map_put(parent->by_label, 0, other->label, other);
	}
	if (parent->by_label) {
		err = err ? err : id_map_put(parent->by_label, 0, child->label, child);
		count_map(nodes, parent->by_label, true);
	}
	return err;
}

static int link_child(struct tree_nodes *nodes, struct tree_node *parent, struct tree_node *child)
{
	int err = put_in_map(nodes, parent, child);

	if (err)
		return err;
	child->next = parent->first_child;
	parent->first_child = child;
	parent->child_cnt++;
	if (parent->height <= child->height)
		parent->height = child->height + 1;
	return 0;
}

struct tree_node *tree_child(struct tree_nodes *nodes, struct tree_node *parent, uint32_t label)
{
	struct tree_node *child = find(parent, label);

	if (!child && nodes->bytes >= nodes->bytes_max) {
		label = TREE_LABEL_REST;
		child = find(parent, label);
	}
	if (child)
		return child;
	child = make_node(nodes, label);
	if (child && link_child(nodes, parent, child)) {
		free_node(nodes, child);
		return NULL;
	}
	return child;
}

struct tree_sums *tree_sums_of(struct tree_nodes *nodes, struct tree_node *node, bool is_lower_bound)
{
	if (!is_lower_bound)
		return &node->exact;
	if (!node->lower_bounds) {
		node->lower_bounds = calloc(1, sizeof(*node->lower_bounds));
		nodes->bytes += node->lower_bounds ? sizeof(*node->lower_bounds) : 0;
	}
	return node->lower_bounds;
}

/* ---- two trees into one ---- */

static void add_sums(struct tree_sums *sums, const struct tree_sums *other)
{
	increase(&sums->cnt, other->cnt);
	increase(&sums->wall_ns, other->wall_ns);
	increase(&sums->work_ns, other->work_ns);
	ledger_add(&sums->ledger, &other->ledger);
	ledger_add(&sums->shared, &other->shared);
}

/* Adds one node, with all below, to another of the same label, and frees it. */
static int absorb(struct tree_nodes *nodes, struct tree_node *into, struct tree_node *from)
{
	int err;

	add_sums(&into->exact, &from->exact);
	if (from->lower_bounds && !into->lower_bounds) {
		into->lower_bounds = from->lower_bounds;
		from->lower_bounds = NULL;
	} else if (from->lower_bounds) {
		add_sums(into->lower_bounds, from->lower_bounds);
	}
	into->is_at_most |= from->is_at_most;
	for (unsigned int i = 0; i < TREE_PLACE_COUNT; i++)
		increase(&into->place_cnt[i], from->place_cnt[i]);
	err = tree_move_children(nodes, into, from);
	tree_free_children(nodes, from);
	free_node(nodes, from);
	return err;
}

/* child is in no list any more. */
static int place_child(struct tree_nodes *nodes, struct tree_node *into, struct tree_node *child)
{
	struct tree_node *same = find(into, child->label);
	int err;

	if (same) {
		err = absorb(nodes, same, child);
		if (into->height <= same->height)
			into->height = same->height + 1;
		return err;
	}
	err = link_child(nodes, into, child);
	if (err) {
		tree_free_children(nodes, child);
		free_node(nodes, child);
	}
	return err;
}

int tree_move_children(struct tree_nodes *nodes, struct tree_node *into, struct tree_node *from)
{
	int err = 0;

	while (!err && from->first_child) {
		struct tree_node *child = from->first_child;

		from->first_child = child->next;
		from->child_cnt--;
		err = place_child(nodes, into, child);
	}
	if (!err) {
		free_map(nodes, from);
		from->height = 0;
	}
	return err;
}

int tree_move_child(struct tree_nodes *nodes, struct tree_node *into, struct tree_node *from,
		    struct tree_node *child)
{
	struct tree_node **link = &from->first_child;

	while (*link != child)
		link = &(*link)->next;
	*link = child->next;
	from->child_cnt--;
	if (from->by_label)
		id_map_remove(from->by_label, 0, child->label);
	return place_child(nodes, into, child);
}

/* ---- order ---- */

struct order {
	int (*compare)(const struct tree_node *a, const struct tree_node *b, const void *context);
	const void *context;
};

static struct tree_node *merge_lists(struct tree_node *a, struct tree_node *b, const struct order *order)
{
	struct tree_node *first = NULL, **end = &first;

	while (a && b) {
		struct tree_node **less = order->compare(a, b, order->context) <= 0 ? &a : &b;

		*end = *less;
		end = &(*less)->next;
		*less = *end;
	}
	*end = a ? a : b;
	return first;
}

/* Merge sort: needs no memory. */
static struct tree_node *sort_list(struct tree_node *list, size_t cnt, const struct order *order)
{
	struct tree_node *middle = list, *second;

	if (cnt < 2)
		return list;
	for (size_t i = 1; i < cnt / 2; i++)
		middle = middle->next;
	second = middle->next;
	middle->next = NULL;
	return merge_lists(sort_list(list, cnt / 2, order), sort_list(second, cnt - cnt / 2, order), order);
}

void tree_sort(struct tree_node *node,
	       int (*compare)(const struct tree_node *a, const struct tree_node *b, const void *context),
	       const void *context)
{
	struct order order = { compare, context };

	node->first_child = sort_list(node->first_child, node->child_cnt, &order);
	for (struct tree_node *child = node->first_child; child; child = child->next)
		tree_sort(child, compare, context);
}
