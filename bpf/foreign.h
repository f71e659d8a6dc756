/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The way from probes of others to span events: what span.bpf.c does for a mark
 * of the program's, for spans whose ids are made here. Global functions, so
 * that the verifier looks at each of them once, however often and in whatever
 * loops they are called. They do nothing if the thread is not traced. Labels as
 * in txtrace/foreign.h.
 */
#ifndef FOREIGN_H
#define FOREIGN_H

#include "vmlinux.h"

int foreign_is_traced(void); /* whether the current thread is: adopts it, as a mark would */
int foreign_begin(uint64_t id, uint64_t label, uint64_t parent);
int foreign_end(uint64_t id);
int foreign_abandon(uint64_t id); /* it is over, and nobody saw when */
int foreign_key_begin(uint64_t key, uint64_t length, uint64_t label);
int foreign_key_end(uint64_t key, uint64_t length);

#endif
