/* SPDX-License-Identifier: BSD-2-Clause */
/* What the user can do about events that were lost on their way out of the kernel: that follows what lost them. */
#ifndef LOSS_ADVICE_H
#define LOSS_ADVICE_H

#include <stdint.h>

struct loss_advice {
	char text[192]; /* the end of a sentence */
};

/*
 * lost_cnt: lost events; missed_cnt: of them those whose program the kernel did not run, see ring/loss_counters.h. The others found no room. Returns the text.
 */
const char *loss_advice_give(struct loss_advice *advice, uint64_t lost_cnt, uint64_t missed_cnt);

#endif
