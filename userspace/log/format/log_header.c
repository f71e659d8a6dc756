/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/format/log_header.h"

#include "base/crc32c.h"

/* The strings of the file header, in their order: where they are in the struct. */
struct header_string {
	size_t offset;
	size_t capacity;
};

#define STRING(member)                                                                                    \
	{                                                                                                 \
		offsetof(struct txtrace_log_info, member), sizeof(((struct txtrace_log_info *)0)->member) \
	}

static const struct header_string header_strings[] = {
	STRING(host), STRING(kernel), STRING(command), STRING(recorder), STRING(options),
};

#define HEADER_STRING_COUNT (sizeof(header_strings) / sizeof(header_strings[0]))

uint32_t log_header_encode(const struct txtrace_log_info *info, uint8_t *buffer)
{
	uint32_t at = LOG_HEADER_STRINGS;

	memcpy(buffer, LOG_MAGIC, LOG_MAGIC_BYTES);
	log_put_u16(buffer + LOG_HEADER_MAJOR, LOG_VERSION_MAJOR);
	log_put_u16(buffer + LOG_HEADER_MINOR, LOG_VERSION_MINOR);
	memcpy(buffer + LOG_HEADER_CAPTURE_ID, info->capture_id, sizeof(info->capture_id));
	memcpy(buffer + LOG_HEADER_BOOT_ID, info->boot_id, sizeof(info->boot_id));
	log_put_u64(buffer + LOG_HEADER_MONOTONIC, info->start_monotonic_ns);
	log_put_u64(buffer + LOG_HEADER_REALTIME, info->start_realtime_ns);
	log_put_u32(buffer + LOG_HEADER_PID, info->pid);
	log_put_u32(buffer + LOG_HEADER_CPU_CNT, info->cpu_cnt);
	log_put_u32(buffer + LOG_HEADER_PART, info->part);
	log_put_u32(buffer + LOG_HEADER_RESERVED, 0);
	log_put_u64(buffer + LOG_HEADER_FIRST_SEQUENCE, info->first_sequence);
	for (size_t i = 0; i < HEADER_STRING_COUNT; i++) {
		const char *string = (const char *)info + header_strings[i].offset;
		uint16_t length = (uint16_t)strnlen(string, header_strings[i].capacity - 1);

		log_put_u16(buffer + at, length);
		memcpy(buffer + at + 2, string, length);
		at += 2u + length;
	}
	log_put_u32(buffer + LOG_HEADER_LENGTH, at + 4);
	log_put_u32(buffer + at, crc32c(buffer, at));
	return at + 4;
}

/* Strings longer than ours are cut; what follows them belongs to a later version. */
static bool decode_strings(const uint8_t *bytes, size_t length, struct txtrace_log_info *info)
{
	size_t at = LOG_HEADER_STRINGS;

	for (size_t i = 0; i < HEADER_STRING_COUNT; i++) {
		char *string = (char *)info + header_strings[i].offset;
		size_t string_length, kept;

		if (length - at < 2)
			return false;
		string_length = log_get_u16(bytes + at);
		at += 2;
		if (length - at < string_length)
			return false;
		kept = string_length < header_strings[i].capacity ? string_length
								  : header_strings[i].capacity - 1;
		memcpy(string, bytes + at, kept);
		string[kept] = '\0';
		at += string_length;
	}
	return true;
}

/* As if the magic were right: so that damage in it is told from a file of another kind. */
static bool has_right_crc(const uint8_t *bytes, size_t length, uint32_t header_length)
{
	uint32_t crc = crc32c(LOG_MAGIC, LOG_MAGIC_BYTES);

	if (header_length > length || header_length < LOG_HEADER_MIN_BYTES ||
	    header_length > LOG_HEADER_MAX_BYTES)
		return false;
	crc = crc32c_extend(crc, bytes + LOG_MAGIC_BYTES, header_length - LOG_MAGIC_BYTES - 4);
	return crc == log_get_u32(bytes + header_length - 4);
}

enum log_header_state log_header_decode(const uint8_t *bytes, size_t length, struct txtrace_log_info *info,
					uint32_t *header_length)
{
	bool has_magic = length >= LOG_MAGIC_BYTES && !memcmp(bytes, LOG_MAGIC, LOG_MAGIC_BYTES);
	uint32_t claimed;

	memset(info, 0, sizeof(*info));
	if (length < LOG_HEADER_MIN_BYTES)
		return has_magic ? LOG_HEADER_DAMAGED : LOG_HEADER_FOREIGN;
	claimed = log_get_u32(bytes + LOG_HEADER_LENGTH);
	if (!has_right_crc(bytes, length, claimed))
		return has_magic ? LOG_HEADER_DAMAGED : LOG_HEADER_FOREIGN;
	info->version_major = log_get_u16(bytes + LOG_HEADER_MAJOR);
	info->version_minor = log_get_u16(bytes + LOG_HEADER_MINOR);
	if (info->version_major > LOG_VERSION_MAJOR)
		return LOG_HEADER_NEWER;
	*header_length = claimed;
	memcpy(info->capture_id, bytes + LOG_HEADER_CAPTURE_ID, sizeof(info->capture_id));
	memcpy(info->boot_id, bytes + LOG_HEADER_BOOT_ID, sizeof(info->boot_id));
	info->start_monotonic_ns = log_get_u64(bytes + LOG_HEADER_MONOTONIC);
	info->start_realtime_ns = log_get_u64(bytes + LOG_HEADER_REALTIME);
	info->pid = log_get_u32(bytes + LOG_HEADER_PID);
	info->cpu_cnt = log_get_u32(bytes + LOG_HEADER_CPU_CNT);
	info->part = log_get_u32(bytes + LOG_HEADER_PART);
	info->first_sequence = log_get_u64(bytes + LOG_HEADER_FIRST_SEQUENCE);
	if (!decode_strings(bytes, claimed - 4, info)) {
		memset(info, 0, sizeof(*info));
		return LOG_HEADER_DAMAGED;
	}
	return has_magic ? LOG_HEADER_GOOD : LOG_HEADER_DAMAGED;
}

