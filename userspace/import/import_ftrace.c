/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/import_formats.h"
#include "import/sched_text.h"

static bool is_ftrace(const uint8_t *head, size_t length)
{
	bool has_dash;

	return sched_text_is_event(head, length, &has_dash) && has_dash;
}

const struct import_format import_ftrace = {
	.name = "ftrace",
	.help = "text of ftrace, and of trace-cmd report",
	.is_format = is_ftrace,
	.read = sched_text_read,
};
