/* SPDX-License-Identifier: BSD-2-Clause */
#include "macro_inline.h"

#ifndef __cplusplus
extern inline int marked_twice(int n);
#endif

int marked_elsewhere(int n)
{
	return marked_twice(n);
}

txtrace_span_t begin_elsewhere(void)
{
	return TXTRACE_BEGIN("elsewhere");
}
