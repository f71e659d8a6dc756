/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/otlp_blocks.h"

#include <errno.h>
#include <inttypes.h>

#define THREAD_MAX 131072
#define NAME_BYTES_MAX (8u << 20)

struct blocked_run {
	uint64_t end_ns;
	uint64_t object;
	uint8_t reason;
	bool is_blocked;
};

int otlp_blocks_init(struct otlp_blocks *blocks)
{
	*blocks = (struct otlp_blocks){ 0 };
	key_map_init(&blocks->runs, sizeof(struct blocked_run), NULL);
	return fd_names_init(&blocks->names, NAME_BYTES_MAX);
}

void otlp_blocks_release(struct otlp_blocks *blocks)
{
	key_map_release(&blocks->runs);
	fd_names_release(&blocks->names);
	text_release(&blocks->object);
	text_release(&blocks->waker);
}

int otlp_blocks_run(struct otlp_blocks *blocks, const struct txtrace_run *run)
{
	uint32_t key[2] = { run->pid, run->tid };
	struct blocked_run *last;
	bool is_new;

	if (run->left_as == TXTRACE_LEFT_DEAD) {
		key_map_remove(&blocks->runs, key, sizeof(key));
		return 0;
	}
	if (blocks->runs.count >= THREAD_MAX && !key_map_find(&blocks->runs, key, sizeof(key)))
		key_map_prune(&blocks->runs, NULL, NULL);
	last = key_map_add(&blocks->runs, key, sizeof(key), &is_new);
	if (!last)
		return -ENOMEM;
	*last = (struct blocked_run){ .end_ns = run->end_ns,
				      .object = run->object,
				      .reason = run->reason,
				      .is_blocked = run->left_as == TXTRACE_LEFT_BLOCKED };
	return 0;
}

int otlp_blocks_object(struct otlp_blocks *blocks, const struct txtrace_object *object)
{
	return fd_names_add(&blocks->names, object);
}

static const char *object_of(struct otlp_blocks *blocks, const struct blocked_run *run, uint32_t pid)
{
	uint32_t number = fd_names_find(&blocks->names, pid, run->object);
	struct txtrace_string name = fd_names_get(&blocks->names, number);

	text_clear(&blocks->object);
	if (name.length > 0)
		text_append_visible(&blocks->object, name.bytes, name.length);
	else if (run->reason == TXTRACE_BLOCK_LOCK && run->object)
		text_append_format(&blocks->object, "futex 0x%" PRIx64, run->object);
	return text_string(&blocks->object);
}

static const char *waker_of(struct otlp_blocks *blocks, const struct txtrace_wake *wake)
{
	text_clear(&blocks->waker);
	if (wake->flags & TXTRACE_WAKE_INTERRUPT) {
		text_append(&blocks->waker, wake->flags & TXTRACE_WAKE_TIMER	 ? "timer"
					    : wake->flags & TXTRACE_WAKE_SOFTIRQ ? "softirq"
										 : "interrupt");
	} else if (!(wake->flags & TXTRACE_WAKE_WAKER_UNKNOWN)) {
		text_append_visible(&blocks->waker, wake->waker_comm.bytes, wake->waker_comm.length);
		text_append_format(&blocks->waker, " %" PRIu32, wake->waker_tid);
	}
	return text_string(&blocks->waker);
}

int otlp_blocks_wake(struct otlp_blocks *blocks, const struct txtrace_wake *wake, struct otlp_block *block)
{
	uint32_t key[2] = { wake->pid, wake->tid };
	struct blocked_run *last = key_map_find(&blocks->runs, key, sizeof(key));

	if (!last || !last->is_blocked)
		return 0;
	last->is_blocked = false; /* a second wakeup ends nothing */
	if (wake->time_ns < last->end_ns || wake->time_ns - last->end_ns < OTLP_BLOCK_MIN_NS)
		return 0;
	*block = (struct otlp_block){
		.begin_ns = last->end_ns,
		.duration_ns = wake->time_ns - last->end_ns,
		.reason = txtrace_block_reason_name(last->reason),
		.object = object_of(blocks, last, wake->pid),
		.waker = waker_of(blocks, wake),
	};
	if (!block->reason)
		block->reason = "unknown";
	return blocks->object.err || blocks->waker.err ? -ENOMEM : 1;
}
