/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the tables get their records: a log that can be opened again and again,
 * as a query may scan it several times, also at once. Whoever implements it
 * says what is wrong with the log.
 */
#ifndef SQL_SOURCE_H
#define SQL_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "txtrace/log.h"

struct sql_reader {
	struct txtrace_record record; /* that was read last; strings live until the next one */
	struct txtrace_log *log;
	const struct txtrace_log_info *info; /* of the file that is read */
	bool has_begun_capture;		     /* by this record: it is of another capture than those before */
};

struct sql_source {
	void *context;
	uint64_t total_bytes;
	bool is_one_capture; /* else all is to be read, to number the captures */

	/*
	 * At least what finished from from_ns to to_ns: what else is in the same batches comes, too. to_ns 0:
	 * to the end. 0, or a negative errno and a sentence was said.
	 */
	int (*open)(void *context, uint64_t from_ns, uint64_t to_ns, struct sql_reader **reader);
	bool (*next)(struct sql_reader *reader);  /* false: the end, or an error, which close() tells */
	void (*close)(struct sql_reader *reader); /* NULL is allowed */

	/* Somebody wants the query to end. NULL: nobody can. */
	bool (*is_stopped)(void *context);
};

#endif
