/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends a cmocka test as skipped, with the reason that the runner (tests/run) shows; one that begins with "bpf" is a failure in CI. */
#ifndef SKIP_H
#define SKIP_H

#define skip_because(reason)                      \
	do {                                      \
		print_message("# SKIP %s\n", reason); \
		skip();                           \
	} while (0)

#endif