void log_block_encode(const struct log_block *block, uint8_t buffer[LOG_BLOCK_HEADER_BYTES])
{
	memset(buffer, 0, LOG_BLOCK_HEADER_BYTES);
	memcpy(buffer, LOG_SYNC, LOG_MAGIC_BYTES);
	buffer[LOG_BLOCK_MAJOR] = LOG_VERSION_MAJOR;
	buffer[LOG_BLOCK_TYPE] = block->type;
	buffer[LOG_BLOCK_CODEC] = block->codec;
	log_put_u32(buffer + LOG_BLOCK_LENGTH, LOG_BLOCK_HEADER_BYTES);
	log_put_u32(buffer + LOG_BLOCK_STORED_BYTES, block->stored_bytes);
	log_put_u32(buffer + LOG_BLOCK_RAW_BYTES, block->raw_bytes);
	log_put_u32(buffer + LOG_BLOCK_RECORD_CNT, block->record_cnt);
	log_put_u32(buffer + LOG_BLOCK_PAYLOAD_CRC, block->payload_crc);
	log_put_u64(buffer + LOG_BLOCK_SEQUENCE, block->sequence);
	log_put_u64(buffer + LOG_BLOCK_FIRST_NS, block->first_ns);
	log_put_u64(buffer + LOG_BLOCK_LAST_NS, block->last_ns);
	log_put_u64(buffer + LOG_BLOCK_ANCHOR_MONOTONIC, block->anchor_monotonic_ns);
	log_put_u64(buffer + LOG_BLOCK_ANCHOR_REALTIME, block->anchor_realtime_ns);
	memcpy(buffer + LOG_BLOCK_CAPTURE_ID, block->capture_id, sizeof(block->capture_id));
	log_put_u32(buffer + LOG_BLOCK_HEADER_CRC, crc32c(buffer, LOG_BLOCK_HEADER_CRC));
}

bool log_block_decode(const uint8_t *bytes, size_t length, struct log_block *block)
{
	uint32_t header_bytes;

	if (length < LOG_BLOCK_HEADER_BYTES || memcmp(bytes, LOG_SYNC, LOG_MAGIC_BYTES))
		return false;
	header_bytes = log_get_u32(bytes + LOG_BLOCK_LENGTH);
	if (header_bytes < LOG_BLOCK_HEADER_BYTES || header_bytes > LOG_BLOCK_HEADER_MAX_BYTES ||
	    header_bytes > length || crc32c(bytes, header_bytes - 4) != log_get_u32(bytes + header_bytes - 4))
		return false;
	*block = (struct log_block){
		.major = bytes[LOG_BLOCK_MAJOR],
		.type = bytes[LOG_BLOCK_TYPE],
		.codec = bytes[LOG_BLOCK_CODEC],
		.header_bytes = header_bytes,
		.stored_bytes = log_get_u32(bytes + LOG_BLOCK_STORED_BYTES),
		.raw_bytes = log_get_u32(bytes + LOG_BLOCK_RAW_BYTES),
		.record_cnt = log_get_u32(bytes + LOG_BLOCK_RECORD_CNT),
		.payload_crc = log_get_u32(bytes + LOG_BLOCK_PAYLOAD_CRC),
		.sequence = log_get_u64(bytes + LOG_BLOCK_SEQUENCE),
		.first_ns = log_get_u64(bytes + LOG_BLOCK_FIRST_NS),
		.last_ns = log_get_u64(bytes + LOG_BLOCK_LAST_NS),
		.anchor_monotonic_ns = log_get_u64(bytes + LOG_BLOCK_ANCHOR_MONOTONIC),
		.anchor_realtime_ns = log_get_u64(bytes + LOG_BLOCK_ANCHOR_REALTIME),
	};
	memcpy(block->capture_id, bytes + LOG_BLOCK_CAPTURE_ID, sizeof(block->capture_id));
	return block->stored_bytes <= LOG_PAYLOAD_MAX_BYTES && block->raw_bytes <= LOG_PAYLOAD_MAX_BYTES;
}

void log_footer_encode(uint64_t index_offset, uint32_t index_bytes, uint8_t buffer[LOG_FOOTER_BYTES])
{
	memcpy(buffer, LOG_END_MAGIC, LOG_MAGIC_BYTES);
	log_put_u64(buffer + 8, index_offset);
	log_put_u32(buffer + 16, index_bytes);
	log_put_u32(buffer + 20, crc32c(buffer, 20));
}

bool log_footer_decode(const uint8_t *bytes, size_t length, uint64_t *index_offset, uint32_t *index_bytes)
{
	if (length < LOG_FOOTER_BYTES || memcmp(bytes, LOG_END_MAGIC, LOG_MAGIC_BYTES) ||
	    crc32c(bytes, 20) != log_get_u32(bytes + 20))
		return false;
	*index_offset = log_get_u64(bytes + 8);
	*index_bytes = log_get_u32(bytes + 16);
	return true;
}
