/* SPDX-License-Identifier: BSD-2-Clause */
/* From a mark in the queue to a record as the kernel side sends it. */
#ifndef MARK_RECORDS_H
#define MARK_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/probes/label_files.h"
#include "ring/mark_join.h"
#include "ring/mark_queue.h"

struct mark_records {
	const struct label_files *label_files;
	struct mark_join *join; /* adds the clocks, and pushes; NULL: there are none */
	mark_join_push push;	/* of records without clocks */
	void *context;
	struct wire_text *text; /* NULL at first: room for one record, see mark_records_release() */
	size_t text_room;	/* 0 at first */
};

void mark_records_release(struct mark_records *records);

/* Marks in memory, by the kind of record that they became, or would have. */
struct mark_counts {
	uint64_t marks[WIRE_KIND_COUNT];
	uint64_t slots[WIRE_KIND_COUNT]; /* with those of their texts */
};

bool mark_records_knows(uint8_t kind); /* of enum mark_kind */

void mark_records_count(struct mark_counts *counts, const struct queued_mark *mark);

/* Marks that found no room. kind: its lowest five bits; 0, not known, is not counted. Each costs a slot. */
void mark_records_count_lost(struct mark_counts *counts, uint32_t kind, uint64_t cnt);

/* A bit for each kind of record that marks of this kind become (its lowest five bits; 0: any kind). */
uint64_t mark_records_kinds(uint32_t kind);

/* 0, -ENOMEM, or what push returned. */
int mark_records_put(struct mark_records *records, const struct queued_mark *mark,
		     const struct mark_owner *owner);

#endif
