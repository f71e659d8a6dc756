/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes the checksums of a log right, wherever something stands that looks like
 * a header, a block or a footer: so that what libFuzzer changes gets past them,
 * most of the time. FUZZ_LOG_AT, where it is defined before, is where in an
 * input the log begins.
 */
#ifndef FUZZ_CHECKSUMS_H
#define FUZZ_CHECKSUMS_H

#include "base/crc32c.h"
#include "fuzz/fuzz.h"
#include "log/format/log_format.h"

static inline void fix_last_4(uint8_t *bytes, size_t length)
{
	log_put_u32(bytes + length - 4, crc32c(bytes, length - 4));
}

/* Returns how many bytes the block takes. */
static inline size_t fix_block(uint8_t *at, size_t left)
{
	uint32_t header_bytes = log_get_u32(at + LOG_BLOCK_LENGTH),
		 stored_bytes = log_get_u32(at + LOG_BLOCK_STORED_BYTES);

	if (header_bytes < LOG_BLOCK_HEADER_BYTES || header_bytes > LOG_BLOCK_HEADER_MAX_BYTES ||
	    header_bytes > left)
		return 1;
	if (stored_bytes <= left - header_bytes)
		log_put_u32(at + LOG_BLOCK_PAYLOAD_CRC, crc32c(at + header_bytes, stored_bytes));
	else
		stored_bytes = 0;
	fix_last_4(at, header_bytes);
	return header_bytes + stored_bytes;
}

static inline void fix_checksums(uint8_t *data, size_t size)
{
	size_t at = 0;

	if (size >= LOG_HEADER_MIN_BYTES) {
		uint32_t length = log_get_u32(data + LOG_HEADER_LENGTH);

		if (length >= LOG_HEADER_MIN_BYTES && length <= size) {
			fix_last_4(data, length);
			at = length;
		}
	}
	while (size - at >= LOG_FOOTER_BYTES) {
		size_t left = size - at;

		if (left >= LOG_BLOCK_HEADER_BYTES && !memcmp(data + at, LOG_SYNC, LOG_MAGIC_BYTES)) {
			at += fix_block(data + at, left);
			continue;
		}
		if (!memcmp(data + at, LOG_END_MAGIC, LOG_MAGIC_BYTES))
			fix_last_4(data + at, LOG_FOOTER_BYTES);
		at++;
	}
}

#ifndef FUZZ_LOG_AT
#define FUZZ_LOG_AT 0u
#endif

#ifdef WITH_LIBFUZZER
/* One in eight is left with wrong checksums: those who look for damage shall find some. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max_size);
	if (seed % 8 && size > FUZZ_LOG_AT)
		fix_checksums(data + FUZZ_LOG_AT, size - FUZZ_LOG_AT);
	return size;
}
#endif

#endif
