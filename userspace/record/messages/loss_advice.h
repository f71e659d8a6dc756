/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the user can do about events that were lost on their way out of the
 * kernel: that follows what lost them.
 */
#ifndef LOSS_ADVICE_H
#define LOSS_ADVICE_H

#include <stdint.h>

struct loss_causes {
	uint64_t lost_cnt;   /* all of them; those that are not named below found no room in a ring */
	uint64_t missed_cnt; /* the kernel did not run their program, see ring/loss_counters.h */
	/* begins that found no room in a table of the kernel side, see bpf/foreign.bpf.c */
	uint64_t full_cnt;
};

/* Those since an earlier moment. */
struct loss_causes loss_causes_since(const struct loss_causes *now, const struct loss_causes *before);

struct loss_advice {
	char text[384]; /* the end of a sentence */
};

/* Returns the text. */
const char *loss_advice_give(struct loss_advice *advice, const struct loss_causes *causes);

#endif
