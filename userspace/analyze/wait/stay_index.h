/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which spans each thread was in, and when: all of a log, so that it can be
 * asked for any time. A span's label is known at its end only, so this takes a
 * reading of the whole log of its own.
 *
 *	stay_index_add() for each record, stay_index_finish(), then stay_index_find() as often as wanted
 *
 * Threads and spans of different captures are different ones. Memory: 40 bytes
 * a stay and 48 an open span, up to max_bytes; what is beyond is left out, and
 * stay_index_is_full() tells.
 */
#ifndef STAY_INDEX_H
#define STAY_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/string_pool.h"
#include "txtrace/log.h"

#define STAY_INDEX_NO_LABEL UINT32_MAX

struct indexed_stay {
	uint64_t enter_ns;
	uint64_t exit_ns;
	uint64_t last_exit_ns; /* private */
	uint32_t label;        /* a number of the pool, or STAY_INDEX_NO_LABEL: its span is not in the log */
	uint32_t thread;       /* private */
	bool is_exact;         /* its span is no lower bound */
};

struct stay_index;

/* Labels get numbers of this pool, which must live as long. NULL: no memory. */
struct stay_index *stay_index_new(struct string_pool *labels, size_t max_bytes);
void stay_index_free(struct stay_index *stays);

/* before its first record; also when they are asked for */
void stay_index_begin_capture(struct stay_index *stays);
int stay_index_add(struct stay_index *stays, const struct txtrace_record *record);      /* 0 or -ENOMEM */
/* from here on captures begin again */
void stay_index_finish(struct stay_index *stays);

/*
 * All stays of the thread that overlap this time, in the order in which it
 * entered; at most cnt. Returns how many there were room for.
 */
size_t stay_index_find(const struct stay_index *stays, uint32_t pid, uint32_t tid, uint64_t from_ns,
		       uint64_t to_ns, const struct indexed_stay **found, size_t cnt);

bool stay_index_is_full(const struct stay_index *stays);

#endif
