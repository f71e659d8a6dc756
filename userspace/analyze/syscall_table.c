/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/syscall_table.h"

#include <stddef.h>
#include <string.h>

#include "txtrace/syscalls.h"

#define BLOCKING_ROW(name, x86_64, aarch64, reason, argument) \
	{ #name, x86_64, aarch64, SYSCALL_ARGUMENT_##argument },
#define OTHER_ROW(name, x86_64, aarch64) { #name, x86_64, aarch64, SYSCALL_ARGUMENT_NOTHING },

static const struct syscall_row rows[] = { TXTRACE_BLOCKING_SYSCALLS(BLOCKING_ROW)
						   TXTRACE_OTHER_SYSCALLS(OTHER_ROW) };

void syscall_table_init(struct syscall_table *table, const char *kernel)
{
	const char *machine = strrchr(kernel, ' ');
	bool is_x86_64 = machine && strcmp(machine, " x86_64") == 0;

	*table = (struct syscall_table){ .is_known = is_x86_64 ||
						     (machine && strcmp(machine, " aarch64") == 0) };
	for (size_t i = 0; table->is_known && i < sizeof(rows) / sizeof(rows[0]); i++) {
		int16_t number = is_x86_64 ? rows[i].x86_64 : rows[i].aarch64;

		if (number >= 0 && number <= SYSCALL_NUMBER_MAX)
			table->rows[number] = (uint16_t)(i + 1);
	}
}

const struct syscall_row *syscall_table_get(const struct syscall_table *table, int32_t number)
{
	uint16_t row = number >= 0 && number <= SYSCALL_NUMBER_MAX ? table->rows[number] : 0;

	return row ? &rows[row - 1] : NULL;
}
