/* SPDX-License-Identifier: BSD-2-Clause */
/* In seccomp's strict mode from the start, with a mark at the end of its standard input. */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "txtrace.h"

int main(void)
{
	txtrace_span_t span;
	char byte;

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		return 1;
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	span = TXTRACE_BEGIN("strict");
	TXTRACE_END(span);
	syscall(SYS_exit, 0); /* exit_group is forbidden */
	return 1;
}
