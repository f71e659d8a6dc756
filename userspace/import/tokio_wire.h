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
	TOKIO_RECORD_EVENT = 0,	   /* `event`; `location` */
	TOKIO_RECORD_LOCATION = 1, /* number `location` is `text` */
	TOKIO_RECORD_NAME = 2,	   /* of a function or a thread; nothing of it is kept */
	TOKIO_RECORD_METADATA = 3, /* `pair_cnt` pairs follow: tokio_wire_skip_pair() */
	TOKIO_RECORD_PAIR = 4,	   /* TRC: of the metadata; nothing of it is kept */
	TOKIO_RECORD_CLOCK = 5,	   /* TRC: event.time_ns is `realtime_ns` of the wall clock */
};

struct tokio_bytes {
	const uint8_t *bytes;
	size_t length;
};

struct tokio_record {
	enum tokio_record_type type;
	struct tokio_event event; /* time_ns: of a clock that wraps after 2^32 µs; worker: not checked */
	uint32_t location;	  /* or TOKIO_NO_LOCATION */
	uint64_t realtime_ns;
	uint32_t pair_cnt;
	struct tokio_bytes text; /* lives until the next call */
};

/* NULL: these versions can be read; else why they can't, static. */
const char *tokio_wire_refusal(uint32_t version);

/*
 * 1; 0: the end, at the end of a record; -EBADMSG: the record at the source's
 * offset is cut off or of an unknown code, which *error says; -ENOMEM.
 */
int tokio_wire_next(struct import_source *source, uint32_t version, struct tokio_record *record,
		    struct error *error);

/* Goes behind one of the pairs of the metadata that came last. 0, or the same errors. */
int tokio_wire_skip_pair(struct import_source *source, struct error *error);

#endif
