/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/commands/command.h"
#include "cli/commands/fleet_options.h"
#include "cli/files/progress.h"
#include "fleet/finished_logs.h"
#include "fleet/fleet_schema.h"
#include "fleet/shipper.h"

#define LOOK_MS 1000
#define WAIT_MAX_MS 30000

struct ship_options {
	struct fleet_server_options server;
	bool is_once;
	bool is_quiet;
};

/* A file that needs no second look: it was sent, or can't be read. */
struct seen_log {
	uint64_t inode;
	uint64_t device;
	int64_t written_ns;
	bool is_here; /* at the last look */
};

struct ship {
	struct cli *cli;
	const struct ship_options *values;
	const char *directory;
	struct clickhouse *server;
	struct shipper *shipper;
	struct seen_log *seen;
	size_t seen_cnt;
	size_t seen_room;
	bool is_checked; /* the version of the tables */
	bool is_waiting; /* the server could not be reached, which was said */
	int wait_ms;
	uint64_t sent_cnt;
	uint64_t there_cnt;
	uint64_t unreadable_cnt;
	uint64_t removed_cnt;
	uint64_t span_cnt;
	struct progress progress; /* of the file that is sent */
};

static const struct option_spec specs[] = {
	FLEET_SERVER_OPTIONS(struct ship_options),
	OPTION("once", '1', OPTION_FLAG, NULL,
	       "send the logs that the directory has now, and end; if the server can't be reached, fail at "
	       "once",
	       offsetof(struct ship_options, is_once)),
	OPTION("quiet", 'q', OPTION_FLAG, NULL, "say nothing but what went wrong",
	       offsetof(struct ship_options, is_quiet)),
	OPTION_END,
};

static const char *const notes[] = {
	fleet_server_note,
	"Exit status: 0 all is sent, or it was stopped by Ctrl-C or SIGTERM; 1 files could not be read, or "
	"were removed before they were sent; 2 wrong usage, or a server that refuses.",
	NULL,
};

static const struct options options = {
	.program = "txtrace ship",
	.about =
		"Sends the finished logs of a directory to ClickHouse, where 'txtrace fleet' queries those "
		"of many hosts. It runs until it is stopped, and looks for further files once a second. Each "
		"file is sent once, also if this command or the server is killed meanwhile. While the "
		"server can't be reached, it waits: the logs stay in the directory, and the recorder's "
		"--keep and --keep-size say for how long. What was removed before it was sent is counted.",
	.usages = (const char *const[]){ "DIR", NULL },
	.specs = specs,
	.examples =
		(const struct option_example[]){
			{ "txtrace ship --clickhouse http://db1:8123 /var/log/txtrace",
			  "From a host with a recorder." },
			{ "txtrace ship --once --clickhouse http://localhost:8123/test .",
			  "The logs that are here." },
			{ NULL, NULL },
		},
	.notes = notes,
	.operand = "DIR",
	.operand_min = 1,
	.operand_max = 1,
};

/* ---- which files ---- */

static struct seen_log *find_seen(const struct ship *ship, const struct finished_log *log)
{
	for (size_t i = 0; i < ship->seen_cnt; i++) {
		struct seen_log *seen = &ship->seen[i];

		if (seen->inode == log->inode && seen->device == log->device &&
		    seen->written_ns == log->written_ns)
			return seen;
	}
	return NULL;
}

