/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/fleet_options.h"

#include <signal.h>
#include <stdlib.h>

#include "cli/files/progress.h"

#define NS_PER_MS 1000000

const char fleet_server_note[] =
	"Without a user in the URL, CLICKHOUSE_USER and CLICKHOUSE_PASSWORD of the environment are used. "
	"Others on this machine can see a password that is on the command line.";

static volatile sig_atomic_t is_stopped;

static void stop(int number)
{
	(void)number;
	is_stopped = 1;
}

/* A second signal ends the program as ever. */
static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = stop, .sa_flags = SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool fleet_is_stopped(void)
{
	return is_stopped;
}

static void show_waiting(void *context, const char *place, uint64_t waited_ns)
{
	progress_show_server(context, "ClickHouse", place, waited_ns);
}

int fleet_server_open(struct cli *cli, const struct fleet_server_options *options, bool is_quiet,
		      struct clickhouse **server)
{
	const struct clickhouse_options wanted = {
		.url = options->url ? options->url : getenv("TXTRACE_CLICKHOUSE"),
		.ca_file = options->ca_file,
		.timeout_ms = options->timeout_ns / NS_PER_MS,
		.is_stopped = &is_stopped,
		.wait = is_quiet ? NULL : show_waiting,
		.context = cli,
	};
	struct error error = { "" };

	if (!wanted.url || !*wanted.url)
		return cli_fail(cli, "no server is named: give --clickhouse http://HOST:8123, or set "
				     "TXTRACE_CLICKHOUSE");
	if (clickhouse_open(server, &wanted, &error))
		return cli_fail(cli, "%s", error.text);
	catch_signals();
	return CLI_OK;
}
