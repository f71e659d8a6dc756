/* SPDX-License-Identifier: BSD-2-Clause */
/* A plugin with spans of its own, for plugin_host. */
#include "txtrace.h"

unsigned int plugin_set_cnt(void);
void plugin_work(unsigned long cnt);

/* How many probes have been set. */
unsigned int plugin_set_cnt(void)
{
	return __atomic_load_n(&txtrace_switches, __ATOMIC_RELAXED);
}

void plugin_work(unsigned long cnt)
{
	for (unsigned long i = 0; i < cnt; i++) {
		txtrace_span_t span = TXTRACE_BEGIN("in the plugin");

		TXTRACE_END(span);
	}
}
