// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "vmlinux.h"
#include "uring.h"
#include "block_reason.h"
#include "compat.h"
#include "emit.h"
#include "process_target.h"
#include "thread_clock.h"
#include "wait_end.h"

/* Of requests in flight. */
enum ring_class {
	CLASS_DISK = 0,
	CLASS_NETWORK = 1,
	CLASS_PIPE = 2,
	CLASS_SLEEP = 3,
	CLASS_LOCK = 4,
	CLASS_POLL = 5,
	CLASS_COUNT = 6,
};

struct ring_state {
	uint64_t stamp; /* no other ring has the same, though it may get the address of one that is closed */
	int32_t in_flight_cnt[CLASS_COUNT];
	/* of the request that was completed last since the last wait began; URING_NOTHING: none was */
	uint32_t last_reason;
	/*
	 * Requests in flight for which counted_requests had no room; while there are any, the reason of a
	 * wait is unknown. A completion of a request that was never counted for another reason (it failed
	 * before it was submitted, or came before the recorder) lowers this too early.
	 */
	int32_t uncounted_cnt;
};

/*
 * Of rings that traced threads use, by the address of their struct io_ring_ctx. A ring whose entry is evicted
 * looks as if nothing were in flight: the reason of its waits is unknown.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, uint64_t);
	__type(value, struct ring_state);
} rings_in_use SEC(".maps");

/*
 * Where a request was counted, so that it is counted down there, and once. Its fields cannot tell: a request
 * gets its file when it begins, or never, and some requests are completed without having been submitted.
 */
struct counted_request {
	uint64_t stamp; /* of its ring */
	uint64_t class; /* enum ring_class */
};

/*
 * By the address of struct io_kiocb. No LRU map: a request whose entry is evicted would stay counted. If the
 * kernel does not report a completion, the entry stays until another request gets the same address.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, uint64_t);
	__type(value, struct counted_request);
} counted_requests SEC(".maps");

#define BY_FILE 15
#define LISTED 0x80

/*
 * By IORING_OP_…, the numbers of Linux' interface. What is not here is for nothing that is waited for:
 * BLOCK_POLL.
 */
static const volatile uint8_t opcode_reasons[256] = {
	/* readv … */
	[1] = LISTED | BY_FILE,
	[2] = LISTED | BY_FILE,
	[3] = LISTED | BLOCK_DISK,
	[4] = LISTED | BY_FILE,
	[5] = LISTED | BY_FILE,
	[6] = LISTED | BY_FILE, /* poll_add */
	/* sync_file_range, sendmsg, recvmsg */
	[8] = LISTED | BLOCK_DISK,
	[9] = LISTED | BLOCK_NETWORK,
	[10] = LISTED | BLOCK_NETWORK,
	[11] = LISTED | BLOCK_SLEEP,
	[13] = LISTED | BLOCK_NETWORK,
	[15] = LISTED | BLOCK_SLEEP,
	[16] = LISTED | BLOCK_NETWORK,
	/* fallocate … statx */
	[17] = LISTED | BLOCK_DISK,
	[18] = LISTED | BLOCK_DISK,
	[19] = LISTED | BLOCK_DISK,
	[21] = LISTED | BLOCK_DISK,
	/* read, write, fadvise */
	[22] = LISTED | BY_FILE,
	[23] = LISTED | BY_FILE,
	[24] = LISTED | BLOCK_DISK,
	/* send, recv, openat2 */
	[26] = LISTED | BLOCK_NETWORK,
	[27] = LISTED | BLOCK_NETWORK,
	[28] = LISTED | BLOCK_DISK,
	/* splice, tee, shutdown */
	[30] = LISTED | BY_FILE,
	[33] = LISTED | BY_FILE,
	[34] = LISTED | BLOCK_NETWORK,
	[35] = LISTED | BLOCK_DISK,
	[36] = LISTED | BLOCK_DISK,
	[37] = LISTED | BLOCK_DISK,
	[38] = LISTED | BLOCK_DISK,
	[39] = LISTED | BLOCK_DISK,
	/* extended attributes */
	[41] = LISTED | BLOCK_DISK,
	[42] = LISTED | BLOCK_DISK,
	[43] = LISTED | BLOCK_DISK,
	[44] = LISTED | BLOCK_DISK,
	/* uring_cmd, send_zc … */
	[46] = LISTED | BY_FILE,
	[47] = LISTED | BLOCK_NETWORK,
	[48] = LISTED | BLOCK_NETWORK,
	[49] = LISTED | BY_FILE,
	/* waitid, futex_wait, futex_waitv */
	[50] = LISTED | BLOCK_WAIT,
	[51] = LISTED | BLOCK_LOCK,
	[53] = LISTED | BLOCK_LOCK,
	[55] = LISTED | BLOCK_DISK,
	[58] = LISTED | BLOCK_NETWORK,
	[60] = LISTED | BY_FILE,
	[61] = LISTED | BY_FILE,
};

