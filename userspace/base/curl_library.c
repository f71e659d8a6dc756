/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/curl_library.h"

#include <dlfcn.h>

/* The library, as its header of this name has it; the second is Debian's with GnuTLS. */
static const char *const files[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };

bool curl_library_load(struct curl_library *library)
{
	void *handle = NULL;
	bool has_all;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !handle; i++)
		handle = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
	has_all = handle;
#define FIND(name) has_all = has_all && (*(void **)&library->name = dlsym(handle, "curl_" #name));
	CURL_LIBRARY_FUNCTIONS(FIND)
	return has_all && library->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}
