/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log that otlp-hop reads while it is written, and the one after it. When
 * there is none, or none yet, it is looked for again.
 */
#ifndef HOP_LOG_H
#define HOP_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/commands/context_ledger.h"
#include "cli/files/log_input.h"

struct hop_log {
	struct cli *cli;
	const char *path; /* as it was given: of a log, or a directory */
	struct context_ledger *ledger;

	/* private */
	char *file; /* that is read; NULL: none */
	struct log_input input;
	bool is_open;
	bool is_told;	     /* that there is none, and none has come since */
	bool has_capture;    /* one was read */
	uint8_t last_id[16]; /* that one */
	struct stat refused; /* can't be read */
	uint64_t looked_ns;  /* for another one */
	uint64_t read_ns;    /* when there was something */
};

/* Gives the records that have come to the ledger, so many at most. 0 or -ENOMEM. */
int hop_log_read(struct hop_log *log, size_t record_max);

/*
 * true: what happened until time_ns (Unix time) was read, or there is no log,
 * also none that has begun before since_ns (CLOCK_MONOTONIC).
 */
bool hop_log_has(const struct hop_log *log, uint64_t time_ns, uint64_t since_ns);

void hop_log_close(struct hop_log *log);

#endif