#define REQUEST_FILE_IS_REGISTERED 0x01 /* IOSQE_FIXED_FILE */
#define REQUEST_IS_SILENT 0x40         /* IOSQE_CQE_SKIP_SUCCESS */

/*
 * What a request is going to be for that has no file yet: the one that its number is of now. The current task
 * submits it.
 */
static __always_inline struct file *file_to_be(struct io_kiocb *request)
{
	uint32_t number = BPF_CORE_READ(request, cqe.fd);

	if (BPF_CORE_READ(request, flags) & REQUEST_FILE_IS_REGISTERED)
		return compat_registered_file(BPF_CORE_READ(request, ctx), number);
	return file_of_fd(compat_current_task()->files, number);
}

/* enum block_reason of a request with this opcode and file. Not static: verified once. */
__noinline uint64_t uring_reason(uint64_t opcode, uint64_t file)
{
	uint8_t reason = opcode_reasons[opcode & 0xff];
	uint64_t of_file;

	if (!reason)
		return BLOCK_POLL;
	if (reason != (LISTED | BY_FILE))
		return reason & ~LISTED;
	of_file = wait_file_reason(file);
	return of_file < BLOCK_REASON_COUNT ? of_file : BLOCK_POLL;
}

/* The same of a request that has its file. */
static __always_inline uint64_t uring_request_reason(uint64_t address)
{
	struct io_kiocb *request = (void *)address;

	return uring_reason(BPF_CORE_READ(request, opcode), (uint64_t)BPF_CORE_READ(request, file));
}

static __always_inline uint32_t class_of_reason(uint32_t reason)
{
	switch (reason) {
	case BLOCK_DISK:
		return CLASS_DISK;
	case BLOCK_NETWORK:
		return CLASS_NETWORK;
	case BLOCK_PIPE:
		return CLASS_PIPE;
	case BLOCK_SLEEP:
		return CLASS_SLEEP;
	case BLOCK_LOCK:
		return CLASS_LOCK;
	default:
		return CLASS_POLL;
	}
}

/* 5.19: completions tell their request, by a field that came with it. */
static __always_inline bool has_request(void)
{
	struct io_kiocb *request = 0;

	return bpf_core_field_exists(request->cqe.flags);
}

/*
 * An argument of a tracepoint as a number: to the verifier it is a pointer, which no global function takes.
 */
static __always_inline uint64_t address_of_argument(const uint64_t *argument)
{
	uint64_t address = 0;

	bpf_probe_read_kernel(&address, sizeof(address), argument);
	return address;
}

#define FLAGS_KERNEL_THREAD_OF_PROCESS 0x10 /* PF_IO_WORKER */

/*
 * The ring's own thread submits requests for its process. No tracepoint tells that this thread begins, so it
 * has no clocks.
 */
static __always_inline bool is_traced(struct task_struct *task)
{
	uint32_t tgid;

	if (thread_clock_if_any(task))
		return true;
	if (!(BPF_CORE_READ(task, flags) & FLAGS_KERNEL_THREAD_OF_PROCESS))
		return false;
	tgid = BPF_CORE_READ(task, tgid);
	return bpf_map_lookup_elem(&targets, &tgid);
}

static __always_inline struct ring_state *state_of_ring(uint64_t ring)
{
	struct ring_state *state = bpf_map_lookup_elem(&rings_in_use, &ring),
			  fresh = { .last_reason = URING_NOTHING };

	if (state)
		return state;
	fresh.stamp = bpf_ktime_get_ns();
	bpf_map_update_elem(&rings_in_use, &ring, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&rings_in_use, &ring);
}

static __always_inline void add_to_class(struct ring_state *state, uint64_t class, int32_t cnt)
{
	if (class < CLASS_COUNT)
		__sync_fetch_and_add(&state->in_flight_cnt[class], cnt);
}

/* False: it was not counted. */
static __always_inline bool count_down(struct ring_state *state, uint64_t address)
{
	struct counted_request *counted = bpf_map_lookup_elem(&counted_requests, &address);

	if (!counted)
		return false;
	if (counted->stamp == state->stamp)
		add_to_class(state, counted->class, -1);
	bpf_map_delete_elem(&counted_requests, &address);
	return true;
}

