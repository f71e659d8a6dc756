/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A time on the command line: since the capture began (1.5s), or of
 * CLOCK_MONOTONIC as 'txtrace dump' prints it (6098565896422abs).
 */
#ifndef MOMENT_H
#define MOMENT_H

#include "cli/files/log_input.h"

struct moment {
	const char *text; /* as it was given; NULL: it was not */
	uint64_t ns;
	bool is_absolute; /* of CLOCK_MONOTONIC; else since the capture began */
};

/*
 * The .call of an OPTION_CALL whose offset is that of a struct moment. value has
 * to outlive the moment.
 */
int moment_take(void *moment, const char *value, const char **complaint);

/*
 * The time of CLOCK_MONOTONIC, or `otherwise` if none was given. Returns
 * CLI_OK, or CLI_FAILED and a sentence was said: the log does not know when it
 * began.
 */
int moment_resolve(const struct moment *moment, const struct log_input *input, uint64_t otherwise,
		   uint64_t *ns);

#endif
