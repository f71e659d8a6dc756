/* SPDX-License-Identifier: BSD-2-Clause */
/* export --otlp: the spans of a log to a receiver of OTLP, also while the log is written. */
#ifndef OTLP_SEND_H
#define OTLP_SEND_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "otlp/otlp_sender.h"

struct otlp_send_options {
	const char *url; /* NULL: not wanted */
	const char *headers_file;
	uint64_t give_up_ns;
	bool follow;
};

#define OTLP_GIVE_UP_NS 60000000000u

/* The exit status; sentences were said. */
int otlp_send(struct cli *cli, const struct otlp_send_options *options, const struct options_result *parsed);

/* What a receiver did not get or take, if there is any; the exit status that it deserves. */
int otlp_tell_missing(struct cli *cli, const struct otlp_sender_totals *totals);

#endif
