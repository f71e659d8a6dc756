/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Macros in inline functions that several files include: in C as C99 has them
 * (macro_other.c holds the definition), in C++ as usual.
 */
#ifndef MACRO_INLINE_H
#define MACRO_INLINE_H

#include "txtrace.h"

#ifdef __cplusplus
extern "C" {
#endif

inline int marked_twice(int n);

inline int marked_twice(int n)
{
	TXTRACE_SPAN("twice");
	TXTRACE_COUNTER("n", n);
	return 2 * n;
}

/* The same from another file of the same object. */
int marked_elsewhere(int n);
txtrace_span_t begin_elsewhere(void);

#ifdef __cplusplus
}
#endif

#endif
