/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/crc32c.h"

#include <string.h>

#if defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#endif

/*
 * What four bits that fall out of the register add to it: 0x82f63b78 reduced 0 to 15 times. 64 bytes instead
 * of a table built at run time.
 */
static const uint32_t nibbles[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t crc32c_extend_portable(uint32_t crc, const void *data, size_t length)
{
	const uint8_t *bytes = data;

	crc = ~crc;
	for (size_t i = 0; i < length; i++) {
		crc ^= bytes[i];
		crc = nibbles[crc & 15] ^ (crc >> 4);
		crc = nibbles[crc & 15] ^ (crc >> 4);
	}
	return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t extend_by_hardware(uint32_t crc, const uint8_t *bytes,
								     size_t length)
{
	uint64_t state = (uint32_t)~crc;

	for (; length >= 8; length -= 8, bytes += 8) {
		uint64_t word;

		memcpy(&word, bytes, 8);
		state = __builtin_ia32_crc32di(state, word);
	}
	for (; length; length--, bytes++)
		state = __builtin_ia32_crc32qi((uint32_t)state, *bytes);
	return ~(uint32_t)state;
}

static int has_hardware(void)
{
	return __builtin_cpu_supports("sse4.2");
}

#elif defined(__aarch64__)

__attribute__((target("+crc"))) static uint32_t extend_by_hardware(uint32_t crc, const uint8_t *bytes,
								   size_t length)
{
	uint32_t state = ~crc;

	for (; length >= 8; length -= 8, bytes += 8) {
		uint64_t word;

		memcpy(&word, bytes, 8);
		state = __crc32cd(state, word);
	}
	for (; length; length--, bytes++)
		state = __crc32cb(state, *bytes);
	return ~state;
}

static int has_hardware(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

#else

static uint32_t extend_by_hardware(uint32_t crc, const uint8_t *bytes, size_t length)
{
	return crc32c_extend_portable(crc, bytes, length);
}

static int has_hardware(void)
{
	return 0;
}

#endif

uint32_t crc32c_extend(uint32_t crc, const void *data, size_t length)
{
	return has_hardware() ? extend_by_hardware(crc, data, length)
			      : crc32c_extend_portable(crc, data, length);
}

uint32_t crc32c(const void *data, size_t length)
{
	return crc32c_extend(0, data, length);
}
