/* SPDX-License-Identifier: BSD-2-Clause */
/* An answer in ClickHouse's RowBinary, value by value; what is cut off is 0 and sets is_bad. */
#ifndef ROW_READER_H
#define ROW_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "txtrace/log.h"

struct row_reader {
	const char *at;
	const char *end;
	bool is_bad;
};

static inline uint64_t row_read_u64(struct row_reader *reader)
{
	uint64_t value = 0;

	if (reader->end - reader->at < (ptrdiff_t)sizeof(value)) {
		reader->is_bad = true;
		return 0;
	}
	memcpy(&value, reader->at, sizeof(value));
	reader->at += sizeof(value);
	return value;
}

static inline struct txtrace_string row_read_string(struct row_reader *reader)
{
	struct txtrace_string string = { "", 0 };
	uint64_t length = 0;
	unsigned int shift = 0;
	uint8_t byte = 0x80;

	for (; byte & 0x80 && reader->at < reader->end && shift < 64; shift += 7) {
		byte = (uint8_t)*reader->at++;
		length |= (uint64_t)(byte & 0x7f) << shift;
	}
	if (byte & 0x80 || length > (uint64_t)(reader->end - reader->at)) {
		reader->is_bad = true;
		return string;
	}
	string.bytes = reader->at;
	string.length = length;
	reader->at += length;
	return string;
}

static inline bool row_reader_has_more(const struct row_reader *reader)
{
	return !reader->is_bad && reader->at < reader->end;
}

#endif
