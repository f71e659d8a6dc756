/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/tree/flame_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saturating.h"

#define NUMBER_CNT_MAX (TREE_STACK_MAX / 2)

static const struct txtrace_string no_stack = { "(no stack)", sizeof("(no stack)") - 1 };

void flame_stacks_init(struct flame_stacks *stacks, uint8_t what, size_t bytes_max)
{
	*stacks = (struct flame_stacks){ .what = what, .bytes_max = bytes_max };
	stacks->first_number = what == TXTRACE_STACK_ON_CPU ? NUMBER_CNT_MAX : 0;
	id_map_init(&stacks->numbers);
}

void flame_stacks_release(struct flame_stacks *stacks)
{
	for (size_t i = 0; i < stacks->cnt; i++)
		free((char *)stacks->names[i].bytes);
	free(stacks->names);
	id_map_release(&stacks->numbers);
}

int flame_stacks_number(struct flame_stacks *stacks, uint64_t stack, uint32_t *number)
{
	uintptr_t known = (uintptr_t)id_map_get(&stacks->numbers, stacks->capture, stack);
	struct txtrace_string *grown;

	if (known) {
		*number = stacks->first_number + (uint32_t)(known - 1);
		return 0;
	}
	if (stacks->cnt >= NUMBER_CNT_MAX)
		return -ENOSPC;
	grown = array_grow(stacks->names, &stacks->size, stacks->cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	stacks->names = grown;
	if (id_map_put(&stacks->numbers, stacks->capture, stack, (void *)(uintptr_t)(stacks->cnt + 1)))
		return -ENOMEM;
	*number = stacks->first_number + (uint32_t)stacks->cnt;
	stacks->names[stacks->cnt++] = (struct txtrace_string){ NULL, 0 };
	return 0;
}

int flame_stacks_add(struct flame_stacks *stacks, const struct txtrace_frames *frames)
{
	uintptr_t known = (uintptr_t)id_map_get(&stacks->numbers, stacks->capture, frames->stack);
	struct txtrace_string *names = known ? &stacks->names[known - 1] : NULL;
	char *copy;

	if (!names || names->length > 0 || frames->names.length == 0 ||
	    stacks->bytes + frames->names.length > stacks->bytes_max)
		return 0;
	copy = malloc(frames->names.length);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, frames->names.bytes, frames->names.length);
	*names = (struct txtrace_string){ copy, frames->names.length };
	stacks->bytes += frames->names.length;
	return 0;
}

/* ---- one node ---- */

static struct flame_frame *child_of(struct flame_frame *parent, struct txtrace_string name)
{
	struct flame_frame *child;

	for (child = parent->first_child; child; child = child->next) {
		if (child->name.length == name.length &&
		    (name.length == 0 || memcmp(child->name.bytes, name.bytes, name.length) == 0))
			return child;
	}
	child = calloc(1, sizeof(*child));
	if (!child)
		return NULL;
	child->name = name;
	child->next = parent->first_child;
	parent->first_child = child;
	return child;
}

/* Down the functions of a stack, the outermost first. */
static int add_weight(struct flame_frame *root, struct txtrace_string names, uint64_t ns)
{
	const char *at = names.bytes, *end = at + names.length;

	increase(&root->total_ns, ns);
	for (int depth = 0; at < end && depth < FLAME_STACK_DEPTH_MAX; depth++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = newline ? (size_t)(newline - at) : (size_t)(end - at);

		root = child_of(root, (struct txtrace_string){ at, length });
		if (!root)
			return -ENOMEM;
		increase(&root->total_ns, ns);
		at += length + 1;
	}
	increase(&root->self_ns, ns);
	return 0;
}

/* The functions of a node below a span's. false: it is none of these stacks. */
static bool get_names(const struct flame_stacks *stacks, const struct tree_node *child,
		      struct txtrace_string *names)
{
	uint32_t idx = child->label - TREE_LABEL_STACK - stacks->first_number;

	if (!tree_label_is_stack(child->label) || idx >= stacks->cnt)
		return false;
	*names = stacks->names[idx].length > 0 ? stacks->names[idx] : no_stack;
	return true;
}

static uint64_t weight_below(const struct flame_stacks *stacks, const struct tree_node *node)
{
	struct txtrace_string names;
	uint64_t sum = 0;

	for (const struct tree_node *child = node->first_child; child; child = child->next) {
		if (get_names(stacks, child, &names))
			increase(&sum, child->exact.work_ns);
	}
	return sum;
}

bool flame_stacks_are_at(const struct flame_stacks *stacks, const struct tree_node *node)
{
	return weight_below(stacks, node) > 0;
}

/* By the sums up to each, so that rounding loses nothing. */
static uint64_t scale(uint64_t part, uint64_t whole, uint64_t to)
{
	return (uint64_t)((unsigned __int128)part * to / whole);
}

static int divide(struct flame_frame *root, const struct flame_stacks *stacks, const struct tree_node *node,
		  uint64_t self_ns)
{
	uint64_t sum = weight_below(stacks, node), before = 0;
	bool is_scaled = sum > self_ns || (stacks->what == TXTRACE_STACK_ON_CPU && sum > 0);
	int err = 0;

	for (const struct tree_node *child = node->first_child; child && !err; child = child->next) {
		struct txtrace_string names;
		uint64_t ns = child->exact.work_ns, until;

		if (!get_names(stacks, child, &names) || ns == 0)
			continue;
		until = ns < sum - before ? before + ns : sum; /* sums saturate */
		if (is_scaled)
			ns = scale(until, sum, self_ns) - scale(before, sum, self_ns);
		before = until;
		if (ns > 0)
			err = add_weight(root, names, ns);
	}
	return !err && self_ns > root->total_ns ? add_weight(root, no_stack, self_ns - root->total_ns) : err;
}

/* The largest first, then by name: a list that is sorted by putting each in its place. */
static void sort_children(struct flame_frame *frame)
{
	struct flame_frame *sorted = NULL, *child, *next;

	for (child = frame->first_child; child; child = next) {
		struct flame_frame **link = &sorted;

		next = child->next;
		sort_children(child);
		while (*link) {
			const struct flame_frame *other = *link;
			size_t shorter = other->name.length < child->name.length ? other->name.length
										 : child->name.length;
			int order = shorter ? memcmp(other->name.bytes, child->name.bytes, shorter) : 0;

			order = order ? order
				      : (other->name.length > shorter) - (child->name.length > shorter);
			if (other->total_ns < child->total_ns ||
			    (other->total_ns == child->total_ns && order > 0))
				break;
			link = &(*link)->next;
		}
		child->next = *link;
		*link = child;
	}
	frame->first_child = sorted;
}

struct flame_frame *flame_stacks_divide(const struct flame_stacks *stacks, const struct tree_node *node,
					uint64_t self_ns)
{
	struct flame_frame *root = calloc(1, sizeof(*root));

	if (!root || divide(root, stacks, node, self_ns)) {
		flame_frame_free(root);
		return NULL;
	}
	sort_children(root);
	return root;
}

void flame_frame_free(struct flame_frame *root)
{
	struct flame_frame *child;

	if (!root)
		return;
	while ((child = root->first_child)) {
		root->first_child = child->next;
		flame_frame_free(child);
	}
	free(root);
}
