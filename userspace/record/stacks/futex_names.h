/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a futex is called: the function that was the first to wait for it,
 * outside of the libraries that wait on behalf of others. Names are known when
 * the frames' are, so what is added waits for that.
 */
#ifndef FUTEX_NAMES_H
#define FUTEX_NAMES_H

#include "txtrace/event.h"
#include "record/stacks/code_stacks.h"
#include "record/stacks/frame_table.h"

struct futex_names;

struct futex_names *futex_names_new(const struct frame_table *frames); /* NULL: no memory */
void futex_names_free(struct futex_names *names); /* NULL is allowed */

/* The first wait for a futex, with its frames, the innermost first. 0 or -ENOMEM. */
int futex_names_add(struct futex_names *names, const struct wire_stack *stack, const uint32_t *frames,
		    size_t cnt);
void futex_names_forget(struct futex_names *names, uint32_t tgid); /* it has another program */

/*
 * Tells those whose frames have names now; all that wait, if it is the last
 * time. 0, or what the sink returned.
 */
int futex_names_tick(struct futex_names *names, uint64_t time_ns, bool is_last, code_stack_sink sink,
		     void *context);

/* Tells all once more. Likewise. */
int futex_names_tell(struct futex_names *names, uint64_t time_ns, code_stack_sink sink, void *context);

#endif
