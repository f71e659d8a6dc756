/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Long waits of spans, told when the thread is woken, which is before its span
 * can end. Memory follows the live threads, up to 131,072 of them: then all are
 * forgotten, and waits that had begun are not told.
 */
#ifndef OTLP_BLOCKS_H
#define OTLP_BLOCKS_H

#include <stdbool.h>

#include "analyze/fd_names.h"
#include "base/key_map.h"
#include "base/text.h"
#include "txtrace/log.h"

#define OTLP_BLOCK_MIN_NS 1000000u /* shorter ones are in the sums alone */

struct otlp_block {
	uint64_t begin_ns;
	uint64_t duration_ns; /* until the wakeup */
	const char *reason;
	const char *object; /* "": not known. Until the next call */
	const char *waker;
};

struct otlp_blocks {
	struct key_map runs; /* by pid and tid: where the thread's last RUN ended, and why */
	struct fd_names names;
	struct text object;
	struct text waker;
};

int otlp_blocks_init(struct otlp_blocks *blocks); /* 0 or -ENOMEM */
void otlp_blocks_release(struct otlp_blocks *blocks);

/* 0 or -ENOMEM */
int otlp_blocks_run(struct otlp_blocks *blocks, const struct txtrace_run *run);
int otlp_blocks_object(struct otlp_blocks *blocks, const struct txtrace_object *object);

/* 1: *block is what it ended, and a long one; 0: none; -ENOMEM. */
int otlp_blocks_wake(struct otlp_blocks *blocks, const struct txtrace_wake *wake, struct otlp_block *block);

#endif
