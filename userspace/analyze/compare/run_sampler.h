/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log, read once, to the figures of its units in a run_set: of each label the
 * means of its ledger's parts and of its self time, percentiles, how many child
 * spans and waits it has, and whom it waited for. Spans that are lower bounds
 * are counted and left out.
 *
 *	struct run_sampler *sampler = run_sampler_new(set, side, path, &window);
 *
 *	while (!err && next(&record))
 *		err = run_sampler_add(sampler, &record);
 *	err = err ? err : run_sampler_finish(sampler, &info, &census);
 *	run_sampler_free(sampler);
 */
#ifndef RUN_SAMPLER_H
#define RUN_SAMPLER_H

#include "analyze/compare/run_set.h"

struct run_sampler;

/* How a run is divided; cnt 1: not. A span belongs to the window in which it ended. */
struct run_windows {
	uint32_t cnt;
	uint64_t first_ns; /* of all records */
	uint64_t last_ns;
};

#define RUN_SAMPLER_MEMORY_BYTES (256ull << 20)

/* memory_max_bytes: 0 for the above. kernel: of the log. NULL: no memory. */
struct run_sampler *run_sampler_new(struct run_set *set, enum compare_side side, const char *path,
				    const struct run_windows *windows, const char *kernel,
				    uint64_t memory_max_bytes);
void run_sampler_free(struct run_sampler *sampler);

int run_sampler_add(struct run_sampler *sampler, const struct txtrace_record *record); /* 0 or -ENOMEM */
int run_sampler_begin_capture(struct run_sampler *sampler);
int run_sampler_finish(struct run_sampler *sampler, const struct txtrace_log_info *info,
		       const struct log_census *census);

#endif
