/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libmicrohttpd, loaded when a server is wanted: to be linked with it and its
 * own libraries would cost every run some milliseconds.
 *
 *	struct http_library library;
 *
 *	if (!http_library_load(&library))
 *		return complain(dlerror());
 *	daemon = library.start_daemon(...);             as MHD_start_daemon()
 */
#ifndef HTTP_LIBRARY_H
#define HTTP_LIBRARY_H

#include <microhttpd.h>
#include <stdbool.h>

#define HTTP_LIBRARY_FUNCTIONS(TAKE)                                                                  \
	TAKE(start_daemon)                                                                            \
	TAKE(stop_daemon) TAKE(run) TAKE(get_daemon_info) TAKE(get_timeout) TAKE(get_connection_info) \
		TAKE(lookup_connection_value) TAKE(create_response_from_buffer)                       \
			TAKE(create_response_from_fd) TAKE(add_response_header) TAKE(queue_response)  \
				TAKE(destroy_response) TAKE(get_connection_values)

struct http_library {
#define HTTP_LIBRARY_POINTER(name) __typeof__(&MHD_##name) name;
	HTTP_LIBRARY_FUNCTIONS(HTTP_LIBRARY_POINTER)
#undef HTTP_LIBRARY_POINTER
};

/* false: dlerror() says why. It stays loaded. */
bool http_library_load(struct http_library *library);

#endif
