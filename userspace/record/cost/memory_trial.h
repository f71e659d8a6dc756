/* SPDX-License-Identifier: BSD-2-Clause */
/* What a mark in shared memory costs a program, measured on memory of our own. */
#ifndef MEMORY_TRIAL_H
#define MEMORY_TRIAL_H

#include <stdint.h>

/* One slot, in ns / 1000: the fastest of several rounds. *run_cnt: how many slots were filled. Takes 2 ms. */
uint64_t memory_trial_ps(uint64_t *run_cnt);

#endif
