/* SPDX-License-Identifier: BSD-2-Clause */
/* A file of options: a line each, "name", "name value" or "name = value"; '#' begins a comment. */
#ifndef OPTIONS_FILE_H
#define OPTIONS_FILE_H

#include "base/options_parser.h"

/*
 * Takes all that stands in the file, which spec (of OPTION_FILE) then holds. 0
 * or -EINVAL and a sentence with the number of the line.
 */
int options_take_file(struct options_parser *parser, const struct option_spec *spec, const char *path);

#endif
