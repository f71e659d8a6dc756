/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/probes/probe_path.h"

#include <stdio.h>

#include "txtrace/foreign.h"

_Static_assert(sizeof(PROBE_PATH_PREFIX) - 1 == PROBE_PATH_PREFIX_BYTES, "PROBE_PATH_PREFIX_BYTES");
_Static_assert(PROBE_PATH_SIZE >=
		       PROBE_PATH_PREFIX_BYTES + 2 * PROBE_PATH_COOKIE_BITS + sizeof("/2147483647"),
	       "PROBE_PATH_SIZE");

const char *probe_path_format(char path[PROBE_PATH_SIZE], int fd, uint64_t cookie)
{
	char digits[2 * PROBE_PATH_COOKIE_BITS + 1] = "";

	for (unsigned int i = 0; i < PROBE_PATH_COOKIE_BITS; i++) {
		digits[2 * i] = '/';
		digits[2 * i + 1] = cookie >> i & 1 ? PROBE_PATH_ONE : PROBE_PATH_ZERO;
	}
	snprintf(path, PROBE_PATH_SIZE, PROBE_PATH_PREFIX "%s/%d", digits, fd);
	return path;
}
