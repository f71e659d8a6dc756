/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the words of an option to its value in the caller's struct: for the
 * command line (options.h) and for files of options (options_file.h).
 */
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
__attribute__((format(printf, 2, 3))) int options_complain(struct options_parser *parser, const char *format,
							   ...);
int options_complain_unknown(struct options_parser *parser, const char *name, size_t length);

const struct option_spec *options_find(const struct options *options, const char *name, size_t length);

/* Is it the last of a table, which says nothing? */
bool options_is_end(const struct option_spec *spec);

/*
 * Puts a value into the field; NULL for an option without an argument. 0 or
 * -EINVAL and a sentence. Not for OPTION_FILE.
 */
int options_take(struct options_parser *parser, const struct option_spec *spec, const char *value);

#endif
