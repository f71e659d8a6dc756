/* SPDX-License-Identifier: BSD-2-Clause */
/* The moment at which a record was finished: its place in the log. */
#ifndef RECORD_TIME_H
#define RECORD_TIME_H

#include "txtrace/log.h"

uint64_t record_time_ns(const struct txtrace_record *record); /* 0: of a kind that no file holds */

#endif
