/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the code was: which time and which span a stack stands for. 0, or what the sink returned. */
#ifndef STACK_EVENTS_H
#define STACK_EVENTS_H

#include "attribute/attribution_state.h"

int attribute_stack(struct attribution *attribution, const struct event *event);

/* The thread has got a CPU: tells where it was blocked, if that is known. */
int put_block_stack(struct attribution *attribution, struct thread *thread, uint64_t time_ns);

/*
 * Likewise, when nobody told that it got one, and it has run all the same: its
 * sleep ended with its wakeup.
 */
int put_hidden_stack(struct attribution *attribution, struct thread *thread, uint64_t time_ns);

#endif
