/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the kernel single-steps an instruction that has a probe. On x86-64 it
 * emulates jumps, calls, pushes of a register and the nop of one byte (Linux
 * 4.16); since 6.18 a nop of five bytes becomes a call. Everything else is
 * executed out of line with a second trap behind it, which takes several times
 * as long.
 */
#ifndef STEPPED_CODE_H
#define STEPPED_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STEPPED_CODE_BYTES 15 /* of an instruction, at most */

/*
 * The instruction at `bytes`, of which `size` are there. machine: EM_X86_64; of
 * others nothing is known: false. kernel_version as in KERNEL_VERSION().
 */
bool stepped_code_is(const uint8_t *bytes, size_t size, uint16_t machine, uint32_t kernel_version);

#endif
