/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is in a log: counts of each kind, the time that it covers, what was lost
 * and damaged, and whether it is all there.
 */
#ifndef LOG_CENSUS_H
#define LOG_CENSUS_H

#include <stdbool.h>
#include <stdint.h>

#include "log/format/record_table.h"
#include "txtrace/log.h"

/* All zero before the first record. Sums saturate: hostile logs may hold any numbers. */
struct log_census {
	/* indexed by enum txtrace_record_kind; [0]: kinds that we do not know */
	uint64_t record_cnt[TXTRACE_RECORD_KIND_COUNT];
	uint64_t first_ns; /* of all times in the records; both 0 if there are none */
	uint64_t last_ns;
	bool has_time;

	/* Of the spans. */
	uint64_t lower_bound_cnt;
	uint64_t unfinished_cnt;
	uint64_t touched_by_loss_cnt;
	uint64_t keyed_cnt;
	uint64_t moved_cnt;
	/* no lower bound, and the ledger does not add up to work: a bug of txtrace */
	uint64_t unbalanced_cnt;

	/* What the loss records say. */
	uint64_t lost_span_event_cnt;
	uint64_t lost_sched_event_cnt;
	uint64_t first_lost_ns;
	uint64_t last_lost_ns;

	/* What the records of what was dropped say. */
	uint64_t dropped_span_cnt;
	uint64_t dropped_record_cnt; /* of all kinds */
	uint64_t first_dropped_ns;
	uint64_t last_dropped_ns;

	/* What the damage records say. */
	uint64_t damaged_bytes;
	uint64_t damaged_record_cnt; /* as far as it is known */

	/*
	 * Why flight recorders wrote what is read: the last trigger. Its strings are cut off and stand below.
	 */
	struct txtrace_trigger trigger;
	char trigger_rule[256], trigger_label[256];

	bool is_range;     /* set by its owner: of a range of time, to which the summary does not keep */
	bool is_continued; /* the capture goes on in a file that is not read */
	bool has_summary;
	struct txtrace_summary summary; /* the last one, and those of the captures before */

	/* Of the captures before this one, if there are several. */
	uint64_t earlier_capture_cnt;
	uint64_t unclosed_capture_cnt; /* without a summary */
	struct txtrace_summary earlier_summary;
};

/* What comes now is of another capture. */
void log_census_begin_capture(struct log_census *census);

void log_census_add(struct log_census *census, const struct txtrace_record *record);

/*
 * The recorder closed it, or went on with the next file, and nothing in it is
 * damaged. What was dropped is missing, but never was in it.
 */
bool log_census_is_complete(const struct log_census *census);

/* What the recorder says it lost, or what the loss records say, if that is more (a log without a summary). */
uint64_t log_census_lost_cnt(const struct log_census *census);

/* sent = received + lost: false is a bug of txtrace, or a forged log. true without a summary. */
bool log_census_is_balanced(const struct log_census *census);

#endif
