/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the values of a JSON text are, without reading them. The bytes may be anything. */
#ifndef OTLP_JSON_SCAN_H
#define OTLP_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct json_scan {
	const char *at; /* behind what was read; after -EBADMSG: where it is damaged */
	const char *end;
	int depth;
};

struct json_word {
	const char *bytes;
	size_t length;
};

/* The next character that is no blank, which is not taken; 0: the end. */
char json_scan_peek(struct json_scan *scan);

/*
 * Called at each element of an array, or member of an object (name: of it, as
 * it is written), before its value, which it must read. A result that is not 0
 * ends json_scan_each() and is its result; -EBADMSG and positive ones are free.
 */
typedef int (*json_scan_visit)(struct json_scan *scan, const struct json_word *name, void *context);

/* brackets: "{}" or "[]". 0 or -EBADMSG: it is no such thing, too deep, or damaged. */
int json_scan_each(struct json_scan *scan, const char *brackets, json_scan_visit visit, void *context);

/* One value of any kind. *text: its bytes. 0 or -EBADMSG. */
int json_scan_skip(struct json_scan *scan, struct json_word *text);

bool json_word_is(const struct json_word *word, const char *text);

#endif
