/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs of --irq (bpf/interrupt.bpf.c): which of them this kernel has
 * tracepoints for. They come in pairs, an entry and an exit. What a kernel has
 * no tracepoint for stays in the threads' time on a CPU.
 */
#ifndef INTERRUPT_PROGRAMS_H
#define INTERRUPT_PROGRAMS_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "record/kernel/loaded_programs.h"

#define INTERRUPT_PROGRAM_MAX 32

/*
 * Before the object is loaded: those that are to be. types: all of the
 * kernel's; may be NULL. 0, or a negative errno and a sentence where there is
 * none at all.
 */
int interrupt_programs_choose(struct bpf_object *object, const struct btf *types, struct error *error);

/*
 * Attaches those that were loaded; an exit before its entry, so that no entry
 * is left open. links: room for INTERRUPT_PROGRAM_MAX, *cnt of them are then
 * the caller's to destroy, also after a failure.
 */
int interrupt_programs_attach(const struct loaded_programs *loaded, struct bpf_link **links, size_t *cnt,
			      struct error *error);

#endif
