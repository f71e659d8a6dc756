/* SPDX-License-Identifier: BSD-2-Clause */
#include "log/format/number.h"

struct number_class number_class_of(unsigned int code, unsigned int low)
{
	unsigned int octave = (code - NUMBER_EXACT) / 2, bits = low;
	uint64_t base = code;

	if (code >= NUMBER_EXACT) {
		base = 2 + (code & 1);
		bits = octave + NUMBER_EXACT_BITS - 1 + low;
	}
	if (code >= NUMBER_CODE_COUNT || bits > NUMBER_RAW_MAX_BITS)
		return (struct number_class){ .bits = NUMBER_NO_BITS };
	return (struct number_class){ .base = base << bits, .mask = (UINT64_C(1) << bits) - 1, .bits = bits };
}

void number_table_init(struct number_table *table, unsigned int low)
{
	table->low = low;
	for (unsigned int code = 0; code < 256; code++) {
		table->classes[code] = number_class_of(code, low);
		if (table->classes[code].bits > NUMBER_WORD_BITS)
			table->classes[code].bits = NUMBER_NO_BITS;
	}
}
