/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/http_library.h"

#include <dlfcn.h>

/* The library, as its header of this name has it. */
#define LIBRARY_FILE "libmicrohttpd.so.12"

bool http_library_load(struct http_library *library)
{
	void *handle = dlopen(LIBRARY_FILE, RTLD_NOW | RTLD_LOCAL);
	bool has_all = handle;

#define FIND(name) has_all = has_all && (*(void **)&library->name = dlsym(handle, "MHD_" #name));
	HTTP_LIBRARY_FUNCTIONS(FIND)
	return has_all;
}
