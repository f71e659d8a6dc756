/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The report by reason to be blocked, as people read it and as JSON. -ENOMEM;
 * what could not be written is left to cli_finish().
 */
#ifndef REASON_PRINT_H
#define REASON_PRINT_H

#include "analyze/wait/block_report.h"
#include "cli/cli.h"
#include "cli/files/log_input.h"

int reason_print(struct cli *cli, const struct block_report *report, const struct log_input *input);
int reason_json(struct cli *cli, const struct block_report *report, const struct log_input *input);

#endif
