/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Marks in seccomp's strict mode: from before its first span on, it may call read, write and exit alone, and must not read
 * the time stamp counter. It begins and ends `repeat` spans called "strict", and ends with 0: anything else it did would
 * kill it.
 */
#include <linux/seccomp.h>

#include "truth.h"

int main(int argc, char **argv)
{
	struct truth_options options = TRUTH_OPTIONS_DEFAULT;
	const struct option_spec table[] = { TRUTH_OPTION_SPECS(&options) };

	options_parse(table, sizeof(table) / sizeof(table[0]), "strict: spans in seccomp's strict mode", argc, argv);
	truth_start(&options);
	must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT), "cannot enter seccomp's strict mode");
	for (uint64_t i = 0; i < options.repeat_cnt; i++) {
		TXTRACE_SPAN("strict");
	}
	syscall(SYS_exit, 0); /* not exit_group() */
	return 1;
}
