/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends log files to the tables of a fleet, each once.
 *
 *	shipper = shipper_new(server);
 *	err = shipper_send(shipper, path, &result, &error);     for each file that is finished
 *	err = shipper_note_removed(shipper, &removed_cnt, &error);
 *	shipper_free(shipper);
 *
 * A file is known by its capture and its part of it, not by its name. Its rows
 * carry the number of an attempt, the batch; the row of the table "files" that
 * names this batch comes last. Queries look at rows of such batches only, one
 * for each file. So an attempt that was cut off changes nothing, and neither
 * does sending a file again, or from two places at once. What is left on the
 * server of such attempts is of no use.
 */
#ifndef SHIPPER_H
#define SHIPPER_H

#include <stdbool.h>
#include <stdint.h>

#include "fleet/clickhouse.h"
#include "txtrace/log.h"

struct shipper;

struct shipper_result {
	bool was_there; /* the server has it already; nothing was sent */
	uint64_t span_cnt;
	uint64_t row_cnt;
	uint64_t damage_cnt; /* parts of the file that can't be read */
};

struct shipper *shipper_new(struct clickhouse *server); /* NULL: no memory */
void shipper_free(struct shipper *shipper);

/* see is called now and then while a file is read. */
void shipper_watch(struct shipper *shipper,
		   void (*see)(void *context, uint64_t read_bytes, uint64_t file_bytes), void *context);

/*
 * Sends the file, and returns when the server has all of it. Besides the errors
 * of clickhouse.h: -EBADMSG and others of txtrace_log_open(), -ENOENT: it is
 * gone, -E2BIG: see clickhouse.h. is_about_file says that the error is of this file, and
 * not of the server.
 */
int shipper_send(struct shipper *shipper, const char *path, struct shipper_result *result,
		 bool *is_about_file, struct error *error);

/*
 * To be called when all files that are there were sent: parts of a capture that
 * the server does not have, before one that it has, were removed unsent, or
 * can't be read. The server is told, so that each counts once; one that turns up
 * is still sent. *removed_cnt: how many were found; a thousand of a capture count.
 */
int shipper_note_removed(struct shipper *shipper, uint64_t *removed_cnt, struct error *error);

#endif
