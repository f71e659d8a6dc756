/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of an object that a plan asks for, and how their returns are seen. */
#ifndef FOREIGN_FUNCTIONS_H
#define FOREIGN_FUNCTIONS_H

#include "attach/unmodified/foreign_search.h"

/* Adds the functions of the object: of the spans' points, and of --func. 0 or a negative errno. */
int foreign_add_functions(struct foreign_search *search);

/*
 * Whether the BINARY of a span or function, a name, a path or a pattern, means
 * this file. "libssl" means libssl.so.3, too.
 */
bool foreign_is_binary(const char *pattern, const char *path);

void foreign_search_release(struct foreign_search *search);

#endif
