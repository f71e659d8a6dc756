/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC-32C (Castagnoli; the one of iSCSI and ext4: reflected polynomial
 * 0x82f63b78, initial and final xor of all ones), with the CPU's instruction
 * where it has one. crc32c("123456789", 9) = 0xe3069283.
 */
#ifndef CRC32C_H
#define CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *data, size_t length);

/* Goes on from the checksum of the bytes before: crc32c_extend(crc32c(a), b) = crc32c(ab). */
uint32_t crc32c_extend(uint32_t crc, const void *data, size_t length);

/* The same without any special instruction: what other machines run, and what the tests compare with. */
uint32_t crc32c_extend_portable(uint32_t crc, const void *data, size_t length);

#endif
