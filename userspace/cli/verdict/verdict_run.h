/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What diff and check have in common: their options, reading logs into a
 * run_set, reading rules, writing the reports.
 */
#ifndef VERDICT_RUN_H
#define VERDICT_RUN_H

#include "analyze/compare/gate.h"
#include "cli/cli.h"
#include "cli/files/log_scope.h"
#include "cli/verdict/verdict_document.h"

#define GATES_MAX 16
#define WRITES_MAX 16

struct verdict_options {
	const char *gates[GATES_MAX];
	size_t gate_cnt;
	unsigned int format;
	const char *writes[WRITES_MAX]; /* FORMAT=FILE */
	size_t write_cnt;
	const char *page; /* a file for HTML; NULL: none */
	uint64_t limit;
	uint64_t max_memory_bytes;
	unsigned int nest; /* enum log_nest */
	uint64_t seed;
	double min_effect_percent;
	double false_alarms_percent;
	unsigned int pair; /* 0 auto, 1 always, 2 never */
	bool wants_schema;
	struct log_scope scope;
};

/* For struct option_spec: into struct verdict_options. */
int verdict_option_gate(void *values, const char *value, const char **complaint);
int verdict_option_write(void *values, const char *value, const char **complaint);
int verdict_option_min_effect(void *values, const char *value, const char **complaint);
int verdict_option_false_alarms(void *values, const char *value, const char **complaint);

/* What --json-schema prints. */
int verdict_print_schema(struct cli *cli);

/*
 * Rules: a text with <, = or > is rules, everything else is the name of a file
 * of them. CLI_OK, or CLI_FAILED and a sentence was said. rules are to be
 * released in both cases.
 */
int verdict_read_rules(struct cli *cli, const char *text, struct gate_rules *rules);

/*
 * Reads one run: a file or a directory, or several files as one.
 * *incomplete_cnt is increased if it is not all there. CLI_OK or CLI_FAILED, as
 * above.
 */
int verdict_read_run(struct cli *cli, struct run_set *set, enum compare_side side, char *const *paths,
		     int path_cnt, uint64_t max_memory_bytes, size_t *incomplete_cnt);

/* All reports. Returns the exit status. */
int verdict_write_reports(struct cli *cli, const struct verdict_options *options, struct verdict_view *view);

extern const char *const verdict_status_notes[]; /* for struct options */

#endif