static int remember(struct ship *ship, const struct finished_log *log)
{
	struct seen_log *seen = array_grow(ship->seen, &ship->seen_room, ship->seen_cnt, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	ship->seen = seen;
	seen[ship->seen_cnt++] = (struct seen_log){ log->inode, log->device, log->written_ns, true };
	return 0;
}

/* Of files that are gone: memory follows what is in the directory. */
static void forget_gone(struct ship *ship)
{
	size_t kept = 0;

	for (size_t i = 0; i < ship->seen_cnt; i++) {
		if (!ship->seen[i].is_here)
			continue;
		ship->seen[kept] = ship->seen[i];
		ship->seen[kept++].is_here = false;
	}
	ship->seen_cnt = kept;
}

/* ---- sending ---- */

static void say_sent(struct ship *ship, const struct finished_log *log, const struct shipper_result *result,
		     uint64_t took_ns)
{
	char spans[UNITS_SIZE], rows[UNITS_SIZE], time[UNITS_SIZE];

	cli_hide_progress(ship->cli);
	if (ship->values->is_quiet)
		return;
	fprintf(ship->cli->out.file, "%s: ", log->path);
	if (result->was_there)
		fputs("the server has it already\n", ship->cli->out.file);
	else
		fprintf(ship->cli->out.file, "%s spans, %s rows in %s\n",
			units_format_count(spans, result->span_cnt),
			units_format_count(rows, result->row_cnt), units_format_duration(time, took_ns));
	fflush(ship->cli->out.file);
}

static void see(void *context, uint64_t read_bytes, uint64_t file_bytes)
{
	struct ship *ship = context;

	if (progress_is_due_after_long(&ship->progress))
		progress_show(&ship->progress, read_bytes, file_bytes);
}

static int send_file(struct ship *ship, const struct finished_log *log, struct error *error)
{
	uint64_t begin_ns = clock_now_ns();
	struct shipper_result result;
	bool is_about_file;
	int err;

	progress_init(&ship->progress, ship->cli, !ship->values->is_quiet);
	err = shipper_send(ship->shipper, log->path, &result, &is_about_file, error);
	if (err == -ENOENT && is_about_file)
		return 0; /* removed meanwhile: a gap that is noted later */
	if (err && is_about_file) {
		cli_warn(ship->cli, "%s; it is not sent", error->text);
		ship->unreadable_cnt++;
		return remember(ship, log);
	}
	if (err)
		return err;
	if (result.damage_cnt > 0) {
		cli_warn(ship->cli, "'%s' is damaged or cut off: sent as far as it can be read", log->path);
		ship->unreadable_cnt++;
	}
	ship->sent_cnt += !result.was_there;
	ship->there_cnt += result.was_there;
	ship->span_cnt += result.span_cnt;
	say_sent(ship, log, &result, clock_now_ns() - begin_ns);
	return remember(ship, log);
}

static int note_removed(struct ship *ship, struct error *error)
{
	uint64_t removed_cnt;
	char count[UNITS_SIZE];
	int err = shipper_note_removed(ship->shipper, &removed_cnt, error);

	if (removed_cnt > 0)
		cli_warn(ship->cli, "%s log file%s removed before %s sent, or can't be read",
			 units_format_count(count, removed_cnt), removed_cnt == 1 ? " was" : "s were",
			 removed_cnt == 1 ? "it was" : "they were");
	ship->removed_cnt += removed_cnt;
	return err;
}

static int look(struct ship *ship, struct error *error)
{
	struct finished_logs list = { 0 };
	int err = ship->is_checked ? 0 : fleet_schema_check(ship->server, error);

	if (err)
		return err;
	ship->is_checked = true;
	err = finished_logs_read(&list, ship->directory);
	if (err) {
		error_set(error, "can't read the directory '%s': %s", ship->directory, strerror(-err));
		err = -ENOTDIR; /* none that means "try again" */
	}
	for (size_t i = 0; i < list.cnt && !err; i++) {
		struct seen_log *seen = find_seen(ship, &list.logs[i]);

		if (seen)
			seen->is_here = true;
		else
			err = fleet_is_stopped() ? -ECANCELED : send_file(ship, &list.logs[i], error);
	}
	finished_logs_release(&list);
	if (err)
		return err;
	forget_gone(ship);
	return note_removed(ship, error);
}

static void say_waiting(struct ship *ship, const struct error *error)
{
	if (!ship->is_waiting)
		cli_warn(ship->cli, "%s; the logs stay in '%s', trying again", error->text, ship->directory);
	ship->is_waiting = true;
	ship->wait_ms = ship->wait_ms ? 2 * ship->wait_ms : LOOK_MS;
	if (ship->wait_ms > WAIT_MAX_MS)
		ship->wait_ms = WAIT_MAX_MS;
}

static void say_end(const struct ship *ship)
{
	char sent[UNITS_SIZE], there[UNITS_SIZE], spans[UNITS_SIZE];

	if (!ship->values->is_quiet)
		fprintf(ship->cli->out.file, "%s files sent with %s spans; the server had %s\n",
			units_format_count(sent, ship->sent_cnt), units_format_count(spans, ship->span_cnt),
			units_format_count(there, ship->there_cnt));
}

static int ship_until_stopped(struct ship *ship)
{
	struct error error = { "" };

	for (;;) {
		int err = look(ship, &error);

		if (err == -EAGAIN && !ship->values->is_once) {
			say_waiting(ship, &error);
		} else if (err && err != -ECANCELED) {
			return cli_fail(ship->cli, "%s", err == -ENOMEM ? "not enough memory" : error.text);
		} else {
			if (ship->is_waiting && !err)
				cli_warn(ship->cli, "ClickHouse at %s accepts logs again",
					 clickhouse_place(ship->server));
			ship->is_waiting = false;
			ship->wait_ms = 0;
		}
		if (ship->values->is_once || fleet_is_stopped())
			break;
		poll(NULL, 0, ship->wait_ms ? ship->wait_ms : LOOK_MS);
		if (fleet_is_stopped())
			break;
	}
	say_end(ship);
	return ship->unreadable_cnt || ship->removed_cnt ? CLI_INCOMPLETE : CLI_OK;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct ship_options values = { .server = FLEET_SERVER_DEFAULTS };
	struct ship ship = { .cli = cli, .values = &values };
	struct options_result result;
	int status;

	if (!cli_parse(cli, &options, argc, argv, &values, &result, &status))
		return status;
	ship.directory = result.operands[0];
	cli_stream(cli);
	status = fleet_server_open(cli, &values.server, values.is_quiet, &ship.server);
	if (status != CLI_OK)
		return status;
	ship.shipper = shipper_new(ship.server);
	if (ship.shipper)
		shipper_watch(ship.shipper, see, &ship);
	status = ship.shipper ? ship_until_stopped(&ship) : cli_fail(cli, "not enough memory");
	shipper_free(ship.shipper);
	clickhouse_close(ship.server);
	free(ship.seen);
	return status;
}

const struct command command_ship = { "ship", "send the logs of a directory to ClickHouse", &options,
				      .run = run };
