/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ring buffers into which the BPF programs write, read in place: no call,
 * no allocation and no system call per record.
 *
 * Every ring knows a watermark: when it was last found empty up to its end, the
 * time at which that look began. All events up to then have been taken
 * (txtrace/event.h says why). A record that is reserved and not yet written
 * stops the ring there; its watermark then stays.
 */
#ifndef RING_SET_H
#define RING_SET_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct ring_set;

struct ring_set_options {
	size_t ring_cnt;   /* a power of two, at most WIRE_RING_MAX */
	size_t ring_bytes; /* of each; a power of two and a multiple of the page size */
	size_t wake_bytes; /* that a CPU writes wake the reader; a power of two */
	int rings_map_fd;  /* the BPF programs' array of rings: gets them */
};

int ring_set_open(struct ring_set **set, const struct ring_set_options *options, struct error *error);

/*
 * So many rings and bytes suit so many CPUs; the user may have asked for a
 * total of bytes (0: the default, 16 MiB a ring).
 */
void ring_set_plan(struct ring_set_options *options, size_t cpu_cnt, size_t total_bytes);

/*
 * The record lives until the call returns. A non-zero return stops the drain
 * and is its result; the record counts as taken.
 */
typedef int (*ring_take)(void *context, size_t ring, const void *record, size_t size);

/* Takes everything that is there. */
int ring_set_drain(struct ring_set *set, ring_take take, void *context);

uint64_t ring_set_watermark_ns(const struct ring_set *set, size_t ring);
uint64_t ring_set_taken_cnt(const struct ring_set *set);
uint64_t ring_set_taken_bytes(const struct ring_set *set); /* with what the kernel puts before each record */

/* Becomes readable when a CPU has written another wake_bytes. */
int ring_set_fd(const struct ring_set *set);

void ring_set_close(struct ring_set *set); /* NULL is allowed */

#endif
