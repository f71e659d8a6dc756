// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "entered.h"
#include "compat.h"

struct entered_stack {
	uint32_t cnt;
	uint32_t padding;
	struct entered spans[ENTERED_DEPTH];
};

/* The recorder makes them large if they are used. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct entered_stack);
} entered_stacks SEC(".maps");

/* What a thread begins with: too large for a program's frame. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct entered_stack);
} entered_nothing SEC(".maps");

/* A span that is not in one thread's stack alone. */
struct shared_name {
	uint64_t id;
	uint32_t tgid; /* of a keyed span: 0 */
	uint32_t padding;
};

#define SHARED_OPEN 1
#define SHARED_ENDED 2

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct shared_name);
	__type(value, uint32_t);
} shared_spans SEC(".maps");

static __always_inline struct shared_name name_of(uint64_t id, bool is_keyed)
{
	return (struct shared_name){ .id = id, .tgid = is_keyed ? 0 : bpf_get_current_pid_tgid() >> 32 };
}

static __always_inline struct entered_stack *stack_get(void)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();

	return bpf_map_lookup_elem(&entered_stacks, &tid);
}

static __always_inline struct entered_stack *stack_make(void)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid(), first = 0;
	struct entered_stack *stack = bpf_map_lookup_elem(&entered_stacks, &tid), *initial;

	if (stack)
		return stack;
	initial = bpf_map_lookup_elem(&entered_nothing, &first);
	if (initial)
		bpf_map_update_elem(&entered_stacks, &tid, initial, BPF_NOEXIST);
	return bpf_map_lookup_elem(&entered_stacks, &tid);
}

static __always_inline struct entered *span_at(struct entered_stack *stack, uint32_t idx)
{
	return &stack->spans[compat_index(idx, ENTERED_DEPTH)];
}

static __always_inline bool is_over(const struct entered *span)
{
	struct shared_name name = name_of(span->id, span->is_keyed);
	uint32_t *state = span->depth ? bpf_map_lookup_elem(&shared_spans, &name) : 0;

	return !span->depth || (state && *state == SHARED_ENDED);
}

__hidden const struct entered *entered_top(bool *is_known)
{
	struct entered_stack *stack = stack_make();

	*is_known = stack != 0;
	if (!stack)
		return 0;
	for (int i = 0; i < ENTERED_DEPTH; i++) {
		struct entered *top;

		if (!stack->cnt)
			return 0;
		top = span_at(stack, stack->cnt - 1);
		if (!is_over(top))
			return top;
		stack->cnt--;
	}
	return 0;
}

static __always_inline struct entered *find(struct entered_stack *stack, uint64_t id, bool is_keyed)
{
	for (uint32_t i = 0; i < ENTERED_DEPTH; i++) {
		struct entered *span;

		if (i >= stack->cnt)
			return 0;
		span = span_at(stack, stack->cnt - 1 - i);
		if (span->id == id && span->is_keyed == is_keyed && span->depth)
			return span;
	}
	return 0;
}

__hidden bool entered_push(uint64_t id, uint64_t within, bool is_keyed)
{
	struct entered_stack *stack = stack_make();
	struct entered *span;

	if (!stack)
		return false;
	span = find(stack, id, is_keyed);
	if (span) {
		span->depth++;
		return true;
	}
	if (stack->cnt >= ENTERED_DEPTH)
		return false;
	span = span_at(stack, stack->cnt);
	span->id = id;
	span->within = within;
	span->depth = 1;
	span->is_keyed = is_keyed;
	stack->cnt++;
	return true;
}

__hidden void entered_leave(uint64_t id, bool is_keyed, bool has_ended)
{
	struct entered_stack *stack = stack_get();
	struct entered *span = stack ? find(stack, id, is_keyed) : 0;
	struct shared_name name = name_of(id, is_keyed);
	uint32_t ended = SHARED_ENDED;

	if (has_ended && (!span || bpf_map_lookup_elem(&shared_spans, &name)))
		bpf_map_update_elem(&shared_spans, &name, &ended, BPF_ANY);
	if (!span)
		return;
	span->depth = has_ended ? 0 : span->depth - 1;
	if (!span->depth && stack->cnt && span == span_at(stack, stack->cnt - 1))
		stack->cnt--;
}

__hidden void entered_share(uint64_t id, bool is_keyed)
{
	struct shared_name name = name_of(id, is_keyed);
	uint32_t open = SHARED_OPEN;

	bpf_map_update_elem(&shared_spans, &name, &open, BPF_NOEXIST);
}

__hidden void entered_renew(uint64_t id, bool is_keyed)
{
	struct shared_name name = name_of(id, is_keyed);

	bpf_map_delete_elem(&shared_spans, &name);
}

__hidden void entered_forget(uint32_t tid)
{
	bpf_map_delete_elem(&entered_stacks, &tid);
}
