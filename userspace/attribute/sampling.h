/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --sample, where the kernel side does not choose: of transactions one of so
 * many is written, whole. The choice is the same as the kernel side's
 * (bpf/span_filter.bpf.c): a root is chosen by its process and id, a keyed span
 * by its key, any other span by its parent, named or not. A child whose parent
 * is neither open nor among the last SAMPLING_ENDED_MAX that ended is left out.
 */
#ifndef SAMPLING_H
#define SAMPLING_H

#include "attribute/attribution_state.h"

#define SAMPLING_ENDED_MAX 65536

static inline bool sampling_is_on(const struct attribution *attribution)
{
	return attribution->filter.sample_rate > 1;
}

/*
 * Whether the span that begins is one to be written: called before it is open,
 * with its parent as find_parent() left it.
 */
bool sampling_wants(const struct attribution *attribution, const struct event *event,
		    const struct thread *thread);

/* Whether a span that is not open was written: it has ended not long ago. */
bool sampling_knows(const struct attribution *attribution, uint32_t tgid, uint64_t id);

/* The span ends. 0 or -ENOMEM. */
int sampling_end(struct attribution *attribution, const struct span *span);

void sampling_release(struct sampling *sampling);

#endif
