/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What two sides of a comparison, a base and what is new, are made of: runs (a
 * log each), which are divided into units. A unit is what varies by itself: a
 * whole run; where a side has two runs or fewer, a window of a run, which says
 * less (units of one run have the machine's mood in common). Of each unit there
 * are figures of each label: run_sampler.h fills them in, a log at a time, so
 * that memory follows labels and units and not spans.
 */
#ifndef RUN_SET_H
#define RUN_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/log_census.h"
#include "analyze/span_value.h"
#include "analyze/wait/wait_sums.h"
#include "base/string_pool.h"
#include "txtrace/log.h"

enum compare_side {
	SIDE_BASE = 0,
	SIDE_NEW = 1,
};

/* Times of a span beyond those of span_value.h. */
enum compare_value {
	/* its work, less that of child spans on a thread that began or ended it */
	COMPARE_VALUE_SELF = SPAN_VALUE_COUNT,
	COMPARE_VALUE_SELF_ON_CPU = SPAN_VALUE_COUNT + 1, /* the same, on-CPU alone */
	COMPARE_VALUE_COUNT = SPAN_VALUE_COUNT + 2,
};

/* What there is by name, so much for each span of a label: the first byte of the name of a key. */
enum extra_kind {
	EXTRA_CALLS = 'c',   /* + label: child spans, at any depth */
	EXTRA_CHILDREN = 'd', /* + label: child spans, direct ones alone */
	EXTRA_REASON = 'r',  /* + the reason's name: waits, also in child spans */
	EXTRA_SYSCALL = 's', /* + the system call's name: the same */
	/* + name: ns waited for spans of that label, or threads of that name; in the span itself */
	EXTRA_WAITED = 'w',
	/* + a byte each for the reason and enum party_kind, + name: the same, for one reason and kind */
	EXTRA_WAITS_ON = 'e',
	EXTRA_HELD = 'h',     /* the same, for locks: ns that whoever held it was on a CPU meanwhile */
};

struct label_extra {
	uint32_t key; /* a number of run_set.keys */
	double per_span;
};

#define COMPARE_PERCENTILES_MAX 12
#define LABELS_MAX 4096     /* of a comparison; spans of more are counted */

/* One label in one unit. */
struct label_unit {
	uint32_t unit;
	uint64_t cnt; /* exact spans; figures are of these */
	uint64_t lower_bound_cnt;
	double mean[COMPARE_VALUE_COUNT];
	/* means of the spans whose wall time is at or above the 99th percentile, of a sample; NAN: too few */
	double tail[COMPARE_VALUE_COUNT];
	double *percentiles; /* [value][percentile], of values that are asked for; NAN: too few spans */
	struct label_extra *extras; /* by key */
	size_t extra_cnt;
};

/* What most of a label's waits for a reason were for, in one run. */
struct waited_object {
	struct wait_object object; /* its name is `name` */
	char *name;
	double share;    /* of the label's waits for that reason */
	double per_span; /* ns */
};

struct compare_label {
	struct txtrace_string name; /* owned by the set */
	uint32_t call_key, child_key;
	/*
	 * by enum compare_side; whole runs by side_of_runs(), which are the same where runs are not divided
	 */
	struct label_unit *units[4];
	size_t unit_cnt[4], unit_size[4];
	struct waited_object *objects; /* [reason], of the new side; NULL: none */
};

struct compare_run {
	char *path;
	struct txtrace_log_info info;
	struct log_census census; /* of all of it */
	uint32_t first_unit, unit_cnt;
};

struct run_set {
	struct string_pool *labels; /* numbers of by_label */
	struct compare_label **by_label;
	size_t label_cnt, label_size;
	struct string_pool *keys;
	struct compare_run *runs[2];
	size_t run_cnt[2];
	uint32_t unit_cnt[2];
	bool is_windowed; /* a side has too few runs: units are windows */
	uint32_t window_cnt[2]; /* of each run of a side; 0 before run_set_divide() */
	bool is_paired; /* unit i of both sides were recorded next to each other */

	double percentiles[COMPARE_PERCENTILES_MAX]; /* between 0 and 1 */
	size_t percentile_cnt;
	bool has_percentiles[COMPARE_VALUE_COUNT]; /* of these values */

	uint64_t unlabelled_cnt;  /* spans of labels beyond LABELS_MAX */
	uint64_t uncounted_cnt;   /* children, waits and holders of locks that found no room */
	bool is_coarse;           /* percentiles lost precision: memory */
};

int run_set_init(struct run_set *set); /* 0 or -ENOMEM */
void run_set_release(struct run_set *set);

/* Notes that a percentile of a value is wanted; before runs are sampled. -E2BIG: too many different ones. */
int run_set_want(struct run_set *set, unsigned int value, double percentile);
int run_set_percentile(const struct run_set *set, double percentile); /* its index; -1 */

/* How many spans a unit must have for it: 5 at or above it. */
uint64_t spans_needed(double percentile);

/*
 * Of a comparison: decides, by how many runs there will be, whether they are
 * divided. Before they are sampled.
 */
void run_set_divide(struct run_set *set, const size_t run_cnt[2]);

/* Adds a run; *run lives until the next. */
int run_set_add_run(struct run_set *set, enum compare_side side, const char *path, uint32_t window_cnt,
		    struct compare_run **run);

/* The label's number; LABELS_MAX: there is no room. 0 or -ENOMEM. */
int run_set_label(struct run_set *set, struct txtrace_string name, uint32_t *number);
struct compare_label *run_set_find_label(const struct run_set *set, struct txtrace_string name); /* or NULL */

/* Room for one more unit of the label, zeroed; NULL: no memory. */
struct label_unit *run_set_add_unit(struct run_set *set, uint32_t label, int side, uint32_t unit);

/* Where the units of a label are that are whole runs; their numbers are those of runs. */
static inline int side_of_runs(const struct run_set *set, enum compare_side side)
{
	return set->is_windowed ? 2 + (int)side : (int)side;
}

#define KEY_BYTES_MAX 400 /* names are clipped */

/* The number of "kind name", made if it is new. 0 or -ENOMEM. */
int run_set_add_key(struct run_set *set, enum extra_kind kind, struct txtrace_string name, uint32_t *key);

/* The number of "kind name"; STRING_POOL_NONE: no run has it. */
uint32_t run_set_find_key(const struct run_set *set, enum extra_kind kind, struct txtrace_string name);
enum extra_kind run_set_key(const struct run_set *set, uint32_t key, struct txtrace_string *name);

double label_unit_extra(const struct label_unit *unit, uint32_t key); /* 0: none */

/*
 * Pairs the runs if both sides have as many, all are of one boot, and in the
 * order of their start each two neighbours (1st and 2nd, 3rd and 4th, …) are of
 * both sides. Runs are put in that order. 0 or -ENOMEM.
 */
int run_set_pair(struct run_set *set, bool is_forced);

#endif
