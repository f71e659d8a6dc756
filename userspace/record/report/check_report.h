/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `txtrace-bpf --check`: what works here, what does not, and what to do. Makes
 * the rings and loads the programs for a moment, to be sure.
 */
#ifndef CHECK_REPORT_H
#define CHECK_REPORT_H

#include <stdio.h>

#include "record/options/record_options.h"

/* The exit status: 0, recording will work; 2, it will not, or this could not be said. */
int check_report_print(const struct record_options *options, FILE *out);

#endif
