/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A log on its way into another format.
 *
 *	struct exported exported = { .cli = cli };
 *
 *	status = exported_open(&exported, format, &parsed, true);
 *	err = export_input(&exported, format, file);
 *	status = exported_close(&exported);
 */
#ifndef LOG_EXPORT_H
#define LOG_EXPORT_H

#include "cli/files/log_input.h"
#include "export/export.h"

/* What is exported. A format that wants to see all spans first reads the same logs once more. */
struct exported {
	struct cli *cli;
	struct log_input input;
	struct log_input first; /* only with has_first */
	bool has_first;
};

/* CLI_OK, or another status: a sentence was said, and nothing is open. */
int exported_open(struct exported *exported, const struct export_format *format,
		  const struct options_result *parsed, bool wants_progress);
int exported_close(struct exported *exported); /* what the log deserves */

/*
 * Everything that can be read goes out. What the export itself failed with is in
 * the result. out: NULL where there is a directory.
 */
int export_records(struct exported *exported, struct export *export, FILE *out);
int export_input(struct exported *exported, const struct export_format *format, FILE *out);

#endif
