/* SPDX-License-Identifier: BSD-2-Clause */
#include "id_part.h"
#include "txtrace.h"

#ifdef __cplusplus
extern "C" {
#endif

ID_PART_MAKE(PART);
ID_PART_TRACE(PART);

ID_PART_MAKE(PART)
{
	size_t i;

	for (i = 0; i < id_cnt; i++) {
		ids[i] = i % 2 == 0 ? TXTRACE_BEGIN("attached") : TXTRACE_BEGIN_DETACHED("detached", 0);
		TXTRACE_END(ids[i]);
	}
}

ID_PART_TRACE(PART)
{
	__atomic_store_n(&txtrace_switches, 1, __ATOMIC_RELAXED);
}

#ifdef __cplusplus
}
#endif
