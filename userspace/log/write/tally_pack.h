/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The records that count something of the capture: their fields need no model
 * of what came before. What is in a dictionary is record_pack.c's.
 */
#ifndef TALLY_PACK_H
#define TALLY_PACK_H

#include <stdint.h>

#include "txtrace/log.h"

/*
 * LOSS, SUMMARY, DROPPED, CONTINUED, COST (all but its event): fills the fields
 * behind the time. Other kinds are left alone.
 */
void tally_pack(const struct txtrace_record *record, uint64_t *fields);

#endif
