/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the program tells: spans begin, are entered, left and ended; and what is
 * said about them. A handler takes one kind of event (or the same of keyed
 * spans); 0, -ENOMEM, or what the sink returned.
 */
#ifndef SPAN_EVENTS_H
#define SPAN_EVENTS_H

#include "attribute/attribution_state.h"

int attribute_begin(struct attribution *attribution, const struct event *event); /* also detached */
int attribute_enter(struct attribution *attribution, const struct event *event);
int attribute_leave(struct attribution *attribution, const struct event *event);
int attribute_end(struct attribution *attribution, const struct event *event);
int attribute_tag(struct attribution *attribution, const struct event *event);
int attribute_value(struct attribution *attribution, const struct event *event);
int attribute_attr(struct attribution *attribution, const struct event *event);
int attribute_instant(struct attribution *attribution, const struct event *event);
int attribute_key_instant(struct attribution *attribution, const struct event *event);
int attribute_counter(struct attribution *attribution, const struct event *event);
int attribute_link(struct attribution *attribution, const struct event *event);

#endif
