/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * "reading 12.0 MiB of 1.21 GiB 1.0 %": on a terminal, once a second has gone
 * by, a few times a second. Whatever the command says meanwhile takes its
 * place; cli_hide_progress() clears it in the end.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"

struct progress {
	struct cli *cli;
	/* may be set: what is read is written there, and how large that will be is estimated; NULL: not */
	FILE *written;

	/* private */
	bool is_wanted;
	uint64_t opened_ns;
	uint64_t shown_ns;
	uint32_t until_look; /* steps */
};

/* is_wanted: nothing else goes to a terminal meanwhile. */
void progress_init(struct progress *progress, struct cli *cli, bool is_wanted);

/* Counts a step, such as a record, or a long one, such as a batch; true: show how far it is. */
bool progress_is_due_after_long(struct progress *progress);

static inline bool progress_is_due(struct progress *progress)
{
	return progress->is_wanted && --progress->until_look == 0 && progress_is_due_after_long(progress);
}
void progress_show(struct progress *progress, uint64_t done_bytes, uint64_t total_bytes);

/* What takes its time is a server, as "ClickHouse"; place: where it is. waited_ns 0: it has answered. */
void progress_show_server(struct cli *cli, const char *server, const char *place, uint64_t waited_ns);

#endif
