/* SPDX-License-Identifier: BSD-2-Clause */
/* What stands above and below what the analyses print: which capture it is of, and what of it was lost. */
#ifndef ANALYSIS_FRAME_H
#define ANALYSIS_FRAME_H

#include "cli/cli.h"
#include "cli/files/log_input.h"

void analysis_print_title(struct cli *cli, const struct log_input *input);

/* 0 or -ENOMEM. */
int analysis_print_losses(struct cli *cli, const struct log_input *input);

#endif
