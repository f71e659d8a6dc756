/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The numbers of docs/log-format.md: magics, offsets, limits. Nothing here may
 * change without a new version of the format.
 */
#ifndef LOG_FORMAT_H
#define LOG_FORMAT_H

#include <stdint.h>
#include <string.h>

#define LOG_VERSION_MAJOR 1
#define LOG_VERSION_MINOR 3

#define LOG_MAGIC "\x89TXLOG\r\n"
#define LOG_SYNC "\xf5\xc3TXB\x9a\x00\xff"
#define LOG_END_MAGIC "TXEND\r\n\x1a"
#define LOG_MAGIC_BYTES 8

/* How the payload of a block is compressed: LOG_BLOCK_CODEC. */
enum log_codec {
	LOG_CODEC_NONE = 0,
	LOG_CODEC_ZSTD = 1,
	LOG_CODEC_LZ4 = 2,
};

/*
 * The file header: see "File header". Its strings follow at LOG_HEADER_STRINGS,
 * its CRC is its last 4 bytes.
 */
enum log_header_offset {
	LOG_HEADER_MAJOR = 8,
	LOG_HEADER_MINOR = 10,
	LOG_HEADER_LENGTH = 12,
	LOG_HEADER_CAPTURE_ID = 16,
	LOG_HEADER_BOOT_ID = 32,
	LOG_HEADER_MONOTONIC = 48,
	LOG_HEADER_REALTIME = 56,
	LOG_HEADER_PID = 64,
	LOG_HEADER_CPU_CNT = 68,
	LOG_HEADER_PART = 72,
	LOG_HEADER_RESERVED = 76,
	LOG_HEADER_FIRST_SEQUENCE = 80,
	LOG_HEADER_STRINGS = 88,
};
#define LOG_HEADER_MIN_BYTES (LOG_HEADER_STRINGS + 5 * 2 + 4)
#define LOG_HEADER_MAX_BYTES 65536

/* The header of a block: see "Blocks". */
enum log_block_offset {
	LOG_BLOCK_MAJOR = 8,
	LOG_BLOCK_TYPE = 9,
	LOG_BLOCK_CODEC = 10,
	LOG_BLOCK_LENGTH = 12, /* of this header */
	LOG_BLOCK_STORED_BYTES = 16,
	LOG_BLOCK_RAW_BYTES = 20,
	LOG_BLOCK_RECORD_CNT = 24,
	LOG_BLOCK_PAYLOAD_CRC = 28,
	LOG_BLOCK_SEQUENCE = 32,
	LOG_BLOCK_FIRST_NS = 40,
	LOG_BLOCK_LAST_NS = 48,
	LOG_BLOCK_ANCHOR_MONOTONIC = 56,
	LOG_BLOCK_ANCHOR_REALTIME = 64,
	LOG_BLOCK_CAPTURE_ID = 72,
	LOG_BLOCK_HEADER_CRC = 88, /* with this length of header: always its last 4 bytes */
};
#define LOG_BLOCK_HEADER_BYTES 92
#define LOG_BLOCK_HEADER_MAX_BYTES 1024

enum log_block_type {
	LOG_BLOCK_BATCH = 1,
	LOG_BLOCK_INDEX = 2,
};

/* The end of a complete file: magic, offset of the index block, its length with its header, CRC of these. */
#define LOG_FOOTER_BYTES 24

/* Shapes below this are told by one byte in the order, the others by one from this on, and one more. */
#define LOG_ORDER_SHORT 224u

/* No batch holds more: a reader's memory is bounded by these. */
#define LOG_PAYLOAD_MAX_BYTES (8u << 20) /* stored, and raw */
#define LOG_STRING_MAX_BYTES (1u << 20)
#define LOG_STRINGS_MAX_BYTES (LOG_STRING_MAX_BYTES + (256u << 10)) /* all of a record together */
#define LOG_THREAD_MAX 65536u
#define LOG_NAME_MAX 262144u
#define LOG_TEXT_MAX 262144u
#define LOG_OBJECT_MAX 65536u
#define LOG_SLOT_MAX 65536u
#define LOG_SHAPE_MAX (LOG_ORDER_SHORT + (256u - LOG_ORDER_SHORT) * 256u)
#define LOG_FIELD_MAX 64u
#define LOG_OWN_COLUMN_MAX 4096u
#define LOG_KIND_MAX 256u

/*
 * Sections of a batch's payload. A column has two, codes and raw bits: the
 * common one of a field, LOG_SECTION_COLUMNS + kind * 128 + field * 2 and that
 * + 1; one of a shape's own, LOG_SECTION_OWN + number * 2 and that + 1.
 */
enum log_section {
	LOG_SECTION_THREADS = 1,
	LOG_SECTION_NAMES = 2,
	LOG_SECTION_TEXTS = 3,
	LOG_SECTION_OBJECTS = 4,
	LOG_SECTION_SLOTS = 5,
	LOG_SECTION_SHAPES = 6,
	LOG_SECTION_ORDER = 7,      /* which shape each record has: a byte for each, … */
	LOG_SECTION_ORDER_MORE = 8, /* … and one more for each of those that say so */
	LOG_SECTION_COLUMNS = 256,
	LOG_SECTION_OWN = 65536,
};

/* How a shape tells a field. FIELD_CONSTANT and above: always this number less FIELD_CONSTANT. */
enum log_field_code {
	FIELD_VARIABLE = 0,       /* from the field's common column */
	FIELD_VARIABLE_FROM = 1,  /* from the common column, plus the number that follows (zigzag) */
	/* from a column of the shape's own, the next by number, plus the number that follows (zigzag) */
	FIELD_OWN_FROM = 2,
	FIELD_CONSTANT_LARGE = 3, /* always the number that follows */
	FIELD_CONSTANT = 4,
};

/* CPUs share the reader's memory of "when did the last run on it end" by the low bits of their number. */
#define LOG_CPU_CONTEXTS 1024u

static inline void log_put_u16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

static inline void log_put_u32(uint8_t *to, uint32_t value)
{
	log_put_u16(to, (uint16_t)value);
	log_put_u16(to + 2, (uint16_t)(value >> 16));
}

static inline void log_put_u64(uint8_t *to, uint64_t value)
{
	log_put_u32(to, (uint32_t)value);
	log_put_u32(to + 4, (uint32_t)(value >> 32));
}

static inline uint16_t log_get_u16(const uint8_t *from)
{
	return (uint16_t)(from[0] | from[1] << 8);
}

static inline uint32_t log_get_u32(const uint8_t *from)
{
	return log_get_u16(from) | (uint32_t)log_get_u16(from + 2) << 16;
}

static inline uint64_t log_get_u64(const uint8_t *from)
{
	return log_get_u32(from) | (uint64_t)log_get_u32(from + 4) << 32;
}

#endif
