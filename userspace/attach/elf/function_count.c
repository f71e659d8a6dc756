/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/elf/function_count.h"

#include <errno.h>

#include "attach/elf/elf_functions.h"

int function_count_read(struct function_count *count, int fd)
{
	struct elf_functions functions;
	int err = elf_functions_read(&functions, fd);

	if (err)
		return err == -ENOMEM ? err : -ENOEXEC;
	*count = (struct function_count){ functions.cnt, functions.is_stripped };
	elf_functions_release(&functions);
	return 0;
}
