/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory in which traced programs mark (include/txtrace.h, "The ring"), from
 * the probe that tells of it to records as the kernel side sends them.
 *
 *	mark_rings_hear(marks, record, size);  each record of the kernel's rings
 *	mark_rings_drain(marks, told_ns);      what is in the pools, once all up to then was heard
 *	mark_rings_want_stays(marks, now_ns);  then ask the threads that are on a CPU, and hear them
 *	mark_rings_settle(marks, told_ns);     and what of them was told until then
 *	mark_rings_watermark_ns(marks);        up to there everything has been pushed
 *
 * A pool is opened through the process reader, and only if it is what the
 * kernel made for a shared anonymous mapping: such memory nobody can truncate.
 * What cannot be opened stays with the probe.
 */
#ifndef MARK_RINGS_H
#define MARK_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/probes/label_files.h"
#include "attach/process/process_reader.h"
#include "event/event_decode.h"
#include "record/mark_records.h"

struct mark_rings;

struct mark_rings_options {
	struct process_reader *reader;
	const struct label_files *label_files;
	bool has_clocks; /* the scheduler's programs are there */
	void *context;
	int (*push)(void *context, const void *record, size_t size);
	int (*push_loss)(void *context, const struct wire_loss *loss);
	/* Another recorder reads what the process marks: nothing of that comes here. */
	void (*tell_busy)(void *context, uint32_t tgid);
};

struct mark_rings *mark_rings_new(const struct mark_rings_options *options); /* NULL: no memory */

/* The process has such a mapping: if it is a pool that an earlier recorder has left, it is ours now. */
void mark_rings_see(struct mark_rings *marks, uint32_t tgid, uint64_t address);

/* Whether another recorder reads memory that the process has mapped. */
bool mark_rings_are_read(struct process_reader *reader, pid_t pid);

/* A record of the kernel's; those that are about no pool are none of ours. 0 or a negative errno: final. */
int mark_rings_hear(struct mark_rings *marks, const void *record, size_t size);

/*
 * Takes what is there out of the pools, of threads that have told of their lanes,
 * and pushes some of what was taken, if it may. Everything that the kernel side
 * sent up to told_ns has been heard. 0, a negative errno, or what push returned.
 */
int mark_rings_drain(struct mark_rings *marks, uint64_t told_ns, bool may_push);

/* There was more than one drain pushes: it is to be called again at once. */
bool mark_rings_have_more(const struct mark_rings *marks);

/* There is memory to be looked at: nothing wakes its reader up. */
bool mark_rings_have_pools(const struct mark_rings *marks);

/*
 * Whether threads that are on a CPU should be asked for their clocks. The others reported theirs when they
 * left it, so most marks need not wait. Asking interrupts each CPU and waits for it: only if marks have
 * waited long, or are many.
 */
bool mark_rings_want_stays(const struct mark_rings *marks, uint64_t now_ns);

int mark_rings_settle(struct mark_rings *marks, uint64_t told_ns);

/* What is marked later does not count. */
void mark_rings_stop(struct mark_rings *marks, uint64_t end_ns);

uint64_t mark_rings_watermark_ns(const struct mark_rings *marks);

struct mark_rings_stats {
	uint64_t taken_cnt; /* marks */
	uint64_t lost_cnt;
	uint64_t memory_process_cnt; /* processes with a pool that was opened */
	uint64_t unread_process_cnt; /* others, with one that could not be opened */
};

void mark_rings_stats(const struct mark_rings *marks, struct mark_rings_stats *stats);

/* Those that were taken so far; they live as long as `marks`. */
const struct mark_counts *mark_rings_counts(const struct mark_rings *marks);

/* The programs go back to the probe. To be called once nobody marks any more. NULL is allowed. */
void mark_rings_free(struct mark_rings *marks);

#endif
