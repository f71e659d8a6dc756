// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mark_ring.h"
#include "emit.h"

#define LANE_MAX 4 /* of a thread: in so many object files; with more it tells its clocks at each switch */
#define STAYS_AFTER 4 /* that are told after the last one in which a slot was taken */

const volatile bool cfg_has_mark_rings;

struct lanes {
	uint64_t addresses[LANE_MAX]; /* of the positions; 0: none */
	uint64_t positions[LANE_MAX]; /* when they were last looked at */
	uint32_t is_beyond;	      /* there are more */
	uint32_t stays_left;	      /* of STAYS_AFTER */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lanes);
} thread_lanes SEC(".maps");

__hidden void mark_ring_add_lane(struct thread_clock *clock, uint64_t address)
{
	struct lanes *lanes = bpf_task_storage_get(&thread_lanes, bpf_get_current_task_btf(), 0,
						   BPF_LOCAL_STORAGE_GET_F_CREATE);

	clock->lanes = lanes && clock->lanes != LANES_UNKNOWN ? LANES_KNOWN : LANES_UNKNOWN;
	if (!lanes)
		return;
#pragma unroll
	for (int i = 0; i < LANE_MAX; i++) {
		if (lanes->addresses[i] == address)
			return;
		if (!lanes->addresses[i]) {
			lanes->addresses[i] = address;
			return;
		}
	}
	lanes->is_beyond = 1;
}

__hidden void mark_ring_forget(struct task_struct *task)
{
	if (cfg_has_mark_rings)
		bpf_task_storage_delete(&thread_lanes, task);
}

/*
 * Also if that cannot be read any more, as where a thread ends; and for some
 * stays after that: a thread that is interrupted within a mark has taken its
 * slot, and reads the time of the mark only when it goes on, if it is not
 * interrupted again. To be asked is no stay of its own.
 */
static __always_inline bool has_marked(struct lanes *lanes, bool leaves)
{
	uint32_t stays_left = lanes->stays_left;
	bool has_moved = lanes->is_beyond;

#pragma unroll
	for (int i = 0; i < LANE_MAX; i++) {
		uint64_t position = 0;

		if (!lanes->addresses[i])
			break;
		if (bpf_probe_read_user(&position, sizeof(position), (void *)lanes->addresses[i]) ||
		    position != lanes->positions[i])
			has_moved = true;
		lanes->positions[i] = position;
	}
	if (has_moved)
		lanes->stays_left = STAYS_AFTER;
	else if (leaves && stays_left)
		lanes->stays_left = stays_left - 1;
	return has_moved || stays_left;
}

/*
 * The kernel hid that it came onto its CPU: what it slept is known, and since its
 * wakeup it was runnable or on a CPU. A mark in that time tells its clocks as a
 * probe there would.
 */
static __always_inline void tell_sleep(struct wire_stay *event, const struct thread_clock *clock)
{
	uint64_t woken_ns;

	if (event->state == WIRE_THREAD_ON_CPU)
		return;
	woken_ns = state_clock_sleep_end(&clock->now, event->header.time_ns);
	if (!woken_ns)
		return;
	state_clock_add_blocked(&event->clocks, clock->now.reason,
				STATE_CLOCK_ELAPSED(event->since_ns, woken_ns));
	event->since_ns = woken_ns;
	event->state = WIRE_THREAD_RUNNABLE;
}

__hidden int mark_ring_tell(struct task_struct *task, struct thread_clock *clock, uint64_t end_ns)
{
	struct lanes *lanes = bpf_task_storage_get(&thread_lanes, task, 0, 0);
	struct wire_stay *event;
	struct emit out;

	/* up to 6.1, what is there is not found while another program of this CPU looks for something, too */
	if (clock->lanes == LANES_KNOWN && lanes && !has_marked(lanes, end_ns != MARK_RING_GOES_ON))
		return 0;
	/* it is not known which of the spans were hit by what is stolen in this stay */
	if (steal_is_told())
		clock->is_stolen_shared = 1;
	event = emit_reserve(&out, WIRE_STAY, sizeof(*event));
	if (!event)
		return emit_lost(&out, WIRE_STAY, bpf_ktime_get_ns());
	emit_header(&out, &event->header, WIRE_STAY, 0, (uint64_t)task->tgid << 32 | (uint32_t)task->pid,
		    end_ns == MARK_RING_GOES_ON || end_ns == MARK_RING_NOW ? bpf_ktime_get_ns() : end_ns);
	event->since_ns = clock->now.since_ns;
	event->state = clock->now.state;
	event->is_still_on_cpu = end_ns == MARK_RING_GOES_ON;
	__builtin_memset(event->padding, 0, sizeof(event->padding));
	event->clocks = clock->clocks;
	tell_sleep(event, clock);
	emit_submit(&out, event);
	return 0;
}

/* Run by the recorder, on the CPU that it asks. */
SEC("raw_tp")
int ask_current(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_clock *clock = thread_clock_of(task);

	if (clock && clock->lanes && phase != WIRE_PHASE_STOPPED)
		mark_ring_tell(task, clock, MARK_RING_GOES_ON);
	return 0;
}
