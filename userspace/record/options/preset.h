/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Presets: spans of a well-known program, written down once. A file of lines:
 *
 *	# what the program is, for people
 *	span txn=postgresql:transaction__start..postgresql:transaction__commit|postgresql:transaction__abort
 *	func BINARY:SYMBOL
 *
 * Empty lines and lines that begin with # are skipped; what is behind span and
 * func is as in the options. --preset NAME is looked for in
 * $XDG_CONFIG_HOME/txtrace/presets (else ~/.config), /etc/txtrace/presets, and
 * beside the program, share/txtrace/presets; a name with a slash is a path.
 * Files are hostile: bounded, text alone, regular.
 */
#ifndef PRESET_H
#define PRESET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define PRESET_BYTES_MAX 65536
#define PRESET_LINE_MAX 256 /* spans, and as many functions */

struct preset {
	const char *spans[PRESET_LINE_MAX];
	size_t span_cnt;
	const char *funcs[PRESET_LINE_MAX];
	size_t func_cnt;
	char *text; /* of the file: the lines are in it */
};

#define PRESET_NAME_MAX 64

/*
 * Those that there are, by name and once each, in the order of their names;
 * more than that many are left out.
 */
struct preset_names {
	char *names[PRESET_NAME_MAX];
	size_t cnt;
};

void preset_names_read(struct preset_names *names);
void preset_names_release(struct preset_names *names);

/* Finds and reads it. 0, or a negative errno and a sentence; then there is nothing to release. */
int preset_read(struct preset *preset, const char *name, struct error *error);

/* From the text of a file, which is taken over and changed; path: for the sentence. */
int preset_parse(struct preset *preset, char *text, size_t length, const char *path, struct error *error);

/* One more line, which is somebody else's. 0 or -E2BIG. */
int preset_add(struct preset *preset, bool is_span, const char *line);

void preset_release(struct preset *preset);

#endif
