/* SPDX-License-Identifier: BSD-2-Clause */
/* The server that `ship` and `fleet` speak to: their options, and how it is opened. */
#ifndef FLEET_OPTIONS_H
#define FLEET_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "fleet/clickhouse.h"

struct fleet_server_options {
	const char *url; /* NULL: TXTRACE_CLICKHOUSE of the environment */
	const char *ca_file;
	uint64_t timeout_ns;
};

#define FLEET_SERVER_DEFAULTS { .timeout_ns = 60000000000 }

/* Entries of an options table; `type` has a member `server`. */
#define FLEET_SERVER_OPTIONS(type)									    \
	OPTION("clickhouse", 0, OPTION_STRING, "URL",							    \
	       "the server: http[s]://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE] (default: the variable "	    \
	       "TXTRACE_CLICKHOUSE)",									    \
	       offsetof(type, server.url)),								    \
	OPTION("ca-file", 0, OPTION_STRING, "FILE",							    \
	       "with https: trust the authorities whose certificates FILE has, in PEM (default: those "	    \
	       "of the system)",									    \
	       offsetof(type, server.ca_file)),								    \
	OPTION("timeout", 0, OPTION_DURATION, "TIME", "give up a request after TIME (default 60s)",	    \
	       offsetof(type, server.timeout_ns), .minimum = 1000000, .maximum = 86400000000000)

/* A paragraph of the help text: where the user and the password come from. */
extern const char fleet_server_note[];

/*
 * CLI_OK; or CLI_FAILED and a sentence was said. Then SIGINT and SIGTERM end
 * requests, as fleet_is_stopped() says. is_quiet: it is not shown that the
 * server takes its time.
 */
int fleet_server_open(struct cli *cli, const struct fleet_server_options *options, bool is_quiet,
		      struct clickhouse **server);
bool fleet_is_stopped(void);

#endif
