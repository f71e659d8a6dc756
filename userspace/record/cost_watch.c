/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/cost_watch.h"

#include "base/error.h"
#include "base/units.h"

void cost_watch_steps(struct cost_watch *watch, struct cost_meter *meter, const struct foreign_plan *plan, const struct messages *messages)
{
	const char *example = NULL;
	size_t cnt = watch->has_told_steps || !plan ? 0 : foreign_plan_stepped(plan, &example);
	uint64_t step_ns = cost_meter_probe_ps(meter, true) / 1000, trap_ns = cost_meter_probe_ps(meter, false) / 1000;
	const struct message_field fields[] = {
		{ "functions", NULL, cnt },
		{ "example", example, 0 },
		{ "step_ns", NULL, step_ns },
		{ "entry_ns", NULL, trap_ns },
	};
	char count[UNITS_SIZE], step[UNITS_SIZE], trap[UNITS_SIZE];
	struct error name, price = { "" };

	if (!cnt)
		return;
	watch->has_told_steps = true;
	error_set(&name, "%s", example);
	if (step_ns && trap_ns)
		error_set(&price, ": each of these probes takes %s, others %s", units_format_duration(step, step_ns), units_format_duration(trap, trap_ns));
	messages_tell(messages, MESSAGE_WARNING, "single_step", fields, sizeof(fields) / sizeof(fields[0]),
		      "the kernel single-steps the begins or ends of %s function%s, of '%s' for one%s", units_format_count(count, cnt), cnt == 1 ? "" : "s",
		      name.text, price.text);
}
