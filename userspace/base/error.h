/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One sentence about what went wrong, for a human: made where it is known,
 * printed at the edge. It is safe to print: control characters and bytes that
 * are no UTF-8 are written as \xNN, whatever the strings that went into it
 * were.
 */
#ifndef ERROR_H
#define ERROR_H

#include <stdarg.h>

struct error {
	char text[512]; /* "": no error; lower case, no full stop */
};

/* Replaces the sentence; what does not fit is cut off and ends with "...". error may be NULL. */
void error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for functions that take such arguments themselves. */
void error_set_arguments(struct error *error, const char *format, va_list arguments)
	__attribute__((format(printf, 2, 0)));

#endif
