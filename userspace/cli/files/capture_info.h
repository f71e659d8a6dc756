/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a log says of its capture as a whole: who, where, when, and what was
 * lost. Shared by report, spans and info.
 */
#ifndef CAPTURE_INFO_H
#define CAPTURE_INFO_H

#include "analyze/log_census.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "txtrace/log.h"

/* "2025-11-21 11:40:03.123 UTC": the wall clock at a monotonic time. */
void capture_append_time(struct text *text, const struct txtrace_log_info *info, uint64_t monotonic_ns);

/*
 * "; no timeline (--sched ledger); 1 of 100 transactions": what the capture was
 * told to leave out; nothing if it has all.
 */
void capture_append_scope(struct text *text, const struct txtrace_log_info *info);

/* What to say where there are no waits: the sentence, or that the log cannot have any. Static. */
const char *capture_no_waits(const struct txtrace_log_info *info, const char *sentence);

/* "bank (pid 42) on host, Linux 6.18 x86_64; 2025-11-21 11:40:03 UTC, 5.00 s" */
void capture_append_title(struct text *text, const struct txtrace_log_info *info,
			  const struct log_census *census);

/* "at least 12 records", "an unknown number of records": what the damaged parts held. */
void capture_append_missing(struct text *text, const struct log_census *census);

/* Rows of a table of two columns (name, what): events and losses, anomalies, damage. "0 lost" is said. */
void capture_add_losses(struct table *table, const struct log_census *census);

/*
 * The object that a command prints for machines: type and "capture" first;
 * "complete", "range", "losses", "anomalies" and "damage" last. What it found
 * goes between.
 */
void capture_json_begin(struct json *json, const char *type, const struct txtrace_log_info *info);
void capture_json_end(struct json *json, const struct log_census *census);

/* A member of the object that is open. */
void capture_json(struct json *json, const struct txtrace_log_info *info); /* "capture":{…} */

#endif
