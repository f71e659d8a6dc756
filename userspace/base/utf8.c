/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/utf8.h"

size_t utf8_decode(const char *bytes, size_t length, uint32_t *code_point)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *b = (const unsigned char *)bytes;
	size_t size = b[0] < 0x80   ? 1
		      : b[0] < 0xc0 ? 0
		      : b[0] < 0xe0 ? 2
		      : b[0] < 0xf0 ? 3
		      : b[0] < 0xf8 ? 4
				    : 0;
	uint32_t point;

	*code_point = UTF8_INVALID;
	if (size == 0 || size > length)
		return 1;
	point = size == 1 ? b[0] : b[0] & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 1;
		point = point << 6 | (b[i] & 0x3f);
	}
	if (point < smallest[size] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return 1;
	*code_point = point;
	return size;
}

struct utf8_range {
	uint32_t first;
	uint32_t last;
	unsigned int columns;
};

/* Sorted. What is not here takes one column. */
static const struct utf8_range ranges[] = {
	{ 0x0300, 0x036f, 0 },   { 0x0483, 0x0489, 0 },   { 0x0591, 0x05bd, 0 },   { 0x0610, 0x061a, 0 },
	{ 0x064b, 0x065f, 0 },   { 0x0900, 0x0902, 0 },   { 0x0e31, 0x0e31, 0 },   { 0x0e34, 0x0e3a, 0 },
	{ 0x0e47, 0x0e4e, 0 },   { 0x1100, 0x115f, 2 },   { 0x1ab0, 0x1aff, 0 },   { 0x1dc0, 0x1dff, 0 },
	{ 0x200b, 0x200f, 0 },   { 0x20d0, 0x20ff, 0 },   { 0x231a, 0x231b, 2 },   { 0x23e9, 0x23ec, 2 },
	{ 0x2e80, 0x303e, 2 },   { 0x3041, 0xa4cf, 2 },   { 0xa960, 0xa97c, 2 },   { 0xac00, 0xd7a3, 2 },
	{ 0xf900, 0xfaff, 2 },   { 0xfe00, 0xfe0f, 0 },   { 0xfe20, 0xfe2f, 0 },   { 0xfe30, 0xfe6f, 2 },
	{ 0xff01, 0xff60, 2 },   { 0xffe0, 0xffe6, 2 },   { 0x1f1e6, 0x1f202, 2 }, { 0x1f300, 0x1f64f, 2 },
	{ 0x1f680, 0x1f6ff, 2 }, { 0x1f7e0, 0x1f7eb, 2 }, { 0x1f900, 0x1f9ff, 2 }, { 0x1fa70, 0x1faff, 2 },
	{ 0x20000, 0x3fffd, 2 }, { 0xe0100, 0xe01ef, 0 },
};

static const struct utf8_range *find(const struct utf8_range *in, size_t cnt, uint32_t code_point)
{
	size_t low = 0, high = cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code_point > in[middle].last)
			low = middle + 1;
		else if (code_point < in[middle].first)
			high = middle;
		else
			return &in[middle];
	}
	return NULL;
}

unsigned int utf8_columns(uint32_t code_point)
{
	const struct utf8_range *range = find(ranges, sizeof(ranges) / sizeof(ranges[0]), code_point);

	return range ? range->columns : 1;
}

/*
 * Sorted: controls; Default_Ignorable_Code_Point of Unicode 16, and what
 * Unicode keeps for more of them; formats that nobody sees; blanks, also those
 * that count as letters or symbols. Noncharacters at the end of each plane are
 * computed.
 */
static const struct utf8_range deceptive[] = {
	{ 0x0080, 0x00a0, 0 },   { 0x00ad, 0x00ad, 0 },   { 0x034f, 0x034f, 0 },   { 0x061c, 0x061c, 0 },
	{ 0x115f, 0x1160, 0 },   { 0x1680, 0x1680, 0 },   { 0x17b4, 0x17b5, 0 },   { 0x180b, 0x180f, 0 },
	{ 0x2000, 0x200f, 0 },   { 0x2028, 0x202f, 0 },   { 0x205f, 0x206f, 0 },   { 0x2800, 0x2800, 0 },
	{ 0x3000, 0x3000, 0 },   { 0x3164, 0x3164, 0 },   { 0xfdd0, 0xfdef, 0 },   { 0xfe00, 0xfe0f, 0 },
	{ 0xfeff, 0xfeff, 0 },   { 0xffa0, 0xffa0, 0 },   { 0xfff0, 0xfffc, 0 },   { 0x13430, 0x1343f, 0 },
	{ 0x16fe4, 0x16fe4, 0 }, { 0x1bca0, 0x1bca3, 0 }, { 0x1d159, 0x1d159, 0 }, { 0x1d173, 0x1d17a, 0 },
	{ 0xe0000, 0xe0fff, 0 },
};

bool utf8_is_deceptive(uint32_t code_point)
{
	return (code_point & 0xfffe) == 0xfffe ||
	       find(deceptive, sizeof(deceptive) / sizeof(deceptive[0]), code_point);
}
