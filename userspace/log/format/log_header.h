/* SPDX-License-Identifier: BSD-2-Clause */
/* The headers of the file and of its blocks, and the footer: from bytes and to bytes. */
#ifndef LOG_HEADER_H
#define LOG_HEADER_H

#include <stdbool.h>

#include "log/format/log_format.h"
#include "txtrace/log.h"

/*
 * Fills buffer (LOG_HEADER_MAX_BYTES); returns the header's length. The
 * versions are this build's, whatever info says.
 */
uint32_t log_header_encode(const struct txtrace_log_info *info, uint8_t *buffer);

enum log_header_state {
	LOG_HEADER_GOOD,
	LOG_HEADER_DAMAGED, /* it is a log; what can't be trusted of info is 0 */
	LOG_HEADER_NEWER,   /* of a newer major version; info has the version */
	LOG_HEADER_FOREIGN, /* not a log */
};

/*
 * length: of what is there, which may be less or more than the header.
 * *header_length is set if it is GOOD.
 */
enum log_header_state log_header_decode(const uint8_t *bytes, size_t length, struct txtrace_log_info *info,
					uint32_t *header_length);

struct log_block {
	uint8_t major;
	uint8_t type;  /* enum log_block_type */
	uint8_t codec; /* enum log_codec */
	uint32_t header_bytes;
	uint32_t stored_bytes;
	uint32_t raw_bytes;
	uint32_t record_cnt;
	uint32_t payload_crc;
	uint64_t sequence;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t anchor_monotonic_ns;
	uint64_t anchor_realtime_ns;
	uint8_t capture_id[16];
};

void log_block_encode(const struct log_block *block, uint8_t buffer[LOG_BLOCK_HEADER_BYTES]);

/* Whether a whole header of a block stands at bytes, its checksum right and its lengths legal. */
bool log_block_decode(const uint8_t *bytes, size_t length, struct log_block *block);

void log_footer_encode(uint64_t index_offset, uint32_t index_bytes, uint8_t buffer[LOG_FOOTER_BYTES]);
bool log_footer_decode(const uint8_t *bytes, size_t length, uint64_t *index_offset, uint32_t *index_bytes);

#endif
