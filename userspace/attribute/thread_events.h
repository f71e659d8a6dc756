/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the scheduler tells: threads, their stays on CPUs, who woke them. A
 * handler takes one kind of event; 0, -ENOMEM, or what the sink returned.
 */
#ifndef THREAD_EVENTS_H
#define THREAD_EVENTS_H

#include "attribute/attribution_state.h"

int attribute_switch(struct attribution *attribution, const struct event *event);
int attribute_wake(struct attribution *attribution, const struct event *event);
int attribute_thread(struct attribution *attribution, const struct event *event);
int attribute_thread_exit(struct attribution *attribution, const struct event *event);
int attribute_exec(struct attribution *attribution, const struct event *event);

/*
 * Of a process that is traced no more nothing will be heard, not even that its
 * last thread is dead; its exit was told before. The rest is the log's.
 */
int attribute_process(struct attribution *attribution, const struct event *event);

/* Writes the stay on a CPU that ends here; left: the switch that ended it, NULL if the stream ends. */
int put_run(struct attribution *attribution, const struct thread *thread, uint64_t end_ns,
	    const struct event *left);

#endif
