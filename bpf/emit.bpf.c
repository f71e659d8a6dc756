// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "emit.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct rings_map rings SEC(".maps");

struct wire_counters counters[WIRE_CPU_MAX];
volatile uint64_t loss_generation;
volatile uint32_t phase;
volatile bool reader_sleeps;

const volatile uint32_t cfg_ring_mask;
const volatile uint64_t cfg_wake_bytes = 1 << 20;

const volatile bool cfg_has_timeline = true;
const volatile bool cfg_has_clocks = true;
const volatile bool cfg_has_prev_state = true;
const volatile bool cfg_has_task_pt_regs = true;
const volatile bool cfg_has_attach_cookie = true;
