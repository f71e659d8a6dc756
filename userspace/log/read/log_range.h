/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading what finished within a range of time; for the commands, and not part
 * of libtxtrace.
 */
#ifndef LOG_RANGE_H
#define LOG_RANGE_H

#include "txtrace/log.h"

/*
 * As txtrace_log_seek_time() to from_ns; and from there on, batches in which
 * nothing finished at to_ns or before are passed by their headers alone,
 * wherever they stand. to_ns 0: all batches are read. Records of the batches
 * that are read come all, also those outside of the range.
 */
int log_seek_range(struct txtrace_log *log, uint64_t from_ns, uint64_t to_ns);

#endif