/* Nobody waits for one that is not to be completed. */
static __always_inline int submitted(uint64_t address)
{
	struct io_kiocb *request = (void *)address;
	struct counted_request counted;
	struct ring_state *state;

	if (!has_request() || phase == WIRE_PHASE_STOPPED || !is_traced(compat_current_task()))
		return 0;
	state = state_of_ring((uint64_t)BPF_CORE_READ(request, ctx));
	if (!state)
		return 0;
	/*
	 * The address may have been counted before: the kernel does not tell of a completion that finds no
	 * place in its ring.
	 */
	count_down(state, address);
	if (BPF_CORE_READ(request, flags) & REQUEST_IS_SILENT)
		return 0;
	counted.stamp = state->stamp;
	counted.class = class_of_reason(
		uring_reason(BPF_CORE_READ(request, opcode), (uint64_t)file_to_be(request)));
	if (!bpf_map_update_elem(&counted_requests, &address, &counted, BPF_ANY))
		add_to_class(state, counted.class, 1);
	else
		__sync_fetch_and_add(&state->uncounted_cnt, 1);
	return 0;
}

/* 6.4 gave it this name. */
SEC("?tp_btf/io_uring_submit_req")
int on_ring_submit(uint64_t *ctx)
{
	return submitted(address_of_argument(ctx));
}

SEC("?tp_btf/io_uring_submit_sqe")
int on_ring_submit_before_6_4(uint64_t *ctx)
{
	return submitted(address_of_argument(ctx));
}

/* A ring may get the address of one that is closed. */
SEC("?tp_btf/io_uring_create")
int on_ring_create(uint64_t *ctx)
{
	uint64_t ring = address_of_argument(ctx + 1);

	bpf_map_delete_elem(&rings_in_use, &ring);
	return 0;
}

/*
 * What all that is in flight is for; BLOCK_POLL: for different things, or not known; URING_NOTHING: there is
 * nothing.
 */
static __always_inline uint32_t common_reason(const struct ring_state *state)
{
	static const volatile uint8_t reasons[CLASS_COUNT] = { BLOCK_DISK,  BLOCK_NETWORK, BLOCK_PIPE,
							       BLOCK_SLEEP, BLOCK_LOCK,	   BLOCK_POLL };
	uint32_t found = URING_NOTHING;

	if (state->uncounted_cnt > 0)
		return BLOCK_POLL;
	for (uint32_t i = 0; i < CLASS_COUNT; i++)
		if (state->in_flight_cnt[i] > 0)
			found = found == URING_NOTHING ? reasons[i] : BLOCK_POLL;
	return found;
}

/*
 * Only the last completion of a request comes with the request. Earlier ones of a multishot request, and
 * messages from other rings, come without. A request that fails before it is submitted is completed, too.
 */
SEC("?tp_btf/io_uring_complete")
int on_ring_complete(uint64_t *ctx)
{
	uint64_t ring = address_of_argument(ctx), address = address_of_argument(ctx + 1);
	struct ring_state *state;

	if (!has_request())
		return 0;
	state = bpf_map_lookup_elem(&rings_in_use, &ring);
	if (!state)
		return 0;
	if (!address) {
		state->last_reason = common_reason(state);
		return 0;
	}
	state->last_reason = uring_request_reason(address);
	if (!count_down(state, address) && state->uncounted_cnt > 0)
		__sync_fetch_and_add(&state->uncounted_cnt, -1);
	return 0;
}

__hidden uint32_t uring_begin_wait(uint64_t ring)
{
	struct ring_state *state = bpf_map_lookup_elem(&rings_in_use, &ring);
	uint32_t found;

	if (!state)
		return BLOCK_POLL;
	state->last_reason = URING_NOTHING;
	found = common_reason(state);
	return found == URING_NOTHING ? BLOCK_POLL : found;
}

/* The request that was put last on a list of those that the thread is to complete. */
static __always_inline uint64_t request_of(struct llist_node *node)
{
	return node ? (uint64_t)node - bpf_core_field_offset(struct io_kiocb, io_task_work) : 0;
}

__hidden uint32_t uring_end_wait(struct task_struct *wakee, uint64_t address)
{
	struct io_ring_ctx *ring = (void *)address;
	struct io_uring_task *of_task;
	struct ring_state *state;
	uint64_t request = 0;

	if (!has_request() || !ring)
		return URING_NOTHING;
	if (bpf_core_field_exists(ring->work_llist.first))
		request = request_of(BPF_CORE_READ(ring, work_llist.first));
	of_task = BPF_CORE_READ(wakee, io_uring);
	if (!request && of_task && bpf_core_field_exists(of_task->task_list.first))
		request = request_of(BPF_CORE_READ(of_task, task_list.first));
	if (request)
		return uring_request_reason(request);
	state = bpf_map_lookup_elem(&rings_in_use, &address);
	return state ? state->last_reason : URING_NOTHING;
}
