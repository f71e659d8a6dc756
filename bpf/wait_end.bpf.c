// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "vmlinux.h"
#include "wait_end.h"
#include "block_reason.h"
#include "compat.h"
#include "emit.h"
#include "thread_clock.h"
#include "txtrace/syscalls.h"
#include "uring.h"

/* The first eight characters of what the kernel calls an anonymous file. */
#define NAME(a, b, c, d, e, f, g, h)									\
	((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 | \
		(uint64_t)(e) << 32 | (uint64_t)(f) << 40 | \
	 (uint64_t)(g) << 48 | (uint64_t)(h) << 56)
#define NAME_EPOLL NAME('[', 'e', 'v', 'e', 'n', 't', 'p', 'o')
#define NAME_TIMER NAME('[', 't', 'i', 'm', 'e', 'r', 'f', 'd')
#define NAME_EVENT NAME('[', 'e', 'v', 'e', 'n', 't', 'f', 'd')

#define ANONYMOUS 0x200 /* not a reason */

/* The name of an anonymous file. */
static __always_inline uint64_t name_of(struct file *file)
{
	const unsigned char *text = BPF_CORE_READ(file, f_path.dentry, d_name.name);
	uint64_t name = 0;

	bpf_probe_read_kernel(&name, sizeof(name), text);
	return name;
}

/* Not static, like others here: verified once, and not on every way that leads to it. */
__noinline uint64_t wait_file_reason(uint64_t address)
{
	struct file *file = (void *)address;
	uint32_t reason = reason_of_inode(BPF_CORE_READ(file, f_inode), ANONYMOUS);
	uint64_t name;

	if (reason == BLOCK_OTHER)
		return BLOCK_POLL;
	if (reason != ANONYMOUS)
		return reason;
	name = name_of(file);
	return name == NAME_TIMER ? BLOCK_SLEEP : name == NAME_EPOLL ? FILE_IS_EPOLL : BLOCK_POLL;
}

/* ---- the begin ---- */

#if defined(__TARGET_ARCH_x86)
#define SYSCALL_POLL 7
#define SYSCALL_PPOLL 271
#else
#define SYSCALL_POLL SYSCALL_UNKNOWN
#define SYSCALL_PPOLL 73
#endif

#define POLL_READ 0x0041 /* POLLIN, POLLRDNORM */

struct polled_fd {
	int32_t fd; /* negative: not looked at by the kernel */
	uint16_t events;
	uint16_t revents;
};

static __always_inline void note_fd(struct open_wait *wait, uint32_t idx, int32_t fd, uint32_t reads)
{
	wait->fds[idx] = fd;
	wait->reads |= reads ? 1u << idx : 0;
	wait->fd_cnt = idx + 1;
}

/* How many descriptors poll() watches; the first of them are noted. */
static __always_inline uint32_t note_polled(struct open_wait *wait, const struct syscall_entry *call)
{
	const struct polled_fd *list = (const void *)call->first_argument;
	uint32_t cnt = (uint32_t)call->second_argument;
	struct polled_fd polled;

	for (uint32_t i = 0; i < WAIT_FD_MAX; i++) {
		if (i >= cnt || bpf_probe_read_user(&polled, sizeof(polled), list + i))
			break;
		note_fd(wait, i, polled.fd, polled.events & POLL_READ);
	}
	return cnt;
}

/* How many bits there are below the lowest one. Without a branch, see block_selected_fds(). */
static __always_inline uint32_t lowest_bit(uint64_t word)
{
	uint64_t below = (word & -word) - 1;

	below -= below >> 1 & 0x5555555555555555ULL;
	below = (below & 0x3333333333333333ULL) + (below >> 2 & 0x3333333333333333ULL);
	below = (below + (below >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return below * 0x0101010101010101ULL >> 56;
}

static __always_inline uint64_t first_word(uint64_t set)
{
	uint64_t word = 0;

	/* 0 where there is nothing, as without that set */
	bpf_probe_read_user(&word, sizeof(word), (const void *)set);
	return word;
}

/* Likewise of select(): the only one, or those below 64. */
static __always_inline uint32_t note_selected(struct open_wait *wait, const struct syscall_entry *call,
					      uint64_t object)
{
	uint64_t reads = first_word(call->second_argument);
	uint64_t word = reads | first_word(call->third_argument) | first_word(call->fourth_argument);

	if (object >> 32 == 1) {
		note_fd(wait, 0, (int32_t)object, call->second_argument && !call->third_argument);
		return 1;
	}
	if (call->first_argument < 64)
		word &= (1ull << (call->first_argument & 63)) - 1;
	for (uint32_t i = 0; i < WAIT_FD_MAX; i++) {
		if (!word)
			break;
		note_fd(wait, i, (int32_t)lowest_bit(word), reads & word & -word ? 1 : 0);
		word &= word - 1;
	}
	return (uint32_t)(object >> 32);
}

#define WAIT_NOTHING 0xff

/*
 * What descriptors are for together, enum block_reason << 32 (WAIT_NOTHING: there were none), and the first
 * of them: with one more.
 */
__noinline uint64_t wait_join(uint64_t found, uint64_t reason, uint64_t fd)
{
	if (found >> 32 == WAIT_NOTHING)
		return reason << 32 | (uint32_t)fd;
	return found >> 32 == reason ? found : (uint64_t)BLOCK_POLL << 32 | (uint32_t)found;
}

#define FOUND_NOTHING ((uint64_t)WAIT_NOTHING << 32)

/*
 * What all the descriptors of a poll have in common; BLOCK_POLL: nothing, or they are more than were noted;
 * BLOCK_SLEEP: there are none.
 */
static __always_inline uint32_t common_reason(struct files_struct *files, const struct open_wait *wait)
{
	uint64_t common = FOUND_NOTHING;

	if (!wait->is_whole)
		return BLOCK_POLL;
	for (uint32_t i = 0; i < WAIT_FD_MAX; i++) {
		if (i >= wait->fd_cnt)
			break;
		if (wait->fds[i] >= 0)
			common = wait_join(common,
					   wait_file_reason(
						   (uint64_t)file_of_fd(files, (uint32_t)wait->fds[i])),
					   0);
	}
	common = common == FOUND_NOTHING ? BLOCK_SLEEP : common >> 32;
	return common < BLOCK_REASON_COUNT ? common : BLOCK_POLL;
}

__hidden void wait_begin(struct thread_clock *clock, struct block *block)
{
	struct open_wait *wait = &clock->wait;
	uint32_t cnt;

	if (block->wait_kind != WAIT_POLL)
		wait->on = block->wait_on;
	wait->object = block->object;
	wait->fd_cnt = wait->reads = 0;
	wait->is_whole = true;
	if (block->wait_kind == WAIT_POLL) {
		cnt = block->call.nr == SYSCALL_POLL || block->call.nr == SYSCALL_PPOLL
			      ? note_polled(wait, &block->call)
			      : note_selected(wait, &block->call, block->object);
		wait->is_whole = cnt <= wait->fd_cnt;
		block->reason = common_reason(block->files, wait);
	} else if (block->wait_kind == WAIT_RING) {
		block->reason = uring_begin_wait(wait->on);
	}
	if (wait->told_reason)
		block->reason = wait->told_reason - 1;
	wait->kind = block->wait_kind;
}

/* ---- the end ---- */

#define EPOLL_LOOKS 4 /* so many descriptors that are ready are looked at: they may be for several reasons */
#define EPOLL_UNUSED (~0ull) /* ovflist: nobody is taking events away at this moment */

struct ready {
	uint64_t reason; /* enum block_reason, FILE_IS_EPOLL; WAIT_NOTHING: nothing is ready */
	struct file *file; /* of the first */
	uint32_t fd;
};

static __always_inline void see_ready(struct ready *ready, struct epitem *item)
{
	struct file *file = BPF_CORE_READ(item, ffd.file);
	uint64_t reason = wait_file_reason((uint64_t)file);

	if (ready->reason == WAIT_NOTHING) {
		ready->reason = reason;
		ready->file = file;
		ready->fd = BPF_CORE_READ(item, ffd.fd);
	} else if (ready->reason != reason) {
		ready->reason = BLOCK_POLL;
	}
}

/* What is ready in an epoll. While somebody takes events away, more of them go to another list. */
static __always_inline struct ready epoll_ready(uint64_t address)
{
	struct eventpoll *epoll = (void *)address;
	struct list_head *head = (void *)(address + bpf_core_field_offset(struct eventpoll, rdllist));
	struct list_head *node = BPF_CORE_READ(epoll, rdllist.next);
	struct ready ready = { .reason = WAIT_NOTHING };
	struct epitem *over = BPF_CORE_READ(epoll, ovflist);

	for (uint32_t i = 0; i < EPOLL_LOOKS; i++) {
		if (!node || node == head)
			break;
		see_ready(&ready, (void *)node - bpf_core_field_offset(struct epitem, rdllink));
		node = BPF_CORE_READ(node, next);
	}
	if (over && (uint64_t)over != EPOLL_UNUSED)
		see_ready(&ready, over);
	return ready;
}

/* An epoll may watch another one. Not static: see above. What it returns is the fd below the reason. */
__noinline uint64_t wait_epoll_end(uint64_t address)
{
	struct ready ready = epoll_ready(address);
	struct file *file = ready.file;

	if (ready.reason == FILE_IS_EPOLL)
		ready = epoll_ready((uint64_t)BPF_CORE_READ(file, private_data));
	if (ready.reason >= BLOCK_REASON_COUNT && ready.reason != WAIT_NOTHING)
		ready.reason = BLOCK_POLL;
	return ready.reason << 32 | ready.fd;
}

enum readiness {
	NOT_READY = 0,
	IS_READY = 1,
	MAY_BE_READY = 2, /* that is not told by a few numbers */
};

static __always_inline uint64_t pipe_readiness(const struct pipe_inode_info *pipe, uint64_t reads)
{
	uint32_t used = BPF_CORE_READ(pipe, head) - BPF_CORE_READ(pipe, tail);

	return reads ? used || !BPF_CORE_READ(pipe, writers)
		     : used < BPF_CORE_READ(pipe, max_usage) || !BPF_CORE_READ(pipe, readers);
}

static __always_inline uint64_t socket_readiness(const struct socket *socket, uint64_t reads)
{
	struct sock *sock = BPF_CORE_READ(socket, sk);

	if (!reads || !sock)
		return MAY_BE_READY;
	return BPF_CORE_READ(sock, sk_receive_queue.qlen) || BPF_CORE_READ(sock, sk_ack_backlog) ||
	       BPF_CORE_READ(sock, sk_err) || BPF_CORE_READ_BITFIELD_PROBED(sock, sk_shutdown);
}

static __always_inline uint64_t anonymous_readiness(struct file *file, uint64_t name)
{
	void *data = BPF_CORE_READ(file, private_data);

	if (name == NAME_EVENT)
		return BPF_CORE_READ((struct eventfd_ctx *)data, count) ? IS_READY : NOT_READY;
	if (name == NAME_TIMER)
		return BPF_CORE_READ((struct timerfd_ctx *)data, ticks) ? IS_READY : NOT_READY;
	if (name == NAME_EPOLL)
		return wait_epoll_end((uint64_t)data) >> 32 != WAIT_NOTHING ? IS_READY : NOT_READY;
	return MAY_BE_READY;
}

/*
 * enum readiness of a file that poll or select watches, which at the begin of the wait was not ready; reads:
 * to be read from, else to be written to.
 */
__noinline uint64_t wait_readiness(uint64_t address, uint64_t reads)
{
	struct file *file = (void *)address;
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	uint32_t type = BPF_CORE_READ(inode, i_mode) & MODE_TYPE;

	if (!inode)
		return NOT_READY;
	if (BPF_CORE_READ(inode, i_sb, s_magic) == MAGIC_ANONYMOUS)
		return anonymous_readiness(file, name_of(file));
	if (type == MODE_PIPE)
		return pipe_readiness(BPF_CORE_READ(file, private_data), reads);
	return type == MODE_SOCKET ? socket_readiness(BPF_CORE_READ(file, private_data), reads)
				   : MAY_BE_READY;
}

/*
 * The same << 32, and what for: enum block_reason. Not static: inlined into a loop over descriptors, its
 * branches would be followed in all combinations, which took the verifier 0.3 s.
 */
__noinline uint64_t wait_polled(uint64_t address, uint64_t reads)
{
	struct file *file = (void *)address;
	uint64_t readiness = wait_readiness(address, reads), reason;

	if (readiness == NOT_READY)
		return (uint64_t)NOT_READY << 32;
	reason = wait_file_reason(address);
	if (reason == FILE_IS_EPOLL)
		reason = wait_epoll_end((uint64_t)BPF_CORE_READ(file, private_data)) >> 32;
	return readiness << 32 | (reason < BLOCK_REASON_COUNT ? reason : BLOCK_POLL);
}

/* The same as wait_join(), if a descriptor is as ready as `wanted`. */
__noinline uint64_t wait_join_if(uint64_t found, uint64_t polled, uint64_t wanted, uint64_t fd)
{
	return polled >> 32 == wanted ? wait_join(found, (uint32_t)polled, fd) : found;
}

/* What the end of a poll is about, by what is ready and what may be: as wait_join() has it. */
struct poll_end {
	uint64_t ready, may_be;
};

static __always_inline struct poll_end look_at_polled(struct files_struct *files,
						      const struct open_wait *wait)
{
	struct poll_end end = { FOUND_NOTHING, FOUND_NOTHING };

	for (uint32_t i = 0; i < WAIT_FD_MAX; i++) {
		uint64_t polled;

		if (i >= wait->fd_cnt)
			break;
		if (wait->fds[i] < 0)
			continue;
		polled = wait_polled((uint64_t)file_of_fd(files, (uint32_t)wait->fds[i]),
				     wait->reads >> i & 1);
		end.ready = wait_join_if(end.ready, polled, IS_READY, (uint32_t)wait->fds[i]);
		end.may_be = wait_join_if(end.may_be, polled, MAY_BE_READY, (uint32_t)wait->fds[i]);
	}
	return end;
}

static __always_inline void note_end(struct open_wait *wait, uint32_t fd)
{
	/* of poll: one, as its object is told at the begin */
	wait->object = wait->kind == WAIT_POLL ? 1ull << 32 | fd : fd;
}

/* A signal that it does not block: to be delivered at the end of the call. */
static __always_inline bool has_signal(struct task_struct *task)
{
	uint64_t pending = BPF_CORE_READ(task, pending.signal.sig[0]) |
			   BPF_CORE_READ(task, signal, shared_pending.signal.sig[0]);

	return pending & ~BPF_CORE_READ(task, blocked.sig[0]);
}

/* Nothing that the wait was for is known to have come. may_be: what may have; WAIT_NOTHING: nothing. */
static __always_inline uint32_t end_without(struct task_struct *wakee, const struct thread_clock *clock,
					    uint16_t flags, uint32_t may_be)
{
	bool is_interrupt = flags & WIRE_IN_INTERRUPT && !(flags & WIRE_IN_SOFTIRQ),
	     is_sure = may_be == WAIT_NOTHING && clock->wait.is_whole;

	if (has_signal(wakee))
		return BLOCK_POLL;
	if (flags & WIRE_BY_TIMER || (is_interrupt && is_sure))
		return BLOCK_SLEEP;
	return may_be != WAIT_NOTHING && clock->wait.is_whole ? may_be : clock->now.reason;
}

static __always_inline uint32_t decide(struct task_struct *wakee, struct files_struct *files,
				       struct thread_clock *clock, uint16_t flags)
{
	struct poll_end end = { FOUND_NOTHING, FOUND_NOTHING };
	struct open_wait *wait = &clock->wait;
	uint32_t reason;

	if (wait->kind == WAIT_EPOLL && wait->on) {
		end.ready = wait_epoll_end(wait->on);
	} else if (wait->kind == WAIT_POLL) {
		end = look_at_polled(files, wait);
	} else {
		reason = uring_end_wait(wakee, wait->on);
		if (reason != WAIT_NOTHING)
			return reason;
	}
	if (end.ready >> 32 != WAIT_NOTHING) {
		note_end(wait, (uint32_t)end.ready);
		return end.ready >> 32;
	}
	reason = end_without(wakee, clock, flags, end.may_be >> 32);
	if (reason == BLOCK_SLEEP)
		wait->object = 0;
	else if (reason == end.may_be >> 32)
		note_end(wait, (uint32_t)end.may_be);
	return reason;
}

__hidden void wait_decide(struct task_struct *wakee, struct files_struct *files, struct thread_clock *clock,
			  uint16_t flags)
{
	uint32_t reason = decide(wakee, files, clock, flags);

	clock->now.reason = clock->wait.told_reason ? clock->wait.told_reason - 1 : reason;
}
