/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The choices of spans that the kernel side can make (bpf/span_filter.h), and
 * what it needs to know for that: which labels are wanted, by their addresses
 * in each program. It learns them as the first event with each comes by.
 */
#ifndef KERNEL_FILTER_H
#define KERNEL_FILTER_H

#include "event/event.h"
#include "record/options/span_choices.h"

struct kernel_filter;
struct txtrace_bpf;
struct wire_counters;

/*
 * Before loading. Without choices there is no room for maps, and the programs
 * are cut. 0 or a negative errno.
 */
int kernel_filter_prepare(struct txtrace_bpf *bpf, const struct span_choices *choices);

/* NULL: no memory. choices: the caller's. */
struct kernel_filter *kernel_filter_new(struct txtrace_bpf *bpf, const struct span_choices *choices);
void kernel_filter_free(struct kernel_filter *filter); /* NULL is allowed */

/*
 * In the order of events: the process runs this program; a string of it was
 * read, which is the same each time: no label that was copied (txtrace/event.h).
 */
void kernel_filter_see_process(struct kernel_filter *filter, const struct event *event);
void kernel_filter_see_label(struct kernel_filter *filter, uint32_t tgid, uint64_t label,
			     const struct event_text *text);

/* Adds what was left out so far, by enum txtrace_left_out. */
void kernel_filter_count(const struct wire_counters *counters, uint32_t cpu_cnt, uint64_t *left_out_cnt);

#endif
