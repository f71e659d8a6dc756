/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long the calling thread has a CPU before another one gets its turn. The
 * recorder's share of the CPU stays what it is; it comes in more and shorter
 * pieces, so that a thread of the traced program waits for less.
 */
#ifndef SHORT_SLICE_H
#define SHORT_SLICE_H

/*
 * 0.1 ms, the shortest that Linux 6.12 and later give. Older kernels know no
 * slice of one thread: there this does nothing, and so it does if the thread has
 * a real-time policy. Threads and processes that it makes afterwards inherit it.
 */
void short_slice_take(void);

#endif
