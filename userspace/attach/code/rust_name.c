/* SPDX-License-Identifier: BSD-2-Clause */
#include "attach/code/rust_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifdef WITH_LIBIBERTY

#include <libiberty/demangle.h>

struct rust_name {
	char bytes[RUST_NAME_MAX];
	size_t length;
	bool is_too_long;
};

/* What is too long is not kept: a name can be made to grow without end. */
static void take_part(const char *part, size_t length, void *context)
{
	struct rust_name *name = context;

	if (name->is_too_long || length > sizeof(name->bytes) - name->length) {
		name->is_too_long = true;
		return;
	}
	memcpy(name->bytes + name->length, part, length);
	name->length += length;
}

char *rust_name_read(const char *symbol)
{
	struct rust_name name;

	name.length = 0;
	name.is_too_long = false;
	if (strncmp(symbol, "_R", 2) != 0 && strncmp(symbol, "_ZN", 3) != 0)
		return NULL;
	if (!rust_demangle_callback(symbol, DMGL_RUST, take_part, &name) || name.is_too_long || !name.length)
		return NULL;
	return strndup(name.bytes, name.length);
}

#else

char *rust_name_read(const char *symbol)
{
	(void)symbol;
	return NULL;
}

#endif
