/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records of TOKIOTRC files, versions 4 to 6, 8, 9 and 13 to 18, as they
 * come: nothing is unwrapped or sorted here.
 */
#ifndef TOKIO_WIRE_H
#define TOKIO_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "import/import_source.h"
#include "import/tokio_event.h"

#define TOKIO_HEADER_BYTES 12
#define TOKIO_NO_LOCATION 0x10000u /* no number of 16 bits */

enum tokio_record_type {
	TOKIO_RECORD_EVENT = 0,	   /* `event`; `location`; SAMPLE: `texts[0]` has the addresses */
	TOKIO_RECORD_LOCATION = 1, /* number `location` is `texts[0]` */
	/* `address` is in the function `texts[0]`, at `texts[1]`; TRC: in the function event.name */
	TOKIO_RECORD_FRAME = 2,
	TOKIO_RECORD_THREAD_NAME = 3, /* event.tid is called `texts[0]` */
	TOKIO_RECORD_METADATA = 4,    /* `pair_cnt` pairs follow: tokio_wire_next_pair() */
	TOKIO_RECORD_PAIR = 5,	      /* `texts[0]` is `texts[1]` */
	TOKIO_RECORD_CLOCK = 6,	      /* TRC: event.time_ns is `address` ns of the wall clock */
};

struct tokio_bytes {
	const uint8_t *bytes;
	size_t length;
};

struct tokio_record {
	enum tokio_record_type type;
	struct tokio_event event; /* time_ns: of a clock that wraps after 2^32 µs; worker: not checked */
	uint32_t location;	  /* or TOKIO_NO_LOCATION */
	uint64_t address;
	uint32_t pair_cnt;
	struct tokio_bytes texts[2]; /* live until the next call */
};

/* NULL: these versions can be read; else why they can't, static. */
const char *tokio_wire_refusal(uint32_t version);

/*
 * 1; 0: the end, at the end of a record; -EBADMSG: the record at the source's
 * offset is cut off or of an unknown code, which *error says; -ENOMEM.
 */
int tokio_wire_next(struct import_source *source, uint32_t version, struct tokio_record *record,
		    struct error *error);

/* One of the pairs of the metadata that came last; the same results, but 0. */
int tokio_wire_next_pair(struct import_source *source, struct tokio_record *record, struct error *error);

#endif
