/* SPDX-License-Identifier: BSD-2-Clause */
#include "attribute/clocks.h"

#include <string.h>

bool clocks_equal(const struct wire_clocks *a, const struct wire_clocks *b)
{
	return a->on_cpu_ns + a->interrupt_ns + a->stolen_ns ==
		       b->on_cpu_ns + b->interrupt_ns + b->stolen_ns &&
	       a->runnable_ns == b->runnable_ns && a->unknown_ns == b->unknown_ns &&
	       !memcmp(a->blocked_ns, b->blocked_ns, sizeof(a->blocked_ns));
}

/* to - from, taken from what is left; false if that is negative or more than is left. */
static bool part(uint64_t from_ns, uint64_t to_ns, uint64_t *difference_ns, uint64_t *left_ns)
{
	*difference_ns = to_ns - from_ns;
	if (to_ns < from_ns || *difference_ns > *left_ns)
		return false;
	*left_ns -= *difference_ns;
	return true;
}

bool ledger_add_clocks(struct txtrace_ledger *ledger, const struct wire_clocks *from, uint64_t from_on_cpu_ns,
		       const struct wire_clocks *to, uint64_t to_on_cpu_ns, uint64_t wall_ns)
{
	struct wire_clocks passed;
	uint64_t left_ns = wall_ns;
	bool is_sane = from->born_ns == to->born_ns;

	is_sane &= part(from->on_cpu_ns + from_on_cpu_ns, to->on_cpu_ns + to_on_cpu_ns, &passed.on_cpu_ns,
			&left_ns);
	is_sane &= part(from->runnable_ns, to->runnable_ns, &passed.runnable_ns, &left_ns);
	is_sane &= part(from->interrupt_ns, to->interrupt_ns, &passed.interrupt_ns, &left_ns);
	is_sane &= part(from->stolen_ns, to->stolen_ns, &passed.stolen_ns, &left_ns);
	is_sane &= part(from->unknown_ns, to->unknown_ns, &passed.unknown_ns, &left_ns);
	for (int i = 0; i < BLOCK_REASON_COUNT; i++)
		is_sane &= part(from->blocked_ns[i], to->blocked_ns[i], &passed.blocked_ns[i], &left_ns);
	if (!is_sane || left_ns) {
		ledger->unknown_ns += wall_ns;
		return false;
	}
	ledger->on_cpu_ns += passed.on_cpu_ns;
	ledger->runnable_ns += passed.runnable_ns;
	ledger->unknown_ns += passed.unknown_ns;
	ledger->interrupt_ns += passed.interrupt_ns;
	ledger->stolen_ns += passed.stolen_ns;
	for (int i = 0; i < BLOCK_REASON_COUNT; i++)
		ledger->blocked_ns[i] += passed.blocked_ns[i];
	return true;
}
