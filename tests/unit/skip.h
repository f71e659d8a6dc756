/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ends a cmocka test as skipped, with the reason that the runner (tests/run)
 * shows; one that begins with "bpf" is a failure in CI.
 */
#ifndef SKIP_H
#define SKIP_H

#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#define skip_because(reason)                      \
	do {                                      \
		print_message("# SKIP %s\n", reason); \
		skip();                           \
	} while (0)

/* Whether we can become another user: not in a user namespace that has none but its root. */
static inline bool can_become_nobody(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534));
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

#endif
