/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text that grows. Errors stick: after -ENOMEM every append does nothing and
 * text.err says so. All zero is an empty text.
 *
 * "Escaped" is fit for a terminal and can be read back by eye: control
 * characters, what is no UTF-8, and invisible or direction-changing characters
 * come out as \n, \t, \r, \e, \xNN or \u{NNNN}; a backslash is doubled.
 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct text {
	char *bytes; /* NUL-terminated once something was appended; use text_string() */
	size_t length;
	size_t size;
	int err;
};

void text_release(struct text *text);
void text_clear(struct text *text); /* keeps the room */
const char *text_string(const struct text *text); /* never NULL */

void text_append(struct text *text, const char *string);
void text_append_bytes(struct text *text, const char *bytes, size_t length);
void text_append_base64(struct text *text, const void *bytes, size_t length); /* with = at the end */
__attribute__((format(printf, 2, 3))) void text_append_format(struct text *text, const char *format, ...);
/* The same for a number of bytes that the compiler knows. */
static inline void text_append_few(struct text *text, const void *bytes, size_t length)
{
	if (text->err || length >= text->size - text->length) {
		text_append_bytes(text, (const char *)bytes, length);
		return;
	}
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

void text_append_u64(struct text *text, uint64_t value); /* decimal */

/*
 * Whatever the bytes are, fit for a terminal, and for the output of a step of a
 * CI service: control characters, what is no UTF-8, deceptive characters
 * (utf8.h) and a backslash are escaped, and so is what begins a command there
 * ("::" behind nothing but blanks, "##").
 */
void text_append_escaped(struct text *text, const char *bytes, size_t length);
void text_append_quoted(struct text *text, const char *bytes, size_t length); /* "…", also " escaped */

/*
 * Valid UTF-8 without control characters, for formats that others read: these
 * show as U+2400 … U+2421, those of U+0080 … U+009F as U+FFFD, and so do bytes
 * that are no UTF-8, byte by byte.
 */
void text_append_visible(struct text *text, const char *bytes, size_t length);

/* Escaped, at most max_columns wide: what does not fit is replaced by … (at the end of the text). */
void text_append_clipped(struct text *text, const char *bytes, size_t length, size_t max_columns);

/* Columns that UTF-8 text without control characters takes on a terminal. */
size_t text_columns(const char *bytes, size_t length);

#endif
