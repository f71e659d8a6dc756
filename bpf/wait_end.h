/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a wait in poll, select, epoll or io_uring was for. Its system call does
 * not say: the descriptor, the request or the timer that ends it does. So the
 * switch-out notes where to look (struct open_wait), with what all of its
 * descriptors have in common as the reason for the time being, and the wakeup
 * that ends the sleep looks:
 *
 * - epoll: the first descriptors in the list of those that are ready, which the
 *   waker has just put there.
 * - poll, select: the first WAIT_FD_MAX descriptors that they watch; those that
 *   are ready now ended it, by a few numbers of pipes, sockets, eventfds,
 *   timerfds and epolls. Of others, and of sockets that are written to, nothing
 *   is known: one of them is taken if nothing else can have been it.
 * - io_uring: the request that has been completed, or is about to be; see
 *   uring.h.
 * - none of these: a signal, if one is pending; else the timer, if one ran.
 *
 * Waits of other calls pay one look at a number of the thread's clock.
 */
#ifndef WAIT_END_H
#define WAIT_END_H

#include "block_reason.h"
#include "thread_clock.h"


/*
 * What a wait for an open file is for: enum block_reason, or FILE_IS_EPOLL.
 * file: the address of its struct file.
 */
uint64_t wait_file_reason(uint64_t file);
#define FILE_IS_EPOLL 0x100

/*
 * A task falls asleep, as block_describe() has it. Sets block->reason and,
 * where it is not told by itself, notes what the wakeup is to look for.
 */
void wait_begin(struct thread_clock *clock, struct block *block);

/*
 * The task, whose files these are, wakes up from a wait of some kind. flags:
 * waker_flags(). Sets clock->now.reason and clock->wait.object.
 */
void wait_decide(struct task_struct *wakee, struct files_struct *files, struct thread_clock *clock,
		 uint16_t flags);

/* The inode of the descriptor that is the object of the wait; 0: it has none, or that cannot be told. */
static __always_inline uint64_t wait_inode(struct files_struct *files, const struct open_wait *wait,
					   uint32_t reason)
{
	struct file *file = reason == BLOCK_SLEEP && !wait->object
				    ? 0
				    : file_of_fd(files, (uint32_t)wait->object);

	return file ? BPF_CORE_READ(file, f_inode, i_ino) : 0;
}

/* This wakeup is the one that ends such a wait. The same question is asked in user space (thread_table.c). */
static __always_inline bool wait_ends(const struct thread_clock *clock)
{
	return clock->wait.kind && clock->now.state == WIRE_THREAD_BLOCKED &&
	       clock->now.wake_ns <= clock->now.since_ns && !clock->now.is_seen_running;
}

#endif
