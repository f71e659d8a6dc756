/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of a Monad event ring, in the order of time, told as records of a log:
 * spans for blocks and transactions, instants for the rest. docs/formats.md,
 * "monad", has the mapping.
 */
#ifndef MONAD_STORY_H
#define MONAD_STORY_H

#include "base/id_map.h"
#include "import/import.h"

#define MONAD_PID 1 /* the format has no processes and no threads */
#define MONAD_TID_BLOCKS 1
#define MONAD_TID_TRANSACTIONS 2
#define MONAD_TID_RING 3

#define MONAD_OPEN_MAX 500000 /* transactions at once; of more, the oldest are given up */
#define MONAD_BLOCK_MAX 1024  /* the latest: events may refer to them when they have ended */
#define MONAD_ID_BYTES 32

/* Event types of the execution's content. */
enum monad_type {
	MONAD_RECORD_ERROR = 1, /* of any content */
	MONAD_BLOCK_START = 2,
	MONAD_BLOCK_REJECT = 3,
	MONAD_BLOCK_ENTER = 4,
	MONAD_BLOCK_EXIT = 5,
	MONAD_BLOCK_QC = 7,
	MONAD_BLOCK_FINALIZED = 8,
	MONAD_BLOCK_VERIFIED = 9,
	MONAD_TXN_HEADER_START = 10,
	MONAD_TXN_REJECT = 14,
	MONAD_TXN_ENTER = 15,
	MONAD_TXN_EXIT = 16,
	MONAD_TYPE_CNT = 25,
};

enum monad_event_kind {
	MONAD_IS_EVENT = 1,
	MONAD_IS_LOSS = 2,    /* since since_ns: events `number` to `last` */
	MONAD_IS_EXPIRED = 3, /* payloads of lost_cnt events since since_ns; the events are there */
};

struct monad_event {
	uint64_t time_ns;
	uint64_t number; /* of those of the same time, the lowest comes first */
	uint64_t last;
	uint64_t lost_cnt;
	uint64_t since_ns;
	uint64_t words[4];
	uint64_t value;		 /* block number; reason */
	char *payload;		 /* if all of it was wanted: whoever makes the event frees it */
	uint32_t payload_length; /* of what is there */
	uint32_t size;		 /* as the event says */
	uint16_t type;
	uint8_t kind; /* enum monad_event_kind */
	bool has_value;
	bool has_id;
	uint8_t id[MONAD_ID_BYTES]; /* of the block; hash of the transaction */
};

struct monad_block;
struct monad_transaction;

struct monad_story {
	struct import *import;
	bool is_execution; /* the content's names are known */
	bool has_begun;
	uint8_t told_threads;
	uint64_t last_ns;
	uint64_t span_cnt;	    /* ids that were given out */
	uint64_t loss_cnt;	    /* times that events were lost */
	struct monad_block *blocks; /* MONAD_BLOCK_MAX of them, a ring */
	uint64_t block_cnt;	    /* that there were */
	struct id_map transactions; /* open ones: (block's event, number + 1) -> struct monad_transaction */
	struct monad_transaction *oldest, *newest;

	uint64_t open_block_cnt;       /* at the end, or given up */
	uint64_t rejected_block_cnt;   /* of these, that were rejected */
	uint64_t open_transaction_cnt; /* at the end, or given up */
	uint64_t given_up_cnt;	       /* transactions, of these */
	uint64_t lone_exit_cnt;	       /* without a begin */
	uint64_t repeat_cnt;	       /* a second begin of what is open */
	uint64_t error_cnt;	       /* RECORD_ERROR */
};

/* 0 or -ENOMEM */
int monad_story_init(struct monad_story *story, struct import *import, bool is_execution);
void monad_story_release(struct monad_story *story);

/* 0, -ENOMEM, or what import_add() failed with. The first one begins the log. */
int monad_story_add(struct monad_story *story, const struct monad_event *event);

/* What is open is told as unfinished. */
int monad_story_finish(struct monad_story *story);

#endif
