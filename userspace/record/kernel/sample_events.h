/* SPDX-License-Identifier: BSD-2-Clause */
/* What each CPU does, looked at again and again: a clock on each, by which a BPF program is run. */
#ifndef SAMPLE_EVENTS_H
#define SAMPLE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct bpf_program;
struct sample_events;

/*
 * Every period_ns of a CPU's time that is not idle. CPUs that are off are left
 * out. 0, or a negative errno and a sentence.
 */
int sample_events_open(struct sample_events **events, struct bpf_program *program, uint64_t period_ns,
		       struct error *error);
void sample_events_close(struct sample_events *events); /* NULL is allowed */

#endif
