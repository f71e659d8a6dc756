/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/files/progress.h"

#include "base/clock.h"
#include "base/units.h"

#define LOOK_EVERY 4096 /* steps between looks at the clock */
#define SHOW_AFTER_NS 1000000000u
#define SHOW_EVERY_NS 200000000u

void progress_init(struct progress *progress, struct cli *cli, bool is_wanted)
{
	*progress = (struct progress){ .cli = cli,
				       .is_wanted = is_wanted && cli->messages.is_terminal,
				       .until_look = LOOK_EVERY };
	if (progress->is_wanted)
		progress->opened_ns = clock_now_ns();
}

bool progress_is_due_after_long(struct progress *progress)
{
	uint64_t now;

	if (!progress->is_wanted)
		return false;
	progress->until_look = LOOK_EVERY;
	now = clock_now_ns();
	if (now - progress->opened_ns < SHOW_AFTER_NS || now - progress->shown_ns < SHOW_EVERY_NS)
		return false;
	progress->shown_ns = now;
	return true;
}

/* As if the rest were like what has been read. Of a pipe it is not known what was written. */
static void show_size(const struct progress *progress, uint64_t done_bytes, uint64_t total_bytes)
{
	off_t written = progress->written ? ftello(progress->written) : -1;
	char size[UNITS_SIZE];

	if (written <= 0 || !done_bytes)
		return;
	fprintf(progress->cli->messages.file, ", about %s to write",
		units_format_size(size,
				  (uint64_t)((double)written * (double)total_bytes / (double)done_bytes)));
}

void progress_show_server(struct cli *cli, const char *server, const char *place, uint64_t waited_ns)
{
	if (waited_ns == 0)
		cli_hide_progress(cli);
	if (!cli->messages.is_terminal || waited_ns < SHOW_AFTER_NS)
		return;
	fprintf(cli->messages.file, "\r\033[Kwaiting for %s at %s  %llu s", server, place,
		(unsigned long long)(waited_ns / 1000000000));
	fflush(cli->messages.file);
	cli->shows_progress = true;
}

void progress_show(struct progress *progress, uint64_t done_bytes, uint64_t total_bytes)
{
	char done[UNITS_SIZE], total[UNITS_SIZE], share[UNITS_SIZE];

	fprintf(progress->cli->messages.file, "\r\033[Kreading %s of %s  %s",
		units_format_size(done, done_bytes), units_format_size(total, total_bytes),
		units_format_share(share, done_bytes, total_bytes));
	show_size(progress, done_bytes, total_bytes);
	fflush(progress->cli->messages.file);
	progress->cli->shows_progress = true;
}
