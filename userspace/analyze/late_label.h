/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that records name by id before the log tells their labels. A span is
 * held by a number from its first mention to its own record; then its holder is
 * told its label, and the number is free again once nobody keeps it. Memory
 * follows the spans that are open and mentioned.
 */
#ifndef LATE_LABEL_H
#define LATE_LABEL_H

#include <stdbool.h>

#include "base/id_map.h"

#define LATE_LABEL_NONE UINT32_MAX

struct late_span;

/*
 * The span's label is the party: what is held under its number is to be put
 * there. 0 or -ENOMEM, which is passed on.
 */
typedef int (*late_label_named)(void *context, uint32_t span, uint32_t party);

struct late_labels {
	struct id_map by_id; /* those whose own record has not come */
	struct late_span **spans; /* by number */
	uint32_t cnt, size;
	uint32_t free_cnt;
	uint32_t *free_numbers;
	late_label_named named;
	void *context;
};

void late_labels_init(struct late_labels *labels, late_label_named named, void *context);
void late_labels_release(struct late_labels *labels);

/*
 * A mention: *span is its number, to be kept until late_labels_release_hold();
 * LATE_LABEL_NONE: it is new, and is_growing is not set. A keyed span is of no
 * process. 0 or -ENOMEM.
 */
int late_labels_hold(struct late_labels *labels, bool is_keyed, uint32_t pid, uint64_t id, bool is_growing,
		     uint32_t *span);
void late_labels_release_hold(struct late_labels *labels, uint32_t span);

bool late_labels_is_held(const struct late_labels *labels, bool is_keyed, uint32_t pid, uint64_t id);

/* The label is told early: a checkpoint. */
int late_labels_name(struct late_labels *labels, bool is_keyed, uint32_t pid, uint64_t id, bool is_growing,
		     uint32_t party);

/* The span's own record: from here on, its id is another one's. */
int late_labels_end(struct late_labels *labels, bool is_keyed, uint32_t pid, uint64_t id, uint32_t party);

/* The end of all that are left: those that have no label have this one. */
int late_labels_end_all(struct late_labels *labels, uint32_t party);

/* LATE_LABEL_NONE: not known yet */
uint32_t late_labels_party(const struct late_labels *labels, uint32_t span);
size_t late_labels_bytes(const struct late_labels *labels);

#endif
