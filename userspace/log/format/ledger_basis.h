/* SPDX-License-Identifier: BSD-2-Clause */
/* From what the writer takes the ledger of a span to follow: the waits of its thread, or the spans in it. */
#ifndef LEDGER_BASIS_H
#define LEDGER_BASIS_H

#include "log/format/log_model.h"

/*
 * Returns the SPAN_BASIS, and adds it to basis, which is all 0. parts: the
 * ledger; thread: that ended the span; cpu_cnt: among how many CPUs the one is
 * looked for that the thread is on.
 */
uint64_t ledger_basis_pick(struct model *model, uint32_t cpu_cnt, const struct txtrace_span *span,
			   const struct model_thread *thread, const uint64_t *parts, uint64_t *basis);

#endif
