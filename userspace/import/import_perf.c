/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/import_formats.h"
#include "import/sched_text.h"

static bool is_perf(const uint8_t *head, size_t length)
{
	bool has_dash;

	return sched_text_is_event(head, length, &has_dash) && !has_dash;
}

const struct import_format import_perf = {
	.name = "perf",
	.help = "text of perf script: scheduler events, and others",
	.is_format = is_perf,
	.read = sched_text_read,
};
