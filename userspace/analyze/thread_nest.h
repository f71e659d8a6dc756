/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parents for logs of recorders that gave none: of a span that has no parent,
 * the one that its thread had entered last when it began, and was still in. The
 * log is read twice, since a span is told when it ends, and its parent's end
 * comes later:
 *
 *	nest = thread_nest_new(0);
 *	thread_nest_learn(nest, &record, begins_capture);     each record, in its order
 *	thread_nest_settle(nest);
 *	thread_nest_apply(nest, &record, begins_capture);     each record again: spans get their parents
 *
 * What says itself where it belongs stays as it is: spans with a parent, keyed
 * ones, those of newer recorders. So does a span that was begun detached, which
 * names its parent or has none. A span that lost events touched is nobody's
 * parent by this.
 */
#ifndef THREAD_NEST_H
#define THREAD_NEST_H

#include "txtrace/log.h"

#define THREAD_NEST_BYTES (1ull << 30)

struct thread_nest;

/* memory_max_bytes: 0 for THREAD_NEST_BYTES; a span takes some 120. NULL: no memory. */
struct thread_nest *thread_nest_new(uint64_t memory_max_bytes);
void thread_nest_free(struct thread_nest *nest); /* NULL is allowed */

/* 0; -ENOMEM, also when there would be more than memory_max_bytes. */
int thread_nest_learn(struct thread_nest *nest, const struct txtrace_record *record, bool begins_capture);

/* Nothing more is to be learnt. */
void thread_nest_settle(struct thread_nest *nest);

void thread_nest_apply(struct thread_nest *nest, struct txtrace_record *record, bool begins_capture);

#endif
