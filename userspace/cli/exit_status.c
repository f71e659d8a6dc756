/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/exit_status.h"

#include <stddef.h>

const char *const exit_status_notes[] = {
	"Exit status: 0 the log was read; 1 it was read as far as possible, but is damaged, cut off or was "
	"not closed (standard error says what is missing); 2 wrong usage, a log that can't be read, or "
	"output that can't be written.",
	NULL,
};

const char *const exit_status_tool_notes[] = {
	"OUT is written under a temporary name and renamed when it is complete; the input is never changed.",
	"Exit status: 0 OUT is complete; 1 OUT has what could be read, but the input is damaged, cut off or "
	"was not closed (standard error, and readers of OUT, say what is missing); 2 there is no OUT: wrong "
	"usage, a log that can't be read, or an OUT that can't be written.",
	NULL,
};
