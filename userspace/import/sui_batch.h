/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sui's transaction trace as bytes: batches in a file, records in a batch (BCS),
 * and the clock that the records move.
 *
 *	while ((result = sui_batch_next(source, &batch, &error)) != 0)
 *		if (result == 1 && sui_batch_check(&batch, clock, 4, &facts, &error) == 0) {
 *			struct sui_records records;
 *			struct sui_record record;
 *
 *			sui_records_init(&records, &batch);
 *			while (sui_records_next(&records, 4, &record, &error) == 1)
 *				use(&record);
 *		}
 */
#ifndef SUI_BATCH_H
#define SUI_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "import/import_source.h"
#include "log/format/sui_marks.h"

/* ---- batches of a file ---- */

/* All zero before the first of a file. */
struct sui_batch {
	uint64_t offset;      /* in the file, of the length in front */
	const uint8_t *bytes; /* the payload, until the next batch is asked for */
	size_t length;	      /* of what there is of it: after -EBADMSG perhaps less than the file says */

	/* private */
	size_t pending; /* bytes to go on behind */
};

/*
 * 1; 0: the end, after a batch; -EBADMSG: it can't be read, which *error says.
 * The call after that goes on behind it, and is at the end if nothing is there.
 * -ENOMEM.
 */
int sui_batch_next(struct import_source *source, struct sui_batch *batch, struct error *error);

/* ---- records of a batch ---- */

struct sui_record {
	enum sui_record_kind kind;
	uint64_t seconds;      /* ABSOLUTE, LARGE_DELTA */
	uint32_t nanos;	       /* likewise; may be a second and more */
	uint32_t delta_us;     /* DELTA */
	uint32_t type;	       /* EVENT */
	const uint8_t *digest; /* EVENT: SUI_DIGEST_BYTES, in the payload */
};

struct sui_records {
	const uint8_t *bytes;
	size_t length, at;
	uint32_t left;
	bool has_count;
};

void sui_records_init(struct sui_records *records, const struct sui_batch *batch);

/*
 * 1; 0: all were read, and no byte is left over; -EBADMSG: *error says what is
 * wrong, and where in the payload. Event types go from 0 to type_cnt - 1.
 */
int sui_records_next(struct sui_records *records, uint32_t type_cnt, struct sui_record *record,
		     struct error *error);

/* ---- time ---- */

/* The sum of the time records of a file so far; all zero before the first. */
struct sui_clock {
	bool is_known; /* there was an absolute time */
	uint64_t ns;   /* since the epoch */
};

/* false: the time is beyond the year 2262. Deltas before an absolute time move nothing. */
bool sui_clock_move(struct sui_clock *clock, const struct sui_record *record);

/* ---- a whole batch ---- */

struct sui_batch_facts {
	uint32_t event_cnt;    /* after -EBADMSG: those in front of what is wrong */
	uint32_t timeless_cnt; /* deltas and events before the first absolute time of the file */
	uint32_t type_max;     /* of the events; 0 also if there are none */
	uint64_t begin_ns; /* the first absolute time, or an earlier event; UINT64_MAX: there is neither */
	uint64_t end_ns;   /* of the latest event; begin_ns if there is none */
	bool is_regular;   /* Sui's writer would write these events so */
};

/* Whether all of it can be read. 0; -EBADMSG: *error says what is wrong. The clock: that before the batch. */
int sui_batch_check(const struct sui_batch *batch, struct sui_clock clock, uint32_t type_cnt,
		    struct sui_batch_facts *facts, struct error *error);

#endif
