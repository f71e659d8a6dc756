/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions about the spans of a fleet, and their answers. Every function asks
 * the server once; errors are those of clickhouse.h. An answer owns its rows and
 * their strings, until it is released; all zero is an empty one.
 */
#ifndef FLEET_QUERY_H
#define FLEET_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/label/label_report.h"
#include "analyze/label/tail_report.h"
#include "fleet/clickhouse.h"

/* Which spans. NULL and 0: all. Patterns are those of base/glob.h. */
struct fleet_choice {
	const char *host;
	const char *capture;
	const char *container;
	const char *pod;
	const char *label;
	uint64_t since_s; /* which ended then or later, of the wall clock */
	uint64_t until_s; /* and before */
};

/* ---- report ---- */

struct fleet_report_row {
	struct txtrace_string name;
	uint64_t host_cnt;
	uint64_t min_ns, p50_ns, p90_ns, p99_ns, max_ns; /* of the wall time of exact spans */
	struct span_sums exact;
	struct span_sums lower_bounds;
};

struct fleet_report {
	struct text answer;
	struct fleet_report_row *rows; /* the most work first */
	size_t cnt;
	bool is_cut; /* there are more rows, which were not asked for */
};

/* What rows can be: "label", "host", …; NULL behind the last. */
const char *fleet_report_key(size_t index);

/* is_exact: quantiles are; else within about 1 %, in memory that does not follow the number of spans. */
int fleet_report_ask(struct fleet_report *report, struct clickhouse *server,
		     const struct fleet_choice *choice, size_t key, bool is_exact, struct error *error);
void fleet_report_release(struct fleet_report *report);

/* ---- tail ---- */

struct fleet_tail {
	struct text answer;
	struct label_row *labels;
	struct tail_row *rows; /* the most work first */
	size_t cnt;
};

int fleet_tail_ask(struct fleet_tail *tail, struct clickhouse *server, const struct fleet_choice *choice,
		   double fraction, bool is_exact, struct error *error);
void fleet_tail_release(struct fleet_tail *tail);

/* ---- spans ---- */

struct fleet_span {
	struct txtrace_string host;
	struct txtrace_string capture;
	struct txtrace_string container;
	struct txtrace_string pod;
	uint64_t unix_ns; /* when it ended */
	struct txtrace_span span;
};

struct fleet_spans {
	struct text answer;
	struct fleet_span *rows;
	size_t cnt;
};

/* sort: as span_top_sort() names them: those with the most come first. */
int fleet_spans_ask(struct fleet_spans *spans, struct clickhouse *server, const struct fleet_choice *choice,
		    size_t sort, uint64_t limit, struct error *error);
void fleet_spans_release(struct fleet_spans *spans);

/* ---- captures: of each label, for comparisons ---- */

struct fleet_capture_row {
	struct txtrace_string label;
	struct txtrace_string capture;
	uint64_t cnt;	  /* of exact spans */
	uint64_t wall_ns; /* their sum */
};

struct fleet_captures {
	struct text answer;
	struct fleet_capture_row *rows;
	size_t cnt;
};

int fleet_captures_ask(struct fleet_captures *captures, struct clickhouse *server,
		       const struct fleet_choice *choice, struct error *error);
void fleet_captures_release(struct fleet_captures *captures);

/* ---- what is missing ---- */

struct fleet_files {
	uint64_t file_cnt;    /* that are there as a whole */
	uint64_t removed_cnt; /* that were removed before they were sent */
	uint64_t damaged_cnt; /* that could not be read as a whole */
	uint64_t lost_cnt;    /* events that the recorders lost */
	uint64_t host_cnt;
	uint64_t span_cnt; /* as the files say; of the whole files that hold the choice */
};

/* Of the files of the chosen hosts, captures and times. */
int fleet_files_ask(struct fleet_files *files, struct clickhouse *server, const struct fleet_choice *choice,
		    struct error *error);

#endif
