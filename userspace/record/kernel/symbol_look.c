/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/kernel/symbol_look.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "txtrace/symbol.h"

/* What gcc and clang append, also together: a variant, a part of a function, code that is hardly ever run. */
static const char *const endings[] = {
	"",
	".cold",
	".isra.0",
	".isra.0.cold",
	".part.0",
	".part.0.cold",
	".constprop.0",
	".constprop.0.cold",
	".constprop.0.isra.0",
	".constprop.0.isra.0.cold",
	".isra.0.part.0",
	".part.0.isra.0",
	".isra.0.constprop.0",
	".part.0.constprop.0",
};

uint64_t symbol_look_bytes(const char *place)
{
	const char *size = strrchr(place, '/');

	return size ? strtoull(size + 1, NULL, 16) : 0;
}

static int look(int prog_fd, struct wire_symbol *symbol)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = symbol, .ctx_size_in = sizeof(*symbol));

	return bpf_prog_test_run_opts(prog_fd, &options) ? -errno : 0;
}

int symbol_look_each_part(int prog_fd, const char *name, kernel_part_visit visit, void *context)
{
	int result = 0;

	for (size_t i = 0; !result && i < sizeof(endings) / sizeof(endings[0]); i++) {
		struct wire_symbol symbol = { .begin = 0 };
		uint64_t bytes;

		snprintf(symbol.name, sizeof(symbol.name), "%s%s", name, endings[i]);
		result = look(prog_fd, &symbol);
		bytes = symbol_look_bytes(symbol.place);
		if (!result && symbol.begin && bytes)
			result = visit(context, symbol.begin, symbol.begin + bytes);
	}
	return result;
}
