/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of code for a flame graph: their numbers, their functions, and how a
 * span's own time is divided among them. docs/attribution.md, "Flame graphs".
 */
#ifndef FLAME_STACKS_H
#define FLAME_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/tree/tree_node.h"
#include "base/id_map.h"
#include "txtrace/log.h"

#define FLAME_STACK_DEPTH_MAX 200 /* functions further in are counted with the last */

struct flame_stacks {
	uint8_t what;          /* enum txtrace_stack_what: those that are drawn */
	uint64_t capture;      /* which is being read: numbers are those of one capture */
	uint32_t first_number; /* so that stacks of both kinds can stand in one tree */
	struct id_map numbers; /* (capture, stack) -> its place in names + 1 */
	struct txtrace_string *names; /* by number, less the first; owned */
	size_t cnt;
	size_t size;
	size_t bytes;
	size_t bytes_max; /* of names; the functions of further ones are not known */
};

void flame_stacks_init(struct flame_stacks *stacks, uint8_t what, size_t bytes_max);
void flame_stacks_release(struct flame_stacks *stacks);

/* The number of a stack, given when it is first met. 0; -ENOMEM; -ENOSPC: there are too many. */
int flame_stacks_number(struct flame_stacks *stacks, uint64_t stack, uint32_t *number);
int flame_stacks_add(struct flame_stacks *stacks, const struct txtrace_frames *frames); /* 0 or -ENOMEM */

/* Whether there are any below the span's node. */
bool flame_stacks_are_at(const struct flame_stacks *stacks, const struct tree_node *node);

/* A function below those that called it. */
struct flame_frame {
	struct txtrace_string name;
	uint64_t self_ns;
	uint64_t total_ns; /* its own, and of all below */
	struct flame_frame *first_child; /* the largest first */
	struct flame_frame *next;
};

/*
 * Divides self_ns of a span's node among the stacks below it: what they weigh,
 * if that is no more, and the rest has no stack; else, and always if they are
 * samples, in the ratio of their weights. So the frames' own times add up to
 * self_ns. *root has no name. NULL: no memory.
 */
struct flame_frame *flame_stacks_divide(const struct flame_stacks *stacks, const struct tree_node *node,
					uint64_t self_ns);
void flame_frame_free(struct flame_frame *root); /* NULL is allowed */

#endif
