/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands above what the analyses print: which capture it is of. */
#ifndef ANALYSIS_FRAME_H
#define ANALYSIS_FRAME_H

#include "cli/cli.h"
#include "cli/files/log_input.h"

void analysis_print_title(struct cli *cli, const struct log_input *input);

#endif
