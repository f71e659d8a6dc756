/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libcurl, loaded when a server is asked: to be linked with it and its own
 * libraries would cost every run some milliseconds.
 *
 *	struct curl_library library;
 *
 *	if (!curl_library_load(&library))
 *		return complain(dlerror());
 *	handle = library.easy_init();                   as curl_easy_init()
 */
#ifndef CURL_LIBRARY_H
#define CURL_LIBRARY_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <stdbool.h>

#define CURL_LIBRARY_FUNCTIONS(TAKE)                                                                   \
	TAKE(global_init)                                                                              \
	TAKE(easy_init)                                                                                \
	TAKE(easy_cleanup) TAKE(easy_setopt) TAKE(easy_perform) TAKE(easy_getinfo) TAKE(easy_strerror) \
		TAKE(easy_escape) TAKE(slist_append) TAKE(slist_free_all) TAKE(url) TAKE(url_cleanup)  \
			TAKE(url_set) TAKE(url_get) TAKE(free)

struct curl_library {
#define CURL_LIBRARY_POINTER(name) __typeof__(&curl_##name) name;
	CURL_LIBRARY_FUNCTIONS(CURL_LIBRARY_POINTER)
#undef CURL_LIBRARY_POINTER
};

/* false: dlerror() says why. It stays loaded. */
bool curl_library_load(struct curl_library *library);

#endif
