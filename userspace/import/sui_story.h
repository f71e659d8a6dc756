/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of Sui's transactions, in the order of time, told as records of a
 * log: a keyed span for each transaction, and children for its waits and its
 * executions. log/format/sui_marks.h says how an export finds the events again.
 */
#ifndef SUI_STORY_H
#define SUI_STORY_H

#include "base/key_map.h"
#include "import/import.h"
#include "import/sui_lanes.h"
#include "log/format/sui_marks.h"

#define SUI_OPEN_MAX 500000 /* transactions at once: 120 MB. Of more, the oldest are given up */

enum sui_event_kind {
	SUI_IS_BATCH = 1, /* one begins: `name` */
	SUI_IS_EVENT = 2, /* `stage`, `digest` */
	SUI_IS_FILE = 4,  /* one begins: `name`, of the lane of its first batch */
	SUI_IS_LOSS = 3,  /* at least lost_cnt events are missing since since_ns */
};

struct sui_event {
	uint64_t time_ns;
	uint64_t number; /* among those of the same time: the order of the file */
	uint8_t kind;	 /* enum sui_event_kind */
	uint8_t stage;	 /* enum sui_stage */
	uint16_t lane;	 /* its tid, as in sui_marks.h */
	uint8_t digest[SUI_DIGEST_BYTES];
	char *name; /* as in sui_marks.h; whoever makes the event frees it */
	uint64_t since_ns;
	uint64_t lost_cnt;
};

struct sui_transaction;

struct sui_story {
	struct import *import;
	struct sui_lanes *lanes; /* NULL: nothing is known of objects; set by whoever has them */
	bool has_objects;	 /* their thread was told */
	enum sui_stage first_stage;  /* of a transaction that is there from its beginning */
	struct key_map transactions; /* open ones: digest -> struct sui_transaction */
	struct sui_transaction *oldest, *newest;
	uint64_t span_cnt; /* ids that were given out */
	uint64_t last_ns;  /* the latest time */
	bool has_begun;
	uint16_t lane_cnt; /* that were told */
	uint64_t loss_cnt; /* times that events were lost */
	uint64_t executing_cnt;

	uint64_t execution_cnt;	      /* that completed */
	uint64_t brief_execution_cnt; /* of these, that took at most SUI_BRIEF_NS */
	uint64_t unfinished_cnt;      /* transactions */
	uint64_t begun_cnt;	      /* of these, that were executed */
	uint64_t lone_complete_cnt;   /* completes without a begin */
	uint64_t repeat_cnt;	      /* events of a stage that the transaction had reached before */
	uint64_t given_up_cnt;	      /* open transactions for which there was no room */
};

#define SUI_BRIEF_NS 3000 /* what mostly lies between enqueued and scheduled */

void sui_story_init(struct sui_story *story, struct import *import, enum sui_stage first_stage);
void sui_story_release(struct sui_story *story);

/* 0, -ENOMEM, or what import_add() failed with. The first one begins the log. */
int sui_story_add(struct sui_story *story, const struct sui_event *event);

/* What is open is told as unfinished. */
int sui_story_finish(struct sui_story *story);

#endif
