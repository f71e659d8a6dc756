/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source of ids: one translation unit of one object. id_part.c is compiled
 * once for each, with -DPART=its name, and defines
 *     void <part>_make(uint64_t *ids, size_t id_cnt)   begins id_cnt spans and writes down their ids
 *     void <part>_trace(void)                          sets the semaphore of its object, as a tracer would
 */
#ifndef ID_PART_H
#define ID_PART_H

#include <stddef.h>
#include <stdint.h>

#define ID_PART_NAME_(part, suffix) part##_##suffix
#define ID_PART_NAME(part, suffix) ID_PART_NAME_(part, suffix)
#define ID_PART_MAKE(part) void ID_PART_NAME(part, make)(uint64_t *ids, size_t id_cnt)
#define ID_PART_TRACE(part) void ID_PART_NAME(part, trace)(void)

typedef void id_make_function(uint64_t *ids, size_t id_cnt);
typedef void id_trace_function(void);

#endif
