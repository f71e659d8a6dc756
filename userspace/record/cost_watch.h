/* SPDX-License-Identifier: BSD-2-Clause */
/* Warns of what tracing costs before and while it does: of functions that are single-stepped. All zero to begin with. */
#ifndef COST_WATCH_H
#define COST_WATCH_H

#include <stdbool.h>

#include "attach/foreign_plan.h"
#include "record/cost_meter.h"
#include "record/messages.h"

struct cost_watch {
	bool has_told_steps;
};

/* Says once that functions of the plan are single-stepped, and what that costs. plan: NULL: none was asked for. */
void cost_watch_steps(struct cost_watch *watch, struct cost_meter *meter, const struct foreign_plan *plan, const struct messages *messages);

#endif
