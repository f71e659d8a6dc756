/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command line (options.c) and files of options (options_file.c) share. */
#ifndef OPTIONS_PARSER_H
#define OPTIONS_PARSER_H

#include "base/options.h"

/* One run of options_parse(). */
struct options_parser {
	const struct options *options;
	char **argv;
	int argc;
	int next_idx; /* in argv */
	void *values;
	struct options_result *result;
};

/* The sentence of the result. -EINVAL. */
__attribute__((format(printf, 2, 3))) int options_complain(struct options_parser *parser, const char *format, ...);
int options_complain_unknown(struct options_parser *parser, const char *name, size_t length);

const struct option_spec *options_find(const struct options *options, const char *name, size_t length);

/* Puts a value into the field. NULL for an option without an argument. */
int options_take(struct options_parser *parser, const struct option_spec *spec, const char *value);

/* All that stands in the file. */
int options_take_file(struct options_parser *parser, const struct option_spec *spec, const char *path);

#endif
