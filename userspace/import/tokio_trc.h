/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TRC version 1, today's format of Tokio's telemetry: frames that describe
 * themselves. What a frame is about is found out by the names in its schema;
 * those that are not known are skipped and counted.
 *
 *	struct tokio_trc *trc = tokio_trc_new(strings);
 *
 *	while ((result = tokio_trc_next(trc, source, &record, &error)) == 1)
 *		use(&record);
 */
#ifndef TOKIO_TRC_H
#define TOKIO_TRC_H

#include "base/string_pool.h"
#include "import/tokio_wire.h"

#define TOKIO_TRC_HEADER_BYTES 5
#define TOKIO_TRC_SCHEMA_MAX 4096	  /* of a stream */
#define TOKIO_TRC_FIELD_MAX 256		  /* of a schema */
#define TOKIO_TRC_POOL_MAX 1000000	  /* strings of a stream; more are not known */
#define TOKIO_TRC_STRINGS_MAX (64u << 20) /* bytes of all strings */
#define TOKIO_TRC_DEPTH_MAX 16		  /* lists in lists */

struct tokio_trc;

/* The bytes of a header. */
bool tokio_trc_is_header(const uint8_t *bytes, size_t length);

/* Texts of events are added to the pool, and are numbers of it. NULL: no memory. */
struct tokio_trc *tokio_trc_new(struct string_pool *strings);
void tokio_trc_free(struct tokio_trc *trc); /* NULL is allowed */

/* A header was read: nothing that came before holds any more. */
void tokio_trc_reset(struct tokio_trc *trc);

/*
 * As tokio_wire_next(), but that times are ns of CLOCK_MONOTONIC and location is
 * not used: event.name is a number of the pool. After -EBADMSG the offset of the
 * frame is tokio_trc_offset().
 */
int tokio_trc_next(struct tokio_trc *trc, struct import_source *source, struct tokio_record *record,
		   struct error *error);

uint64_t tokio_trc_offset(const struct tokio_trc *trc);	   /* of the frame that was read last */
uint64_t tokio_trc_other_cnt(const struct tokio_trc *trc); /* events of kinds that are not known */
uint64_t tokio_trc_field_cnt(const struct tokio_trc *trc); /* fields of spans that were left out */
uint64_t tokio_trc_text_cnt(const struct tokio_trc *trc);  /* texts that were cut off, or not kept */

#endif
