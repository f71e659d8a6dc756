/* SPDX-License-Identifier: BSD-2-Clause */
/* What the bank takes from its command line. */
#ifndef BANK_CONFIG_H
#define BANK_CONFIG_H

#include <stdlib.h>

#include "program_options.h"

#define TELLER_MAX 64

struct config {
	uint64_t threads;
	uint64_t transactions; /* 0: no limit */
	uint64_t seed;
	uint64_t cpu_percent;
	uint64_t fsyncs;
	uint64_t clearing_us;
	uint64_t checksum_us;
	uint64_t hold_us;
	double rate; /* transactions a second; 0: as fast as the queues take them */
	double seconds; /* 0: until a signal */
	double wait_traced_s;
	const char *directory, *latencies; /* latencies: a file; NULL: none */
};

static inline void config_set_defaults(struct config *config)
{
	const char *directory = getenv("TMPDIR");

	*config = (struct config){ .threads = 4,
				   .rate = 400,
				   .seed = 1,
				   .cpu_percent = 100,
				   .fsyncs = 1,
				   .clearing_us = 300,
				   .checksum_us = 1000 };
	config->directory = directory && *directory ? directory : "/var/tmp";
}

/* Ends the program if something is wrong with them. */
static inline void config_parse(struct config *config, int argc, char **argv)
{
	const struct option_spec table[] = {
		{ .name = "threads",
		  .help = "tellers",
		  .count = &config->threads,
		  .min = 1,
		  .max = TELLER_MAX },
		{ .name = "rate",
		  .help = "transactions a second; 0: as fast as possible",
		  .real = &config->rate,
		  .max = 1e7 },
		{ .name = "seconds",
		  .help = "end after this time; 0: at SIGTERM",
		  .real = &config->seconds,
		  .max = 1e6 },
		{ .name = "transactions",
		  .help = "end after so many; 0: no limit",
		  .count = &config->transactions,
		  .max = 1e12 },
		{ .name = "seed", .help = "of the random orders", .count = &config->seed, .max = 1e12 },
		{ .name = "directory",
		  .help = "of the journal; default: $TMPDIR or /var/tmp",
		  .text = &config->directory },
		{ .name = "cpu-percent",
		  .help = "scales the CPU work",
		  .count = &config->cpu_percent,
		  .min = 1,
		  .max = 10000 },
		{ .name = "fsyncs",
		  .help = "of a durable journal entry",
		  .count = &config->fsyncs,
		  .max = 1000 },
		{ .name = "latencies",
		  .help = "file for how long each took; default: none",
		  .text = &config->latencies },
		{ .name = "checksum-us",
		  .help = "CPU work of each of an audit's three checksums",
		  .count = &config->checksum_us,
		  .max = 1e6 },
		{ .name = "hold-us",
		  .help = "CPU work of a transfer while it holds its locks",
		  .count = &config->hold_us,
		  .max = 1e6 },
		{ .name = "clearing-us",
		  .help = "what the clearing house takes",
		  .count = &config->clearing_us,
		  .max = 1e6 },
		{ .name = "wait-traced",
		  .help = "seconds to wait for a tracer, at most",
		  .real = &config->wait_traced_s,
		  .max = 600 },
	};

	config_set_defaults(config);
	options_parse(table, sizeof(table) / sizeof(table[0]), "bank: a transaction server to trace", argc,
		      argv);
}

#endif
