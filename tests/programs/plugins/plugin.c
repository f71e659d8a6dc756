/* SPDX-License-Identifier: BSD-2-Clause */
/* A plugin with spans of its own, for plugin_host. */
#include "txtrace.h"

int plugin_is_traced(void);
void plugin_work(unsigned long cnt);

int plugin_is_traced(void)
{
	return TXTRACE_ENABLED();
}

void plugin_work(unsigned long cnt)
{
	for (unsigned long i = 0; i < cnt; i++) {
		txtrace_span_t span = TXTRACE_BEGIN("in the plugin");

		TXTRACE_END(span);
	}
}
