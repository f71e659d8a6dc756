/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/moment.h"

#include <string.h>

#include "base/units.h"

#define ABSOLUTE_SUFFIX "abs"

int moment_take(void *taken, const char *value, const char **complaint)
{
	struct moment *moment = taken;
	size_t length = strlen(value), suffix = strlen(ABSOLUTE_SUFFIX);
	char number[32];

	*moment = (struct moment){ .text = value };
	*complaint = "a time since the capture began like 250us, 1.5s or 2m, or one of CLOCK_MONOTONIC like "
		     "6098565896422abs";
	moment->is_absolute = length > suffix && length - suffix < sizeof(number) &&
			      strcmp(value + length - suffix, ABSOLUTE_SUFFIX) == 0;
	if (!moment->is_absolute)
		return units_parse_duration(value, &moment->ns);
	memcpy(number, value, length - suffix);
	number[length - suffix] = '\0';
	return units_parse_u64(number, &moment->ns);
}

int moment_resolve(const struct moment *moment, const struct log_input *input, uint64_t otherwise,
		   uint64_t *ns)
{
	const struct txtrace_log_info *info = &input->info;

	*ns = moment->text ? moment->ns : otherwise;
	if (!moment->text || moment->is_absolute)
		return CLI_OK;
	if (info->version_major == 0)
		return cli_fail(input->cli,
				"the header of '%s' is damaged, and with it the time when the capture began: "
				"give times as 'txtrace dump' "
				"prints them, as in 6098565896422abs",
				input->path);
	if (__builtin_add_overflow(*ns, info->start_monotonic_ns, ns))
		*ns = UINT64_MAX;
	return CLI_OK;
}
