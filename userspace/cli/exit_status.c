/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/exit_status.h"

#include <stddef.h>

const char *const exit_status_notes[] = {
	"Exit status: 0 the log was read; 1 it was read as far as it goes, but is damaged, cut off or was not closed (what is missing is "
	"told on standard error); 2 wrong usage, a log that can't be read, or output that can't be written.",
	NULL,
};
