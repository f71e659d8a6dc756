/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who else had the CPUs that traced threads waited for. A handler takes one
 * kind of event; 0, or what the sink returned.
 */
#ifndef OTHER_EVENTS_H
#define OTHER_EVENTS_H

#include "attribute/attribution_state.h"

int attribute_other(struct attribution *attribution, const struct event *event);
int attribute_move(struct attribution *attribution, const struct event *event);

/*
 * A switch from an untraced task, or from nobody, to `next`, which is traced
 * and has arrived: what it tells of that one's stay, if threads waited
 * meanwhile.
 */
int put_run_before(struct attribution *attribution, const struct event *event, const struct thread *next);

#endif
