/* SPDX-License-Identifier: BSD-2-Clause */
/* `txtrace show FILE TRACEID`: the spans of a trace as a tree, across the processes of a log. */
#ifndef TRACE_SHOW_H
#define TRACE_SHOW_H

#include "analyze/trace_ids.h"
#include "cli/cli.h"

struct trace_show_options {
	uint8_t id[TRACE_ID_BYTES];
	uint64_t limit; /* lines of text; 0: all */
	bool wants_json;
};

/* operands: FILE… and the id. Returns enum cli_status. */
int trace_show(struct cli *cli, const struct trace_show_options *options,
	       const struct options_result *operands);

/* Says of how many spans the trace may be another one, if there are any. */
void cli_warn_of_traces(struct cli *cli, const struct trace_ids *ids);

#endif
