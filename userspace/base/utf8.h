/* SPDX-License-Identifier: BSD-2-Clause */
/* UTF-8, one code point at a time, from bytes that may be anything. */
#ifndef UTF8_H
#define UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/*
 * Reads the code point at the start of bytes (length > 0) and returns how many
 * bytes it took: 1 to 4. Bytes that are no UTF-8 (stray, overlong, surrogate,
 * beyond U+10FFFF, cut off) give UTF8_INVALID, one byte at a time.
 */
size_t utf8_decode(const char *bytes, size_t length, uint32_t *code_point);

/*
 * Columns that a terminal gives to it: 0 (combining, zero width), 1 or 2 (East
 * Asian wide, emoji). Good enough to line up a table.
 */
unsigned int utf8_columns(uint32_t code_point);

/*
 * Characters by which a text may look like another: nobody sees them, they look
 * like a blank, they turn around what follows, or they are no characters at
 * all, which XML forbids besides.
 */
bool utf8_is_deceptive(uint32_t code_point);

#endif
