/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes on in each span below itself: how many child spans of each label,
 * how many waits of each kind, and how much of its work was that of children.
 * Children end before their parents, mostly: what they had is handed up when
 * they end, and told when the span's own record comes. What comes later is
 * counted as left out.
 *
 *	child_counts_add_wait(counts, &wait, keys, cnt);
 *	child_counts_end(counts, &span, label_key, direct_key, &below);     for each SPAN record
 *
 * Memory follows the open spans. Should PENDING_MAX be open, or named as
 * parents that never come, all is forgotten, and counted as left out.
 */
#ifndef CHILD_COUNTS_H
#define CHILD_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtrace/log.h"

#define PENDING_MAX 1000000
#define PENDING_ENTRIES_MAX 64 /* different keys of one span */

struct child_entry {
	uint32_t key;
	bool is_direct; /* not handed up */
	uint32_t cnt;
};

/* Below one span. Entries live until the next call. */
struct child_sum {
	const struct child_entry *entries;
	size_t entry_cnt;
	uint64_t work_ns;   /* of direct children on a thread that began or ended the span */
	uint64_t on_cpu_ns;
};

struct child_counts;

struct child_counts *child_counts_new(void); /* NULL: no memory */
void child_counts_free(struct child_counts *counts);

/* One more of each of these keys, in a span whose record has not come. 0 or -ENOMEM. */
int child_counts_add(struct child_counts *counts, bool is_keyed, uint32_t pid, uint64_t id,
		     const uint32_t *keys, size_t key_cnt);

/*
 * The span's record: *below is what it had; its parent gets all of it and one
 * more of call_key and child_key. 0 or -ENOMEM.
 */
int child_counts_end(struct child_counts *counts, const struct txtrace_span *span, uint32_t call_key,
		     uint32_t child_key, struct child_sum *below);

/* Children and waits that are in no span's counts. */
uint64_t child_counts_left_out(const struct child_counts *counts);

#endif
