/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tracing cost, from the log's records of it (docs/attribution.md, "What
 * tracing cost"): what one event of each class cost, on what that rests, and
 * what all came to. Sums saturate. Small, no memory of its own.
 */
#ifndef COST_SUMS_H
#define COST_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "txtrace/log.h"

/* Events whose programs do the same work. */
enum cost_class {
	COST_SPAN = 0,   /* begin, enter, exit, end */
	COST_KEY = 1,    /* the same, by key */
	COST_TEXT = 2,   /* tags, attributes */
	COST_MARK = 3,   /* instants, counters, links */
	COST_SWITCH = 4, /* a thread got a CPU, or left it */
	COST_WAKE = 5,
	COST_OTHER = 6,  /* threads that come and go, and whatever this version does not know */
	COST_CLASS_COUNT = 7,
};

#define COST_HIT_CLASS_COUNT (COST_MARK + 1) /* those of the program's own probes */

extern const char *const cost_class_names[COST_CLASS_COUNT]; /* "span", "key", …: as JSON has them */

struct cost_class_sums {
	uint64_t event_cnt;
	uint64_t memory_cnt;  /* of these, marks in shared memory: no program ran for them */
	uint64_t entered_cnt; /* those of which it is known what getting to the program takes, … */
	uint64_t entry_ps;    /* … and what it took for all of these */
	uint64_t timed_event_cnt;
	uint64_t body_ps; /* what the programs ran for these, less what timing itself says */
	uint64_t calibration_cnt; /* the largest */
	unsigned int entries;     /* bits by enum txtrace_cost_entry */
};

struct cost_sums {
	struct cost_class_sums classes[COST_CLASS_COUNT];
	uint64_t record_cnt;
	uint64_t event_cnt;  /* as the recorder says */
	uint64_t observed_ns; /* for which it says so */
	uint64_t timing_ns;   /* of that, how long runs were timed */
	uint64_t cpu_ns;
	uint64_t ring_bytes;
	uint64_t log_bytes;
	/* instructions that were single-stepped: what that cost is in entry_ps of COST_SPAN */
	uint64_t step_cnt;
	bool has_unknown_steps; /* of some it is not known what they cost */
	/* programs also ran and sent nothing, as it was asked for: that is in no figure */
	bool has_silent_runs;
};

/* All zero to begin with. */
void cost_sums_add(struct cost_sums *sums, const struct txtrace_cost *cost);

/* One event of a class, in ns / 1000. */
struct cost_price {
	uint64_t entry_ps;
	uint64_t body_ps;
	bool has_entry; /* false: not known, and 0 above */
	bool has_body;
};

struct cost_price cost_sums_price(const struct cost_sums *sums, enum cost_class of);

/* cnt events of a class, in ns / 1000. */
uint64_t cost_sums_cost_ps(const struct cost_sums *sums, enum cost_class of, uint64_t cnt);

/* All events of all classes. */
uint64_t cost_sums_total_ns(const struct cost_sums *sums);

/* From the header of the log: whether there were runs that nothing tells of. */
void cost_sums_see_capture(struct cost_sums *sums, const struct txtrace_log_info *info);

/*
 * Whether the total is all that there was: each class that has events has both
 * parts, and no program ran silently.
 */
bool cost_sums_is_whole(const struct cost_sums *sums);

#endif
